//! What Claude Code tells in its user's name: that a turn was interrupted, which command was called and what it has printed, and the
//! summary that stands for what was said before a compaction, which clients that can show a compaction are told as one. And what Cline
//! and Kimi CLI tell their models so in the midst of a turn, what Hermes has between a prompt that was cancelled and the next one, and the
//! directory before a prompt of `OpenClaw`'s. Nothing of the conversation is lost or doubled for that.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, ask_load, ask_prompt, leave, listing, load_told, mark, row, says, told_all, words};

/// Later than anything that is said here.
const LATER: &str = "2025-10-10T00:00:00Z";
const INTERRUPTED: &str = "[Request interrupted by user]";
const INTERRUPTED_AT_TOOL: &str = "[Request interrupted by user for tool use]";
const SUMMARY: &str = "This session is being continued from a previous conversation that ran out of context. The summary \
                       below covers the earlier portion of the conversation.\n\nAnalysis: ...";
/// The same as a user brings it along, from another session.
const BROUGHT: &str = "This session is being continued from a previous conversation that ran out of context. The summary: we \
                       built a parser.";
/// What Claude Code has its model say as it opens a session again whose last turn was interrupted.
const NO_RESPONSE: &str = "No response requested.";
const COMPACT: &str = "<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            \
                       <command-args></command-args>";
const PRINTED: &str = "<local-command-stdout>Compacted (ctrl+o to see full summary)</local-command-stdout>";
const SHELL: &str = "<bash-input>git status</bash-input>";
const SHELL_PRINTED: &str = "<bash-stdout>On branch main</bash-stdout><bash-stderr></bash-stderr>";
const REPEATED: &str =
    "Detected 3 consecutive identical calls to `run_commands`; consider trying a different approach.";
const STOPPED: &str = "Stopped after 6/6 consecutive mistakes (tool_execution_failed) at iteration 7. Error: 1 tool call(s) failed: \
                       [run_commands] no Decision: maximum consecutive mistakes reached (6) Session state was preserved. Send a new \
                       prompt to resume from the latest state.";
const RETRY: &str = "mistake_limit_reached: retry with a different approach, validate tool parameters before calls, and avoid repeating \
                     failed steps.";
const CHOOSE: &str =
    "Is it well?\n\nAvailable branches:\n- YES\n- NO\n\nReply with a choice using <choice>...</choice>.";
const CHOOSE_AGAIN: &str = "Is it well?\n\nAvailable branches:\n- YES\n- NO\n\nReply with a choice using <choice>...</choice>.\n\n\
                            Your last response did not include a valid choice. Reply with one of the choices using \
                            <choice>...</choice>.";

/// Among the pieces of an answer: what was said before is compacted here, or was to be, and what follows is said by itself, when the
/// turn is over.
const COMPACTED: &str = "(compacted)";
const NOT_COMPACTED: &str = "(not compacted)";
const BY_ITSELF: &str = "(by itself)";

