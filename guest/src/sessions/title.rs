//! What a title is, whoever gives it: one line. And the automatic title: the first meaningful line of the first prompt, with the
//! names of what is linked or embedded in the midst of it, or else what is attached to it.

use serde_json::value::RawValue;

use crate::rpc::Object;
use crate::store::keys;
use crate::transcript::is_for_agent_alone;

/// The longest automatic title, in characters.
pub const LONGEST: usize = 80;

/// A title that somebody has given, as one line: a space stands for each run of control characters and line ends, with the
/// white space around them, and nothing for those at its ends. White space within a line is as it was given. Empty where
/// nothing is left.
pub fn one_line(title: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let lines = title.split(breaks).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// A title for a conversation that begins with this prompt (the JSON of `prompt`); `None` if nothing in it can name it.
pub fn from_prompt(prompt: &str) -> Option<String> {
    let blocks: Vec<&RawValue> = serde_json::from_str(prompt).ok()?;
    let is_users = |block: &&&RawValue| !is_for_agent_alone(block.get());
    from_blocks(blocks.iter().filter(is_users)).or_else(|| from_blocks(blocks.iter()))
}

/// A title of some blocks of such a prompt; `None` if nothing in them can name the conversation.
fn from_blocks<'a>(blocks: impl Iterator<Item = &'a &'a RawValue>) -> Option<String> {
    let blocks: Vec<Object<'_>> = blocks.map(|block| Object::parse_or_empty(block.get())).collect();
    let texts = texts(&blocks);
    let line = |in_code: bool, says: fn(&str) -> bool| {
        let lines = texts.iter().flat_map(|text| lines(text)).filter(move |line| line.in_code == in_code);
        lines.map(|line| clean(line.text)).find(|line| says(line))
    };
    let line = line(false, is_meaningful).or_else(|| line(true, is_meaningful)).or_else(|| line(false, is_picture));
    let line = line.or_else(|| blocks.iter().find_map(attached)).or_else(|| blocks.iter().find_map(medium));
    line.map(|line| cut(&line))
}

/// The texts of a prompt. What is linked or embedded between two of them is named in the midst of one: clients make a block of each
/// part of what their user has typed.
fn texts(blocks: &[Object<'_>]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    // The names that stand behind the last text.
    let mut names: Vec<String> = Vec::new();
    for block in blocks {
        if is(block, "resource_link") || is(block, "resource") {
            names.extend(attached(block).filter(|_| !texts.is_empty()));
        } else if let Some(text) = block.get_string("text").filter(|_| is(block, "text")) {
            match texts.last_mut().filter(|_| !names.is_empty()) {
                Some(last) => join(last, &std::mem::take(&mut names), &text),
                None => texts.push(text),
            }
        } else {
            names.clear();
        }
    }
    texts
}

/// Adds the names and the text behind them, with a space where a word would run into a name.
fn join(text: &mut String, names: &[String], behind: &str) {
    let names = names.join(" ");
    if text.ends_with(char::is_alphanumeric) {
        text.push(' ');
    }
    text.push_str(&names);
    if behind.starts_with(char::is_alphanumeric) {
        text.push(' ');
    }
    text.push_str(behind);
}

fn is(block: &Object<'_>, kind: &str) -> bool {
    block.get_string("type").as_deref() == Some(kind)
}

fn is_meaningful(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

/// Whether a line says something in pictures (emoji, arrows and the like).
fn is_picture(line: &str) -> bool {
    let is_picture = |c| matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}');
    line.chars().any(is_picture)
}

/// A line of a text, and whether it stands in a fenced code block.
struct Line<'a> {
    text: &'a str,
    in_code: bool,
}

/// The lines of a text without those that fence code (`CommonMark`, fenced code blocks).
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut open: Option<&str> = None;
    text.lines().filter_map(move |text| {
        let fence = fence(text);
        match (open, fence) {
            (None, Some((marks, _))) => open = Some(marks),
            (Some(opened), Some((marks, ""))) if marks.starts_with(opened) => open = None,
            _ => return Some(Line { text, in_code: open.is_some() }),
        }
        None
    })
}

/// The marks of a line that can begin a block of code, and what follows them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.find(|other| other != mark).unwrap_or(line.len());
    let (marks, info) = line.split_at(length);
    // Backticks that are closed in the same line are code within a text.
    (length >= 3 && !(mark == '`' && info.contains(mark))).then_some((marks, info))
}

/// The name of what a block links or embeds.
fn attached(block: &Object<'_>) -> Option<String> {
    let last_part = |uri: &str| {
        let path = uri.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let part = path.rsplit('/').next().unwrap_or_default();
        keys::decode(part).unwrap_or_else(|| part.to_owned())
    };
    let names = match block.get_string("type")?.as_str() {
        "resource_link" => {
            let uri = block.get_string("uri");
            [block.get_string("title"), block.get_string("name"), uri.as_deref().map(last_part), uri]
        }
        "resource" => {
            let uri = Object::parse(block.get("resource")?)?.get_string("uri");
            [uri.as_deref().map(last_part), uri, None, None]
        }
        _ => return None,
    };
    names.into_iter().flatten().map(|name| words(&name)).find(|name| is_meaningful(name))
}

