//! What an agent tells in its user's name, and no user has said: agents record so what they have to tell their model. And what they
//! write into their own words when they tell them again.

use crate::rpc::{Object, text};

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// A summary of what was said before.
    Summary,
    /// A summary of what was said before, which is shown as what the agent has in mind.
    Snapshot,
    /// Something about the turn that it stands in.
    OfTurn,
    /// That this turn was stopped there: nobody is shown it, and where it stands the turn is over.
    Stopped,
    /// Something that nobody is shown.
    Hidden,
}

/// What a message says.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Just this.
    Whole(&'static str),
    /// It begins so.
    Begins(&'static str),
    /// It begins and ends so.
    Between(&'static str, &'static str),
    /// It begins and ends so, and has this between, in this order.
    InOrder(&'static str, &'static [&'static str], &'static str),
    /// A model is asked to choose between branches.
    Choice,
    /// Nothing but such marks with a name in them, up to `]`, and what tells of a file beside it.
    Marks(&'static str),
    /// A summary that is handed on, and nothing behind it.
    HandedOn,
}

use Form::{Begins, Between, Choice, HandedOn, InOrder, Marks, Whole};

/// What is known, by agent.
#[rustfmt::skip]
const FORMS: &[(Form, Remark)] = &[
    // Claude Code: a turn was interrupted.
    (Whole("[Request interrupted by user]"), Remark::Stopped),
    (Whole("[Request interrupted by user for tool use]"), Remark::Stopped),
    // What a command has printed, and what comes before that.
    (Between("<local-command-stdout>", "</local-command-stdout>"), Remark::OfTurn),
    (Between("<local-command-stderr>", "</local-command-stderr>"), Remark::OfTurn),
    (Between("<local-command-caveat>", "</local-command-caveat>"), Remark::OfTurn),
    // What a command has printed that was given to the shell.
    (InOrder("<bash-stdout>", &["</bash-stdout><bash-stderr>"], "</bash-stderr>"), Remark::OfTurn),
    // What stands for all that was said before, once that was compacted.
    (Begins("This session is being continued from a previous conversation that ran out of context"), Remark::Summary),
    // Cline: its model has called the same over and over, or has made too many mistakes.
    (InOrder("Detected ", &[" consecutive identical calls to `"], "`; consider trying a different approach."), Remark::Hidden),
    (InOrder("Stopped after ", &["/", " consecutive mistakes (", ") at iteration "], "Session state was preserved. Send a new prompt to resume from the latest state."), Remark::Stopped),
    (Begins("mistake_limit_reached: "), Remark::Hidden),
    // Kimi CLI: its model is to say how a flow goes on.
    (Choice, Remark::Hidden),
    // Gemini CLI: what it has its model know, and what its tools have given.
    (Between("<session_context>", "</session_context>"), Remark::Hidden),
    (Between(HOOK.0, HOOK.1), Remark::Hidden),
    (Marks("[Function Response: "), Remark::Hidden),
    // It has its model go on.
    (Whole("System: Please continue."), Remark::Hidden),
    (Between("System: Potential loop detected. Details: ", "Avoid repeating the same tool calls or responses without new results."), Remark::Hidden),
    // What stands for all that was said before, once that was compressed.
    (Begins("<state_snapshot>"), Remark::Snapshot),
    (Between("<scratchpad>", "</state_snapshot>"), Remark::Snapshot),
    // Hermes: the same.
    (HandedOn, Remark::Snapshot),
];

/// How a summary begins that Hermes hands on, what of that is written alike in any JSON, and how the line begins and ends behind which
/// it has what was said next, in the same message.
const HANDED_ON: &str = "[CONTEXT COMPACTION — REFERENCE ONLY]";
const HANDED_ON_SIGN: &str = "[CONTEXT COMPACTION ";
const HANDED_ON_END: (&str, &str) = ("--- END OF CONTEXT SUMMARY ", "---");

/// What a user may say as well: it is no remark but in the midst of an answer. Gemini CLI has its model go on, and Codex has it do
/// what was planned.
const IN_ANSWERS: [&str; 2] = ["Please continue.", "Implement the approved plan."];

/// How Kimi CLI asks its model which branch of a flow is next, what it lists before that, and how it asks again.
const CHOOSE: &str = "Reply with a choice using <choice>...</choice>.";
const BRANCHES: &str = "Available branches:\n";
const CHOOSE_AGAIN: &str =
    "Your last response did not include a valid choice. Reply with one of the choices using <choice>...</choice>.";

/// What stands around what was given to the shell, as Claude Code tells it.
const SHELL: (&str, &str) = ("<bash-input>", "</bash-input>");

/// What Gemini CLI has its model say to a summary.
const TAKEN: &str = "Got it. Thanks for the additional context!";
/// What it has its model say where that has not answered what a tool gave.
const INTERRUPTED: &str = "[The previous response was interrupted before it completed.]";
/// What Claude Code has its model say where a session that is opened again ends with something of the user's.
const NO_RESPONSE: &str = "No response requested.";
/// What a hook has it tell its model behind a prompt.
const HOOK: (&str, &str) = ("<hook_context>", "</hook_context>");
/// What it tells before its model's words of a thought, and behind them of a call.
const THOUGHT: &str = "[Thought: true]";
const CALL: &str = "[Function Call: ";
/// What it tells of a file.
const FILES: [&str; 4] = ["[Image: ", "[Audio: ", "[Video: ", "[Media: "];

impl Remark {
    /// What a content block (JSON) is that is told as a user's, unless a user may have said it.
    pub fn of(block: &str) -> Option<Self> {
        // Most blocks are none, and some are long.
        if !FORMS.iter().any(|(form, _)| block.contains(form.sign())) {
            return None;
        }
        let text = Object::parse_or_empty(block).get("text").and_then(text)?;
        FORMS.iter().find(|(form, _)| form.is_of(text.trim())).map(|(_, remark)| *remark)
    }

    /// Whether a content block (JSON) that is told as a user's is one that nobody is shown as such.
    pub fn is_hidden(block: &str) -> bool {
        matches!(Self::of(block), Some(Self::Hidden | Self::Snapshot | Self::Stopped))
    }
}

/// Whether this is none of the user's words where it stands in the midst of an answer.
pub fn is_in_answers(text: &str) -> bool {
    IN_ANSWERS.contains(&text.trim())
}

/// Whether the text in this JSON may be what [`typed_in_shell`] knows. Most are not, and some are long.
pub fn may_be_for_shell(json: &str) -> bool {
    json.contains(SHELL.0)
}

/// What the user has typed, where this is all that is told of it: Claude Code tells what it gave to the shell between tags.
pub fn typed_in_shell(text: &str) -> Option<String> {
    let typed = text.trim().strip_prefix(SHELL.0)?.strip_suffix(SHELL.1)?;
    (!typed.contains(SHELL.0) && !typed.contains(SHELL.1)).then(|| format!("! {}", typed.trim()))
}

/// Whether an agent says this to a summary.
pub fn takes_summary(text: &str) -> bool {
    text.trim() == TAKEN
}

/// How much of this the user has said, where a hook has something told behind it.
pub fn before_hook(text: &str) -> Option<&str> {
    let (prompt, _) = text.trim_end().strip_suffix(HOOK.1)?.rsplit_once(HOOK.0)?;
    Some(prompt).filter(|prompt| !prompt.trim().is_empty())
}

/// Whether [`handed_on`] may know the text in this JSON. Most are not such, and some are long.
pub fn may_be_handed_on(json: &str) -> bool {
    json.contains(HANDED_ON_SIGN)
}

/// A summary of what was said before, as Hermes hands it on, and what was said behind it in the same message, which may be nothing.
pub fn handed_on(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let (begins, ends) = HANDED_ON_END;
    let is_end = |line: &str| line.strip_prefix(begins).is_some_and(|rest| rest.trim_end().ends_with(ends));
    text.strip_prefix(HANDED_ON)?;
    let lines = text.match_indices(begins).filter(|(at, _)| text[..*at].ends_with('\n'));
    let mut ended = lines.map(|(at, _)| (at, text[at..].find('\n').map_or(text.len(), |length| at + length)));
    let (summary, behind) =
        ended.find(|(at, end)| is_end(&text[*at..*end])).map_or((text, ""), |(_, end)| text.split_at(end));
    Some((summary, behind.trim_start()))
}

/// Whether [`without_marks`] may leave less of the text in this JSON. Most updates have none.
pub fn may_have_marks(json: &str) -> bool {
    [THOUGHT, CALL, INTERRUPTED, NO_RESPONSE].iter().any(|mark| json.contains(mark))
}

/// An agent's words, without what it writes among them when it tells them again.
pub fn without_marks(text: &str) -> &str {
    let Some((first, last)) = text.trim_start().chars().next().zip(text.trim_end().chars().next_back()) else {
        return text;
    };
    if text.trim() == NO_RESPONSE {
        return "";
    }
    if first != '[' && last != ']' {
        return text;
    }
    if text.trim() == INTERRUPTED {
        return "";
    }
    let mut words = text;
    while let Some(rest) = words.trim_start().strip_prefix(THOUGHT) {
        words = rest;
    }
    while let Some((rest, name)) = words.trim_end().strip_suffix(']').and_then(|words| words.rsplit_once(CALL))
        && is_name(name)
    {
        words = rest;
    }
    words
}

impl Form {
    /// What a block (JSON) has of it.
    fn sign(self) -> &'static str {
        match self {
            Whole(sign) | Begins(sign) | Between(sign, _) | Marks(sign) | InOrder(_, _, sign) => sign,
            Choice => "<choice>...</choice>.",
            HandedOn => HANDED_ON_SIGN,
        }
    }

    fn is_of(self, text: &str) -> bool {
        match self {
            Whole(whole) => text == whole,
            Begins(begins) => text.starts_with(begins),
            Between(begins, ends) => text.strip_prefix(begins).is_some_and(|rest| rest.ends_with(ends)),
            InOrder(begins, between, ends) => {
                let inner = text.strip_prefix(begins).and_then(|rest| rest.strip_suffix(ends));
                inner.is_some_and(|inner| {
                    let behind = between.iter().try_fold(inner, |rest, part| Some(rest.split_once(part)?.1));
                    behind.is_some()
                })
            }
            Choice => is_choice(text),
            HandedOn => handed_on(text).is_some_and(|(_, behind)| behind.is_empty()),
            Marks(begins) => text.starts_with(begins) && is_marks(text, begins),
        }
    }
}

/// Whether a model is asked to choose: behind all else it is told the branches, and how to choose one.
fn is_choice(text: &str) -> bool {
    let again = text.strip_suffix(CHOOSE_AGAIN).and_then(|text| text.strip_suffix("\n\n"));
    let asked = again.unwrap_or(text).strip_suffix(CHOOSE).and_then(|text| text.strip_suffix("\n\n"));
    let branches = asked.and_then(|asked| asked.rsplit_once(BRANCHES)).map(|(_, branches)| branches);
    branches.is_some_and(|branches| branches.lines().all(|branch| branch.starts_with("- ")))
}

/// Whether it is nothing but such marks, with a name or what tells of a file.
fn is_marks(text: &str, begins: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let Some((mark, behind)) = rest.split_once(']') else { return false };
        let is_file = |begins: &&str| mark.strip_prefix(*begins).is_some_and(|file| file.ends_with(" KB"));
        if !mark.strip_prefix(begins).is_some_and(is_name) && !FILES.iter().any(is_file) {
            return false;
        }
        rest = behind;
    }
    true
}

/// Whether a tool may be called so.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || "_-.:".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_all_that_a_block_says() {
        for (text, remark) in [
            ("[Request interrupted by user]", Some(Remark::Stopped)),
            ("[Request interrupted by user for tool use]\n", Some(Remark::Stopped)),
            ("Why does it say [Request interrupted by user]?", None),
            ("[Request interrupted by user] Why?", None),
            ("<local-command-stdout></local-command-stdout>", Some(Remark::OfTurn)),
            ("<local-command-stderr>Error</local-command-stderr>", Some(Remark::OfTurn)),
            ("<local-command-stdout>What is that?", None),
            (
                "This session is being continued from a previous conversation that ran out of context. The summary below ...",
                Some(Remark::Summary),
            ),
            ("\"This session is being continued from a previous conversation that ran out of context\"?", None),
            ("<session_context>\nThis is the Gemini CLI.\n</session_context>", Some(Remark::Hidden)),
            ("<session_context>\nThis is the Gemini CLI.\n</session_context>\nWhat is that?", None),
            ("What is <session_context></session_context>", None),
            ("<hook_context>It rains.</hook_context>", Some(Remark::Hidden)),
            ("[Function Response: read_file]", Some(Remark::Hidden)),
            ("[Function Response: mcp_a-b.c][Function Response: read_file]", Some(Remark::Hidden)),
            ("[Function Response: read_file][Image: image/png, 12.3 KB]", Some(Remark::Hidden)),
            ("[Image: image/png, 12.3 KB]", None),
            ("[Function Response: read_file] What is that?", None),
            ("[Function Response: what is that?]", None),
            ("[Function Response: ]", None),
            ("[Function Response: read_file", None),
            ("System: Please continue.", Some(Remark::Hidden)),
            ("System: Please continue. Or not.", None),
            ("Please continue.", None),
            (
                "System: Potential loop detected. Details: x. Please take a step back. Avoid repeating the same tool calls or \
                 responses without new results.",
                Some(Remark::Hidden),
            ),
            ("System: Potential loop detected. Details: what is that?", None),
            ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", Some(Remark::OfTurn)),
            ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr> What is that?", None),
            ("<bash-stdout>a</bash-stderr>", None),
            (
                "Detected 3 consecutive identical calls to `read`; consider trying a different approach.",
                Some(Remark::Hidden),
            ),
            ("Detected a leak in `read`; consider trying a different approach.", None),
            ("Detected 3 consecutive identical calls to `read`; what is that?", None),
            (
                "Stopped after 6/6 consecutive mistakes (api_error) at iteration 7. Session state was preserved. Send a new \
                 prompt to resume from the latest state.",
                Some(Remark::Stopped),
            ),
            ("Stopped after 6/6 consecutive mistakes (api_error) at iteration 7.", None),
            ("mistake_limit_reached: do it otherwise", Some(Remark::Hidden)),
            ("What is mistake_limit_reached: ?", None),
            (
                "Well?\n\nAvailable branches:\n- YES\n- NO\n\nReply with a choice using <choice>...</choice>.",
                Some(Remark::Hidden),
            ),
            (
                "Available branches:\n- NO\n\nReply with a choice using <choice>...</choice>.\n\nYour last response did not \
                 include a valid choice. Reply with one of the choices using <choice>...</choice>.",
                Some(Remark::Hidden),
            ),
            ("Reply with a choice using <choice>...</choice>.", None),
            ("Available branches:\n- YES\nwhat?\n\nReply with a choice using <choice>...</choice>.", None),
            ("Available branches:\n- YES\n\nReply with a choice using <choice>...</choice>. Why?", None),
            ("<state_snapshot>\n    <overall_goal>...", Some(Remark::Snapshot)),
            ("<scratchpad>...</scratchpad>\n<state_snapshot>...</state_snapshot>", Some(Remark::Snapshot)),
            ("What is <state_snapshot>?", None),
            ("Hello", None),
            ("", None),
        ] {
            let block = serde_json::json!({"type": "text", "text": text}).to_string();
            assert_eq!(Remark::of(&block), remark, "{text}");
        }
        assert_eq!(Remark::of("[Request interrupted by user]"), None, "it is no block");
    }

    #[test]
    fn what_a_hook_tells_stands_behind_a_prompt() {
        for (text, prompt) in [
            ("Go on.<hook_context>It rains.</hook_context>", Some("Go on.")),
            ("What is <hook_context>?<hook_context>It rains.</hook_context>\n", Some("What is <hook_context>?")),
            ("<hook_context>It rains.</hook_context>", None),
            ("<hook_context>It rains.</hook_context> Go on.", None),
            ("Go on.</hook_context>", None),
            ("Go on.", None),
        ] {
            assert_eq!(before_hook(text), prompt, "{text}");
        }
    }

    #[test]
    fn an_agents_words_are_told_without_marks_at_their_ends() {
        for (text, words) in [
            ("[Thought: true]Well.", "Well."),
            ("[Thought: true][Thought: true]Well.[Function Call: glob][Function Call: mcp_a-b]", "Well."),
            ("[Thought: true]", ""),
            ("[Function Call: glob]", ""),
            ("[The previous response was interrupted before it completed.]", ""),
            ("It said [Thought: true] there.", "It said [Thought: true] there."),
            ("[Function Call: glob] is a mark.", "[Function Call: glob] is a mark."),
            ("It is a mark: [Function Call: a name]", "It is a mark: [Function Call: a name]"),
            (" [x] ", " [x] "),
            ("", ""),
        ] {
            assert_eq!(without_marks(text), words, "{text}");
        }
    }

    #[test]
    fn a_summary_that_is_handed_on_ends_before_what_is_said_behind_it() {
        let summary = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier.\n\n## Goal\nAll.";
        let end = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";
        for (text, behind) in [
            (summary.to_owned(), Some("")),
            (format!("{summary}\n\n{end}\n"), Some("")),
            (format!("{summary}\n\n{end}\n\nGo on ---\nnow"), Some("Go on ---\nnow")),
            (format!("{summary} {end}\n\nGo on"), Some("")),
            (format!("{summary}\n--- END OF CONTEXT SUMMARY and more\n{end}\nGo"), Some("Go")),
            (format!("What is {summary}?"), None),
            ("[CONTEXT COMPACTION]".to_owned(), None),
        ] {
            assert_eq!(handed_on(&text).map(|(_, behind)| behind), behind, "{text}");
            let block = serde_json::json!({"type": "text", "text": text}).to_string();
            assert_eq!(Remark::of(&block), behind.filter(|behind| behind.is_empty()).map(|_| Remark::Snapshot));
        }
    }
}