/// What a user said, in what pieces it was answered, and why the turn ended.
type Turn = (&'static str, &'static [&'static str], Ends);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Well,
    Cancelled,
}

/// What an agent tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    User(&'static str),
    Agent(&'static str),
    Compaction,
}

use Ends::{Cancelled, Well};
use Told::{Agent, Compaction, User};

struct Case {
    name: &'static str,
    turns: &'static [Turn],
    told: &'static [Told],
    /// What is shown, each message of the user's behind a mark. None: the turns as they were.
    shown: Option<&'static str>,
}

const GREETED: Turn = ("Hi", &["Ho"], Well);
const CUT: Turn = ("Go", &["Part"], Cancelled);
const ON: Turn = ("Next", &["Well"], Well);
const FOUR: &[Turn] = &[
    ("one", &["The first answer."], Well),
    ("two", &["The second answer."], Well),
    ("three", &["The third answer ", "has two parts."], Well),
    ("four", &["The fourth answer, which is long enough."], Well),
];
const COMMAND: &[Turn] = &[
    ("one", &["The first answer."], Well),
    ("/compact", &["Compacting...", "\n\nCompacting completed."], Well),
    ("four", &["The fourth answer, which is long enough."], Well),
];
/// A turn in the midst of which its agent tells its model something.
const TRIED: Turn = ("Try", &["I try it. ", "Now otherwise."], Well);
const KEPT: &[Turn] = &[
    ("one", &["The first answer."], Well),
    ("three", &["The third answer ", "has two parts."], Well),
    ("/compact", &[COMPACTED], Well),
    ("four", &["The fourth answer, which is long enough."], Well),
];
const SHORT: Turn = ("ok", &["Done."], Well);
const BUILD: Turn =
    ("build", &["I have begun with the build.", BY_ITSELF, "The build has come to its end without errors."], Well);
const AMID: Turn = ("go on", &["Before the compaction. ", COMPACTED, "Behind the compaction."], Well);
const UNSEEN: Turn = ("go on", &["Before the compaction. ", "Behind the compaction."], Well);
const WAITS: Turn = ("wait", &["I wait for you.", BY_ITSELF, COMPACTED], Well);
const REVIEW: Turn = ("/review 12", &["The review says that all is very well."], Well);
const FAILED: Turn = ("go on", &["Before the compaction. ", NOT_COMPACTED, "It has failed."], Well);
const LONG: Turn = ("three", &["The third answer ", "is cut in the midst, as it is far too long."], Well);
const TWO: Turn = ("two", &["The second answer."], Well);
const GIVEN: Turn = (BROUGHT, &["We go on with the parser then."], Well);
const GIVEN_SHORTLY: Turn = (BROUGHT, &["Ok"], Well);
const SNAPSHOT: Turn = ("<state_snapshot>...</state_snapshot> Go on from there.", &["We go on."], Well);
const CONTEXT: Turn = ("<session_context>It rains.</session_context>", &["A context."], Well);
const RESPONSE: Turn = ("[Function Response: read_file]", &["A mark."], Well);
const CONTINUE: Turn = ("System: Please continue.", &["Well."], Well);
const MARK: Turn = (INTERRUPTED, &["It was."], Well);
const TOGETHER: Turn =
    ("Why this?\n\nUser correction/guidance after interrupt: What is that?", &["Hermes says so."], Well);
const IN_DIRECTORY: Turn = ("[Working directory: ~/x]\n\nGo there", &["There it is."], Well);
const UNANSWERED: Turn = (BROUGHT, &[], Well);

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "interrupted", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "interrupted last", turns: &[GREETED, CUT], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED)] },
    Case { name: "interrupted before the answer", turns: &[GREETED, ("Go", &[], Cancelled), ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "interrupted, and what was answered not kept", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "the same at the end", turns: &[GREETED, CUT], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), User(INTERRUPTED)] },
    Case { name: "interrupted twice", turns: &[GREETED, CUT, ("Again", &["Some"], Cancelled), ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED), User("Again"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "interrupted, and opened again by itself since", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED), Agent(NO_RESPONSE), User("Next"), Agent("Well")] },
    Case { name: "the same without what was answered", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent(NO_RESPONSE), User("Next"), Agent("Well")] },
    Case { name: "the same last", turns: &[GREETED, CUT], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent(NO_RESPONSE)] },
    Case { name: "interrupted without the layer", turns: &[GREETED], shown: Some("> HiHo> GoPart> NextWell"),
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "the same at the end", turns: &[GREETED], shown: Some("> HiHo> GoPart"),
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED)] },
    Case { name: "the same before the answer", turns: &[GREETED], shown: Some("> HiHo> Go> NextWell"),
        told: &[User("Hi"), Agent("Ho"), User("Go"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "interrupted at a tool without the layer", turns: &[GREETED], shown: Some("> HiHo> GoPart> NextWell"),
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(INTERRUPTED_AT_TOOL), User("Next"), Agent("Well")] },
    Case { name: "stopped for mistakes without the layer", turns: &[GREETED], shown: Some("> HiHo> TryI try it. Now otherwise.> NextWell"),
        told: &[User("Hi"), Agent("Ho"), User("Try"), Agent("I try it. "), User(REPEATED), Agent("Now otherwise."), User(STOPPED), User("Next"), Agent("Well")] },
    Case { name: "told to go on after mistakes without the layer", turns: &[GREETED], shown: Some("> HiHo> TryI try it. Now otherwise."),
        told: &[User("Hi"), Agent("Ho"), User("Try"), Agent("I try it. "), User(RETRY), Agent("Now otherwise.")] },
    Case { name: "a choice of its own without the layer", turns: &[GREETED], shown: Some("> HiHo> TryI try it. Now otherwise."),
        told: &[User("Hi"), Agent("Ho"), User("Try"), Agent("I try it. "), User(CHOOSE), Agent("Now "), User(CHOOSE_AGAIN), Agent("otherwise.")] },
    Case { name: "compacted between two turns", turns: FOUR, shown: None,
        told: &[User(SUMMARY), User("three"), Agent("The third answer has two parts."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "compacted in the midst of a turn", turns: FOUR, shown: None,
        told: &[User(SUMMARY), Agent("has two parts."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "compacted in the midst of the last turn", turns: FOUR.split_at(3).0, shown: None,
        told: &[User(SUMMARY), Agent("has two parts.")] },
    Case { name: "a command behind a compaction", turns: &[FOUR[0], TWO, FOUR[2], REVIEW, FOUR[3]], shown: None,
        told: &[User(SUMMARY), User("three"), Agent("The third answer has two parts."), Agent(REVIEW.1[0]), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "a command behind a compaction, at the end", turns: &[FOUR[0], TWO, FOUR[2], REVIEW], shown: None,
        told: &[User(SUMMARY), User("three"), Agent("The third answer has two parts."), Agent(REVIEW.1[0])] },
    Case { name: "two commands behind a compaction", turns: &[FOUR[0], TWO, FOUR[2], REVIEW, REVIEW, FOUR[3]], shown: None,
        told: &[User(SUMMARY), User("three"), Agent("The third answer has two parts."), Agent(REVIEW.1[0]), Agent(REVIEW.1[0]), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "a command right behind a compaction", turns: &[FOUR[0], TWO, REVIEW, FOUR[3]], shown: None,
        told: &[User(SUMMARY), Agent(REVIEW.1[0]), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "two commands right behind a compaction", turns: &[FOUR[0], TWO, REVIEW, REVIEW, FOUR[3]], shown: None,
        told: &[User(SUMMARY), Agent(REVIEW.1[0]), Agent(REVIEW.1[0]), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "summed up from behind a command", turns: &[FOUR[0], REVIEW, TWO, FOUR[2], FOUR[3]], shown: None,
        told: &[User("one"), Agent(FOUR[0].1[0]), Agent(REVIEW.1[0]), User(SUMMARY), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "gone back to the end of a turn in whose midst it was compacted", turns: &[FOUR[0], AMID, FOUR[2]],
        shown: Some("> oneThe first answer.> go onBefore the compaction. Behind the compaction.> otherSaid elsewhere."),
        told: &[User(SUMMARY), Agent("Behind the compaction."), User("other"), Agent("Said elsewhere.")] },
    Case { name: "gone on with behind a turn in whose midst it was compacted", turns: &[FOUR[0], AMID, FOUR[2]], shown: None,
        told: &[User(SUMMARY), Agent("Behind the compaction."), User("three"), Agent("The third answer has two parts.")] },
    Case { name: "summed up behind a compaction that failed", turns: &[FOUR[0], FAILED, TWO, FOUR[2], FOUR[3]], shown: None,
        told: &[User("one"), Agent(FOUR[0].1[0]), User(SUMMARY), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "cut in the midst of an answer without a summary", turns: &[FOUR[0], TWO, LONG, FOUR[3]], shown: None,
        told: &[Agent(LONG.1[1]), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "cut before a few last words of an answer without a summary", turns: FOUR, shown: None,
        told: &[Agent("has two parts."), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "cut before a few last words of an answer behind which a command was called", turns: &[FOUR[0], FOUR[2], COMMAND[1], FOUR[3]], shown: None,
        told: &[Agent("has two parts."), User("four"), Agent(FOUR[3].1[0])] },
    Case { name: "cut in the midst of the last answer without a summary", turns: &[FOUR[0], TWO, LONG], shown: None, told: &[Agent(LONG.1[1])] },
    Case { name: "cut in the midst of an answer, and gone on with elsewhere", turns: &[FOUR[0], TWO, LONG],
        shown: Some("> oneThe first answer.> twoThe second answer.> threeThe third answer is cut in the midst, as it is far too long.> moreSaid elsewhere."),
        told: &[Agent(LONG.1[1]), User("more"), Agent("Said elsewhere.")] },
    Case { name: "compacted at the end", turns: FOUR, shown: None, told: &[User(SUMMARY)] },
    Case { name: "compacted, and all of it told", turns: FOUR.split_at(2).0, shown: None,
        told: &[User("one"), Agent("The first answer."), User(SUMMARY), User("two"), Agent("The second answer.")] },
    Case { name: "compacted and gone on with without the layer", turns: FOUR.split_at(2).0,
        shown: Some("> oneThe first answer.> twoThe second answer.> SUMMARY> moreSaid elsewhere."),
        told: &[User(SUMMARY), User("more"), Agent("Said elsewhere.")] },
    Case { name: "compacted in the midst of a turn without the layer", turns: FOUR.split_at(2).0,
        shown: Some("> oneThe first answer.> twoThe second answer.> SUMMARYSaid elsewhere."),
        told: &[User(SUMMARY), Agent("Said elsewhere.")] },
    Case { name: "compacted in the midst of a turn, and gone on with without the layer", turns: FOUR.split_at(3).0,
        shown: Some("> oneThe first answer.> twoThe second answer.> threeThe third answer has two parts.> moreSaid elsewhere."),
        told: &[User(SUMMARY), Agent("has two parts."), User("more"), Agent("Said elsewhere.")] },
    Case { name: "a command that compacts", turns: COMMAND, shown: None,
        told: &[User(SUMMARY), User(COMPACT), User(PRINTED), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "the same at the end", turns: COMMAND.split_at(2).0, shown: None,
        told: &[User(SUMMARY), User(COMPACT), User(PRINTED)] },
    Case { name: "kept from the midst of an answer on, before a command that compacts", turns: KEPT, shown: None,
        told: &[User(SUMMARY), Agent("has two parts."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "the same at the end", turns: KEPT.split_at(3).0, shown: None,
        told: &[User(SUMMARY), Agent("has two parts.")] },
    Case { name: "the same, of all of the answer", turns: KEPT, shown: None,
        told: &[User(SUMMARY), Agent("The third answer has two parts."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "the same, of a turn and the end of another", turns: &[FOUR[0], FOUR[2], TWO, KEPT[2], FOUR[3]], shown: None,
        told: &[User(SUMMARY), Agent("has two parts."), User("two"), Agent("The second answer."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "the same said before a compaction and behind it", turns: &[SHORT, AMID, SHORT], shown: None,
        told: &[User(SUMMARY), Agent("Behind the compaction."), User("ok"), Agent("Done.")] },
    Case { name: "the same, and it is not known when that was", turns: &[SHORT, UNSEEN, SHORT], shown: None,
        told: &[User(SUMMARY), Agent("Behind the compaction."), User("ok"), Agent("Done.")] },
    Case { name: "the same over and over", turns: &[SHORT, SHORT, AMID, SHORT, SHORT], shown: None,
        told: &[User(SUMMARY), Agent("Behind the compaction."), User("ok"), Agent("Done."), User("ok"), Agent("Done.")] },
    Case { name: "the same said right before a compaction and behind it", turns: &[TWO, SHORT, ("/compact", &[COMPACTED], Well), SHORT], shown: None,
        told: &[User(SUMMARY), User("ok"), Agent("Done.")] },
    Case { name: "the same with something said by itself", turns: &[BUILD, AMID, BUILD], shown: None,
        told: &[User(SUMMARY), Agent("Behind the compaction."), User("build"), Agent("I have begun with the build."), Agent("The build has come to its end without errors.")] },
    Case { name: "the same said behind it without the layer", turns: &[SHORT, TWO, WAITS],
        shown: Some("> okDone.> twoThe second answer.> waitI wait for you.> SUMMARY> okDone."),
        told: &[User(SUMMARY), User("ok"), Agent("Done.")] },
    Case { name: "the same said behind it without the layer, and answered otherwise", turns: &[SHORT, TWO, WAITS],
        shown: Some("> okDone.> twoThe second answer.> waitI wait for you.> SUMMARY> okDone again."),
        told: &[User(SUMMARY), User("ok"), Agent("Done again.")] },
    Case { name: "the same between two compactions and without the layer", turns: &[GREETED, WAITS, SHORT, TWO, WAITS],
        shown: Some("> HiHo> waitI wait for you.> okDone.> twoThe second answer.> waitI wait for you.> SUMMARY> okDone."),
        told: &[User(SUMMARY), User("ok"), Agent("Done.")] },
    Case { name: "compacted, and gone back behind it", turns: &[GREETED, WAITS, TWO, SHORT],
        shown: Some("> HiHo> waitI wait for you.> twoThe second answer."),
        told: &[User(SUMMARY), User("two"), Agent("The second answer.")] },
    Case { name: "gone back behind a second compaction", turns: &[GREETED, WAITS, FOUR[3], SHORT, WAITS],
        shown: Some("> HiHo> waitI wait for you.> fourThe fourth answer, which is long enough."),
        told: &[User(SUMMARY), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "summed up from a turn on", turns: FOUR, shown: None,
        told: &[User("one"), Agent("The first answer."), User(SUMMARY)] },
    Case { name: "the same, and gone on with", turns: FOUR, shown: None,
        told: &[User("one"), Agent("The first answer."), User(SUMMARY), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "the same without the layer", turns: FOUR.split_at(2).0, shown: Some("> oneThe first answer.> twoThe second answer.> moreSaid elsewhere."),
        told: &[User("one"), Agent("The first answer."), User(SUMMARY), User("more"), Agent("Said elsewhere.")] },
    Case { name: "summed up twice", turns: &[FOUR[0], TWO, FOUR[2], GREETED, ON, FOUR[3]], shown: None,
        told: &[User("one"), Agent("The first answer."), User(SUMMARY), User("three"), Agent("The third answer has two parts."), User(SUMMARY), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "compacted, and summed up from a turn on", turns: &[GREETED, WAITS, TWO, FOUR[2], SHORT, FOUR[3]], shown: None,
        told: &[User(SUMMARY), User("two"), Agent("The second answer."), User(SUMMARY), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "summed up, with the same said before, in it and behind", turns: &[FOUR[0], SHORT, TWO, SHORT, FOUR[2], SHORT, FOUR[3]], shown: None,
        told: &[User("one"), Agent("The first answer."), User("ok"), Agent("Done."), User(SUMMARY), User("ok"), Agent("Done."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "summed up from the same on that is said behind", turns: &[FOUR[0], SHORT, TWO, SHORT, FOUR[3]], shown: None,
        told: &[User("one"), Agent("The first answer."), User(SUMMARY), User("ok"), Agent("Done."), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "summed up with a turn that was cut off", turns: &[FOUR[0], TWO, CUT, FOUR[3]], shown: None,
        told: &[User("one"), Agent("The first answer."), User(SUMMARY), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "summed up behind one that was cut off", turns: &[FOUR[0], CUT, TWO, FOUR[3]], shown: None,
        told: &[User("one"), Agent("The first answer."), User("Go"), Agent("Part"), User(INTERRUPTED), User(SUMMARY), User("four"), Agent("The fourth answer, which is long enough.")] },
    Case { name: "gone back, without a summary", turns: FOUR, shown: Some("> oneThe first answer.> twoThe second answer."),
        told: &[User("one"), Agent("The first answer."), User("two"), Agent("The second answer.")] },
    Case { name: "gone back up to a compaction that is told with all before", turns: &[FOUR[0], ("two", &["The second answer.", COMPACTED], Well), FOUR[2]],
        shown: Some("> oneThe first answer.> twoThe second answer."),
        told: &[User("one"), Agent("The first answer."), User("two"), Agent("The second answer."), User(SUMMARY)] },
    Case { name: "compacted in the midst of an answer, and all of it told", turns: &[FOUR[0], AMID, TWO], shown: None,
        told: &[User("one"), Agent("The first answer."), User("go on"), Agent("Before the compaction. "), User(SUMMARY), Agent("Behind the compaction."), User("two"), Agent("The second answer.")] },
    Case { name: "a summary brought along", turns: &[GIVEN, ON], shown: None,
        told: &[User(BROUGHT), Agent("We go on with the parser then."), User("Next"), Agent("Well")] },
    Case { name: "the same alone", turns: &[GIVEN], shown: None,
        told: &[User(BROUGHT), Agent("We go on with the parser then.")] },
    Case { name: "the same, soon answered", turns: &[GIVEN_SHORTLY, ON], shown: None,
        told: &[User(BROUGHT), Agent("Ok"), User("Next"), Agent("Well")] },
    Case { name: "the same alone, soon answered", turns: &[GIVEN_SHORTLY], shown: None,
        told: &[User(BROUGHT), Agent("Ok")] },
    Case { name: "the same, not answered", turns: &[UNANSWERED, ON], shown: None,
        told: &[User(BROUGHT), User("Next"), Agent("Well")] },
    Case { name: "the same alone, not answered", turns: &[UNANSWERED], shown: None,
        told: &[User(BROUGHT)] },
    Case { name: "the same, interrupted", turns: &[(BROUGHT, &["Part"], Cancelled), ON], shown: None,
        told: &[User(BROUGHT), Agent("Part"), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "the same, interrupted before the answer", turns: &[(BROUGHT, &[], Cancelled), ON], shown: None,
        told: &[User(BROUGHT), User(INTERRUPTED), User("Next"), Agent("Well")] },
    Case { name: "the same twice", turns: &[GIVEN, GIVEN_SHORTLY, ON], shown: None,
        told: &[User(BROUGHT), Agent("We go on with the parser then."), User(BROUGHT), Agent("Ok"), User("Next"), Agent("Well")] },
    Case { name: "the same behind a command that is not told", turns: &[("/model", &["Set."], Well), GIVEN], shown: None,
        told: &[User(BROUGHT), Agent("We go on with the parser then.")] },
    Case { name: "the same, and again without the layer", turns: &[GIVEN, ON], shown: Some("> BROUGHTWe go on with the parser then.> NextWell> BROUGHTAs before."),
        told: &[User(BROUGHT), Agent("We go on with the parser then."), User("Next"), Agent("Well"), User(BROUGHT), Agent("As before.")] },
    Case { name: "a summary brought along later", turns: &[GREETED, GIVEN, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(BROUGHT), Agent("We go on with the parser then."), User("Next"), Agent("Well")] },
    Case { name: "the same, soon answered", turns: &[GREETED, GIVEN_SHORTLY, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(BROUGHT), Agent("Ok"), User("Next"), Agent("Well")] },
    Case { name: "the same, not answered", turns: &[GREETED, UNANSWERED, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(BROUGHT), User("Next"), Agent("Well")] },
    Case { name: "a summary brought along at the end", turns: &[GREETED, ON, GIVEN], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Next"), Agent("Well"), User(BROUGHT), Agent("We go on with the parser then.")] },
    Case { name: "the same, soon answered", turns: &[GREETED, ON, GIVEN_SHORTLY], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Next"), Agent("Well"), User(BROUGHT), Agent("Ok")] },
    Case { name: "the same, not answered", turns: &[GREETED, ON, UNANSWERED], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Next"), Agent("Well"), User(BROUGHT)] },
    Case { name: "a summary brought along, and compacted behind it", turns: &[GIVEN, ON], shown: None,
        told: &[User(SUMMARY), User("Next"), Agent("Well")] },
    Case { name: "the same at the end", turns: &[GIVEN, ON], shown: None,
        told: &[User(SUMMARY)] },
    Case { name: "a summary brought along, and compacted in the midst of its turn", turns: &[(BROUGHT, &["We go on ", "with the parser then."], Well), ON], shown: None,
        told: &[User(SUMMARY), Agent("with the parser then."), User("Next"), Agent("Well")] },
    Case { name: "its own summary brought along", turns: &[GREETED, ON, (SUMMARY, &["That is what was said before."], Well)], shown: None,
        told: &[User(SUMMARY), User("Next"), Agent("Well"), User(SUMMARY), Agent("That is what was said before.")] },
    Case { name: "the same, and interrupted before the answer", turns: &[GREETED, ON, (SUMMARY, &[], Cancelled)], shown: None,
        told: &[User(SUMMARY), User("Next"), Agent("Well")] },
    Case { name: "a snapshot brought along", turns: &[GREETED, SNAPSHOT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(SNAPSHOT.0), Agent("We go on."), User("Next"), Agent("Well")] },
    Case { name: "the same first", turns: &[SNAPSHOT, ON], shown: None,
        told: &[User(SNAPSHOT.0), Agent("We go on."), User("Next"), Agent("Well")] },
    Case { name: "the same last, and gone on with without the layer", turns: &[GREETED, SNAPSHOT],
        shown: Some("> HiHo> <state_snapshot>...</state_snapshot> Go on from there.We go on.> moreSaid elsewhere."),
        told: &[User("Hi"), Agent("Ho"), User(SNAPSHOT.0), Agent("We go on."), User("more"), Agent("Said elsewhere.")] },
    Case { name: "what an agent hides, and how it goes on", turns: &[GREETED, CONTEXT, RESPONSE, CONTINUE, MARK, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(CONTEXT.0), Agent("A context."), User(RESPONSE.0), Agent("A mark."),
            User(CONTINUE.0), Agent("Well."), User(MARK.0), Agent("It was."), User("Next"), Agent("Well")] },
    Case { name: "a command of the shell without the layer", turns: &[GREETED],
        shown: Some("> HiHo> ! git status> <bash-stdout>On branch main</bash-stdout><bash-stderr></bash-stderr>> NextWell"),
        told: &[User("Hi"), Agent("Ho"), User(SHELL), User(SHELL_PRINTED), User("Next"), Agent("Well")] },
    Case { name: "the same before what was had", turns: &[ON],
        shown: Some("> ! git status> <bash-stdout>On branch main</bash-stdout><bash-stderr></bash-stderr>> NextWell"),
        told: &[User(SHELL), User(SHELL_PRINTED), User("Next"), Agent("Well")] },
    Case { name: "the same as the user has pasted it", turns: &[(SHELL, &["What is that?"], Well), (SHELL_PRINTED, &["And that?"], Well), ON], shown: None,
        told: &[User(SHELL), Agent("What is that?"), User(SHELL_PRINTED), Agent("And that?"), User("Next"), Agent("Well")] },
    Case { name: "calls of the same over and over", turns: &[GREETED, TRIED, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Try"), Agent("I try it. "), User(REPEATED), Agent("Now otherwise."), User("Next"), Agent("Well")] },
    Case { name: "the same at the end", turns: &[TRIED], shown: None,
        told: &[User("Try"), Agent("I try it. "), User(REPEATED), Agent("Now otherwise."), User(STOPPED)] },
    Case { name: "stopped for mistakes", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go"), Agent("Part"), User(STOPPED), User("Next"), Agent("Well")] },
    Case { name: "told to go on after mistakes", turns: &[TRIED, ON], shown: None,
        told: &[User("Try"), Agent("I try it. "), User(RETRY), Agent("Now otherwise."), User("Next"), Agent("Well")] },
    Case { name: "the same as the user has pasted it", turns: &[(REPEATED, &["Cline says so."], Well), (STOPPED, &["That too."], Well), (RETRY, &["And that."], Well)], shown: None,
        told: &[User(REPEATED), Agent("Cline says so."), User(STOPPED), Agent("That too."), User(RETRY), Agent("And that.")] },
    Case { name: "a choice of its own", turns: &[GREETED, TRIED, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Try"), Agent("I try it. "), User(CHOOSE), Agent("Now "), User(CHOOSE_AGAIN), Agent("otherwise."), User("Next"), Agent("Well")] },
    Case { name: "the same as the user has pasted it", turns: &[GREETED, (CHOOSE, &["Yes."], Well), ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(CHOOSE), Agent("Yes."), User("Next"), Agent("Well")] },
    Case { name: "put together with one that was cancelled", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go\n\nUser correction/guidance after interrupt: Next"), Agent("Well")] },
    Case { name: "the same of the first prompt", turns: &[CUT, ON], shown: None,
        told: &[User("Go\n\nUser correction/guidance after interrupt: Next"), Agent("Well")] },
    Case { name: "put together with one that had no answer", turns: &[GREETED, ("Go", &[], Cancelled), ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go\n\nUser correction/guidance after interrupt: Next"), Agent("Well")] },
    Case { name: "put together with two that were cancelled", turns: &[GREETED, CUT, ("Again", &["Some"], Cancelled), ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go\n\nUser correction/guidance after interrupt: Again\n\nUser correction/guidance after interrupt: Next"), Agent("Well")] },
    Case { name: "put together, and cancelled as well", turns: &[GREETED, CUT, ("Again", &["Some"], Cancelled)], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("Go\n\nUser correction/guidance after interrupt: Again")] },
    Case { name: "the same as the user has pasted it", turns: &[GREETED, TOGETHER, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(TOGETHER.0), Agent("Hermes says so."), User("Next"), Agent("Well")] },
    Case { name: "behind the directory", turns: &[GREETED, CUT, ON], shown: None,
        told: &[User("[Working directory: ~/w]\n\nHi"), Agent("Ho"), User("[Working directory: ~/w]\n\nGo"), Agent("Part"), User("Next"), Agent("Well")] },
    Case { name: "the same as the user has pasted it", turns: &[GREETED, IN_DIRECTORY, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User(IN_DIRECTORY.0), Agent("There it is."), User("Next"), Agent("Well")] },
    Case { name: "the same behind the directory", turns: &[GREETED, IN_DIRECTORY, ON], shown: None,
        told: &[User("Hi"), Agent("Ho"), User("[Working directory: ~/w]\n\n[Working directory: ~/x]\n\nGo there"), Agent("There it is."), User("Next"), Agent("Well")] },
    Case { name: "behind the directory without the layer", turns: &[GREETED], shown: Some("> HiHo> [Working directory: ~/w]\n\nNextWell"),
        told: &[User("[Working directory: ~/w]\n\nHi"), Agent("Ho"), User("[Working directory: ~/w]\n\nNext"), Agent("Well")] },
    Case { name: "only known to the agent", turns: &[], shown: Some("> SUMMARY> threeThird"),
        told: &[User(SUMMARY), User("three"), Agent("Third")] },
];

fn loads() -> Value {
    json!({"loadSession": true})
}

/// The agent is asked to load the session and tells this. `has_ids`: its messages have ids.
fn load(desk: &mut Desk<'_>, told: &[Told], has_ids: bool) -> Out {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    for (at, told) in told.iter().enumerate() {
        let mut telling = match told {
            User(text) => chunk("user_message_chunk", text),
            Agent(text) => chunk("agent_message_chunk", text),
            Compaction => json!({
                "sessionUpdate": "compaction_update", "compactionId": "k1", "status": "completed",
                "summary": [{"type": "text", "text": "Analysis: ..."}],
            }),
        };
        if has_ids && *told != Compaction {
            telling["messageId"] = format!("m{at}").into();
        }
        out.extend(desk.agent(update("s1", telling)));
    }
    out.extend(desk.reply(&asked, json!({})));
    told_all(desk, out)
}

fn have(desk: &mut Desk<'_>, (prompt, answers, ends): Turn) {
    let asked = ask_prompt(desk, "turn", "s1", prompt).request("session/prompt");
    let in_turn = answers.iter().position(|answer| *answer == BY_ITSELF).unwrap_or(answers.len());
    let (in_turn, by_itself) = answers.split_at(in_turn);
    for answer in in_turn {
        desk.agent(piece(answer));
    }
    if ends == Cancelled {
        desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    }
    desk.reply(&asked, json!({"stopReason": if ends == Cancelled { "cancelled" } else { "end_turn" }}));
    for answer in by_itself.iter().skip(1) {
        desk.agent(piece(answer));
    }
}

fn piece(answer: &str) -> Value {
    let compacts = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Compact conversation", "kind": "think",
        "status": "completed", "_meta": {"claudeCode": {"toolName": "compact"}},
    });
    let fails = json!({"sessionUpdate": "compaction_update", "compactionId": "k0", "status": "failed"});
    match answer {
        COMPACTED => update("s1", compacts),
        NOT_COMPACTED => update("s1", fails),
        _ => says(answer),
    }
}

fn as_had(turns: &[Turn]) -> String {
    let turns: Vec<String> =
        turns.iter().map(|(prompt, answers, _)| format!("> {prompt}{}", answers.concat())).collect();
    turns.concat().replace(NOT_COMPACTED, "").replace(COMPACTED, "").replace(BY_ITSELF, "")
}

fn short(words: &str) -> String {
    words.replace(SUMMARY, "SUMMARY").replace(BROUGHT, "BROUGHT")
}

/// The same told with the first summary as a compaction, and what is shown then.
fn with_compaction(mut told: Vec<Told>, shown: &str) -> Option<(Vec<Told>, String)> {
    let summary = told.iter_mut().find(|told| **told == User(SUMMARY))?;
    *summary = Compaction;
    Some((told, if shown.contains(SUMMARY) { shown.to_owned() } else { shown.replace("> SUMMARY", "") }))
}

#[test]
fn nothing_that_was_said_is_lost_or_doubled() {
    let ways = || [(false, false), (false, true), (true, false), (true, true)];
    for case in CASES {
        let shown = case.shown.map_or_else(|| as_had(case.turns), str::to_owned);
        let compaction = with_compaction(case.told.to_vec(), &shown);
        // Without a list nobody has heard that somebody has gone back at the end.
        let is_gone_back = is_gone_back(case, &shown);
        for (has_ids, has_list) in ways().into_iter().filter(|(_, has_list)| *has_list || !is_gone_back) {
            comes_out_as(case, case.told.to_vec(), shown.clone(), (has_ids, has_list));
            if let Some((told, shown)) = compaction.clone() {
                comes_out_as(case, told, shown, (has_ids, has_list));
            }
        }
    }
}

/// Whether something that was said is not shown any more.
fn is_gone_back(case: &Case, shown: &str) -> bool {
    case.turns.iter().any(|turn| !short(shown).contains(&short(&as_had(&[*turn]))))
}

/// Where the agent tells this, that is shown, and with what is said then each time that it is loaded.
fn comes_out_as(case: &Case, mut told: Vec<Told>, mut shown: String, (has_ids, has_list): (bool, bool)) {
    let is_compaction = told.contains(&Compaction);
    let when = format!("{}, ids: {has_ids}, list: {has_list}, compaction: {is_compaction}", case.name);
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &loads());
    if !case.turns.is_empty() {
        desk.new_session("s1", CWD);
    }
    case.turns.iter().for_each(|turn| have(&mut desk, *turn));
    leave(desk);
    let is_gone_back = is_gone_back(case, &shown);
    for time in ["first", "second", "third"] {
        let mut desk = if has_list {
            listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)])
        } else {
            Desk::ready(&store, &world, &loads())
        };
        let out = load(&mut desk, &told, has_ids);
        assert_eq!(short(&words(&out)), short(&shown), "{when}, {time}");
        assert_eq!(!mark(&out, "load")["setAside"].is_null(), is_gone_back, "{when}, {time}");
        have(&mut desk, (time, &["Yes"], Well));
        told.extend([User(time), Agent("Yes")]);
        shown = format!("{shown}> {time}Yes");
        leave(desk);
    }
}

/// The agent goes on for a moment when the layer's process alone is killed, and then marks that it was interrupted.
#[test]
fn a_turn_whose_window_was_killed_is_told_with_more_of_it_and_without_the_mark() {
    for (heard, kept, is_at_tool) in
        [("w0 w1 ", "w0 w1 w2 ", false), ("w0 w1 ", "w0 w1 ", true), ("w0 w1 ", "w0 w1 w2 ", true)]
    {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &loads());
        desk.new_session("s1", CWD);
        have(&mut desk, GREETED);
        ask_prompt(&mut desk, "turn", "s1", "Go").request("session/prompt");
        desk.agent(says(heard));
        desk.wait(500);
        drop(desk);
        world.now.set(world.now.get() + 60_000);
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read", "status": "failed"});
        let mark_of = if is_at_tool { INTERRUPTED_AT_TOOL } else { INTERRUPTED };
        let mut told = vec![
            chunk("user_message_chunk", "Hi"),
            chunk("agent_message_chunk", "Ho"),
            chunk("user_message_chunk", "Go"),
            chunk("agent_message_chunk", kept),
        ];
        told.extend(is_at_tool.then_some(call));
        told.push(chunk("user_message_chunk", mark_of));
        let mut shown = format!("> HiHo> Go{kept}");
        for time in ["first", "second", "third"] {
            let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)]);
            let out = load_told(&mut desk, &told);
            assert_eq!(words(&out), shown, "{kept}, {is_at_tool}, {time}");
            have(&mut desk, (time, &["Yes"], Well));
            told.extend([chunk("user_message_chunk", time), chunk("agent_message_chunk", "Yes")]);
            shown = format!("{shown}> {time}Yes");
            leave(desk);
        }
    }
}