/// What a block is that has no name.
fn medium(block: &Object<'_>) -> Option<String> {
    match block.get_string("type")?.as_str() {
        "image" => Some("Image".to_owned()),
        "audio" => Some("Audio".to_owned()),
        _ => None,
    }
}

/// One line without runs of white space: in what was not written as a title they are layout.
fn words(text: &str) -> String {
    one_line(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line without runs of white space, and without markup at its beginning, or around what it begins with.
fn clean(line: &str) -> String {
    let mut line = words(line);
    loop {
        let begun = line.trim_start_matches(['#', '>', '-', ' ']);
        let marks = ['*', '`'].into_iter().find(|mark| begun.starts_with(*mark));
        let Some(mark) = marks else { return begun.trim_end().to_owned() };
        let (marks, rest) = begun.split_at(begun.find(|other| other != mark).unwrap_or(begun.len()));
        line = match closing(rest, marks) {
            Some(at) => [&rest[..at], &rest[at + marks.len()..]].concat(),
            None => rest.to_owned(),
        };
    }
}

/// Where a text that is set off by these marks (`CommonMark`, code spans and emphasis) comes to its end.
fn closing(text: &str, marks: &str) -> Option<usize> {
    let is_code = marks.starts_with('`');
    let closes = |at: usize| is_code || !text[..at].ends_with(' ');
    let mut all = text.match_indices(marks).map(|(at, _)| at);
    all.find(|at| closes(*at)).filter(|at| *at > 0 && (is_code || !text.starts_with(' ')))
}

/// At most [`LONGEST`] characters, cut at a word where there is one to cut at.
fn cut(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(LONGEST) else { return line.to_owned() };
    // One character is the ellipsis.
    let room = line.char_indices().nth(LONGEST - 1).map_or(end, |(at, _)| at);
    let head = &line[..room];
    let ends_at_word = line[room..].starts_with(' ');
    let word = if ends_at_word { head } else { head.rsplit_once(' ').map_or(head, |(words, _)| words) };
    format!("{}…", word.trim_end_matches([' ', ',', ';', ':', '.', '\u{200d}']))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn titles_from_prompts() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        for (prompt, expected) in [
            (text("Fix the bug\nin utils.ts"), Some("Fix the bug".to_owned())),
            (text("\n  ---\n## Hello   world\u{7}"), Some("Hello world".to_owned())),
            (text("one\u{2028}two\u{85}three\u{1b}[1m"), Some("one two three [1m".to_owned())),
            (
                text("日本語".repeat(40).as_str()),
                Some(format!("{}…", "日本語".repeat(40).chars().take(79).collect::<String>())),
            ),
            (text(&"word ".repeat(40)), Some(format!("{}…", ["word"; 16].join(" ")))),
            (text(" \n… !?"), None),
            (text("**Fix** the bug"), Some("Fix the bug".to_owned())),
            (text("**`cargo test`** fails in *one* place"), Some("cargo test fails in *one* place".to_owned())),
            (text("`a` and `b`"), Some("a and `b`".to_owned())),
            (text("```make``` it so"), Some("make it so".to_owned())),
            (text("* one *thing*"), Some("one *thing*".to_owned())),
            (text("*.rs and *.ts are broken"), Some(".rs and *.ts are broken".to_owned())),
            (text("**open and `shut"), Some("open and `shut".to_owned())),
            (json!([]), None),
        ] {
            let title = from_prompt(&prompt.to_string());
            assert_eq!(title, expected);
            assert!(title.is_none_or(|title| title.chars().count() <= LONGEST));
        }
        assert_eq!(from_prompt("{}"), None);
    }

    #[test]
    fn what_is_linked_or_embedded_between_two_texts_is_named_in_one_line_with_them() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let link = |name: &str| json!({"type": "resource_link", "uri": format!("file:///w/{name}"), "name": name});
        let file =
            |name: &str| json!({"type": "resource", "resource": {"uri": format!("file:///w/{name}"), "text": "one"}});
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        for (blocks, expected) in [
            (json!([text("What does "), file("a.rs"), text(" do?")]), "What does a.rs do?"),
            (json!([text("In "), file("a.rs"), text(" rename foo to bar")]), "In a.rs rename foo to bar"),
            (json!([file("a.rs"), text("summarize"), file("b.rs")]), "summarize"),
            (json!([text("look at "), link("a.rs"), text(" and fix it")]), "look at a.rs and fix it"),
            (json!([text("look at"), link("a.rs"), text("and fix it")]), "look at a.rs and fix it"),
            (json!([text("compare "), link("a.rs"), link("b.rs"), text(", please")]), "compare a.rs b.rs, please"),
            (json!([text("fix it\nas in "), link("a.rs"), text(" please")]), "fix it"),
            (json!([text("summarize"), link("a.rs")]), "summarize"),
            (json!([link("a.rs"), text("summarize")]), "summarize"),
            (json!([text("look"), link("a.rs"), image, text("and here")]), "look"),
            (json!([text("one"), text("two")]), "one"),
        ] {
            assert_eq!(from_prompt(&blocks.to_string()).as_deref(), Some(expected), "{blocks}");
        }
    }

    #[test]
    fn what_a_client_says_to_the_agent_alone_names_a_conversation_only_where_nothing_else_does() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let for_agent = |text: &str| json!({"type": "text", "text": text, "annotations": {"audience": ["assistant"]}});
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        for (blocks, expected) in [
            (json!([for_agent("Use these skills"), text("fix it")]), "fix it"),
            (json!([for_agent("Use these skills"), text("```\nx = 1\n```")]), "x = 1"),
            (json!([for_agent("Use these skills"), image]), "Image"),
            (json!([for_agent("Use these skills"), text(" ")]), "Use these skills"),
            (json!([for_agent("Use these skills")]), "Use these skills"),
        ] {
            assert_eq!(from_prompt(&blocks.to_string()).as_deref(), Some(expected), "{blocks}");
        }
    }

    #[test]
    fn a_prompt_of_emoji_alone_is_called_as_it_is() {
        let text = |text: &str| json!({"type": "text", "text": text});
        for (blocks, expected) in [
            (json!([text("👍")]), Some("👍")),
            (json!([text("!!\n  👨‍👩‍👧 ✨")]), Some("👨‍👩‍👧 ✨")),
            (json!([text("🎉\nship it")]), Some("ship it")),
            (json!([text("…"), text("—")]), None),
        ] {
            assert_eq!(from_prompt(&blocks.to_string()).as_deref(), expected, "{blocks}");
        }
        let family = "👨‍👩‍👧".repeat(40);
        let title = from_prompt(&json!([text(&family)]).to_string()).unwrap();
        assert!(title.ends_with('…') && !title.contains("\u{200d}…"), "{title}");
    }

    #[test]
    fn a_title_is_not_made_of_code_or_its_fences_where_there_is_anything_else() {
        for (texts, expected) in [
            (&["```py\nprint(1)\n```\nWhy does this print?"][..], "Why does this print?"),
            (&["```py\nprint(1)\n```", "Why does this print?"], "Why does this print?"),
            (&["```py\n\nprint(1)\n```"], "print(1)"),
            (&["~~~~ rust\n~~~\nfn main() {}\n~~~~\n"], "fn main() {}"),
            (&["  ````\n```py\ninner\n```\n````\nouter"], "outer"),
            (&["```\nnever closed\n```py\nstill open"], "never closed"),
            (&["```cargo test```"], "cargo test"),
            (&["```cargo test``` fails"], "cargo test fails"),
            (&["`Vec` grows by what?"], "Vec grows by what?"),
        ] {
            let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            assert_eq!(from_prompt(&Value::from(blocks).to_string()).as_deref(), Some(expected), "{texts:?}");
        }
    }

    #[test]
    fn a_prompt_without_text_is_named_after_what_is_attached() {
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        let audio = json!({"type": "audio", "data": "", "mimeType": "audio/wav"});
        let embedded = json!({"type": "resource", "resource": {"uri": "file:///x/main.rs", "text": "fn main() {}"}});
        for (blocks, expected) in [
            (json!([image]), Some("Image")),
            (json!([audio, image]), Some("Audio")),
            (json!([image, {"type": "text", "text": "what is it?"}]), Some("what is it?")),
            (json!([image, {"type": "text", "text": " "}, embedded]), Some("main.rs")),
            (json!([{"type": "resource_link", "uri": "u", "name": "n", "title": "The\nplan"}]), Some("The plan")),
            (json!([{"type": "resource_link", "uri": "file:///a.md", "name": "a.md", "title": " "}]), Some("a.md")),
            (json!([{"type": "resource_link", "uri": "file:///x/my%20notes.md?v=1#L10"}]), Some("my notes.md")),
            (json!([{"type": "resource_link", "uri": "https://example.org/docs/"}]), Some("docs")),
            (json!([{"type": "resource_link", "uri": "https://example.org/100%"}]), Some("100%")),
            (json!([{"type": "resource_link", "uri": "?id=7"}]), Some("?id=7")),
            (json!([{"type": "resource"}, {"type": "hologram"}]), None),
        ] {
            assert_eq!(from_prompt(&blocks.to_string()).as_deref(), expected, "{blocks}");
        }
    }
}
