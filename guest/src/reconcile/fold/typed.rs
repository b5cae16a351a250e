//! What a user has typed of what is told in the user's name. Claude Code keeps commands, what these have printed, and what it has its
//! model know between tags among the user's words, and its adapter leaves such elements out when it tells them again, also where the
//! user has typed them. So both sides are compared without. Hermes keeps what was cancelled and what was said next as one message, with
//! words of its own between, and `OpenClaw` tells the directory before a prompt: neither was typed.

use std::borrow::Cow;

use crate::reconcile::turn::sum::Sum;
use crate::transcript::{AFTER_INTERRUPT, typed_in_shell};

/// How such elements begin and end.
const ELEMENTS: [(&str, &str); 7] = [
    ("<command-name>", "</command-name>"),
    ("<command-message>", "</command-message>"),
    ("<command-args>", "</command-args>"),
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<local-command-stderr>", "</local-command-stderr>"),
    ("<system-reminder>", "</system-reminder>"),
    ("<task-notification>", "</task-notification>"),
];

/// How the line begins that `OpenClaw` tells before a prompt, and how it ends.
const DIRECTORY: (&str, &str) = ("[Working directory: ", "]\n\n");

/// What the user has typed of whom this is told: Claude Code tells a command, and what is given to it, between tags.
pub(super) fn as_typed(text: Cow<'_, str>) -> Cow<'_, str> {
    if let Some(prompts) = put_together(&text) {
        return Cow::Owned(prompts);
    }
    if let Some(typed) = typed_in_shell(&text) {
        return Cow::Owned(typed);
    }
    let between = |tag: &str| {
        let (_, behind) = text.split_once(&format!("<{tag}>"))?;
        behind.split_once(&format!("</{tag}>")).map(|(inner, _)| inner.trim())
    };
    let is_all_tags = || outside_elements(&text).is_some_and(|outside| outside.trim().is_empty());
    let is_command = text.trim_start().starts_with("<command-") && is_all_tags();
    let Some(name) = is_command.then(|| between("command-name")).flatten() else { return text };
    let given = between("command-args").unwrap_or_default();
    let slash = if name.starts_with('/') { "" } else { "/" };
    Cow::Owned(format!("{slash}{name} {given}"))
}

/// The prompts that Hermes has put together in this, one behind the other, if it has.
fn put_together(text: &str) -> Option<String> {
    let prompts = || text.split(AFTER_INTERRUPT);
    let is_put_together = prompts().nth(1).is_some() && prompts().all(|prompt| !prompt.trim().is_empty());
    is_put_together.then(|| prompts().collect::<Vec<_>>().join("\n\n"))
}

/// What is told behind the directory that a message of the user's begins with, if it does.
pub(super) fn behind_directory(text: &str) -> Option<&str> {
    let (begin, end) = DIRECTORY;
    let (path, prompt) = text.strip_prefix(begin)?.split_once(end)?;
    let is_line = !path.is_empty() && !path.contains('\n');
    Some(prompt).filter(|prompt| is_line && !prompt.trim().is_empty())
}

/// A message as it is compared: without such elements, unless it has nothing else.
pub(super) fn without_elements(text: Cow<'_, str>) -> Cow<'_, str> {
    let outside = outside_elements(&text).filter(|outside| !Sum::of(outside).is_empty());
    outside.map_or(text, Cow::Owned)
}

/// What stands outside of such elements, if there are any. Each ends with the first tag that ends such a one.
pub(super) fn outside_elements(text: &str) -> Option<String> {
    let mut elements = ELEMENTS.to_vec();
    let (mut outside, mut taken, mut from) = (String::new(), 0, 0);
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        from = at + 1;
        let Some(place) = elements.iter().position(|(begin, _)| text[at..].starts_with(begin)) else { continue };
        let (begin, end) = elements[place];
        let inner = at + begin.len();
        match text[inner..].find(end) {
            Some(length) => {
                outside.push_str(&text[taken..at]);
                taken = inner + length + end.len();
                from = taken;
            }
            // None ends any more: it is not looked for again.
            None => {
                elements.swap_remove(place);
            }
        }
    }
    (taken > 0).then(|| outside + &text[taken..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_told_between_tags_is_what_was_typed() {
        let init = "<command-message>init is analyzing</command-message>\n<command-name>/init</command-name>";
        for (text, typed) in [
            (init, "/init "),
            ("<command-name>review</command-name>\n <command-args> 12 \n</command-args>\n", "/review 12"),
            ("<command-message>x</command-message>", "<command-message>x</command-message>"),
            ("<command-name>/init</command-name> and more", "<command-name>/init</command-name> and more"),
            ("<command-name>/init</command-name> <b>more</b>", "<command-name>/init</command-name> <b>more</b>"),
            ("What is <command-name>/init</command-name>", "What is <command-name>/init</command-name>"),
            ("<bash-input>git status</bash-input>", "! git status"),
            ("<bash-input>git status</bash-input>?", "<bash-input>git status</bash-input>?"),
            ("/init", "/init"),
        ] {
            assert_eq!(as_typed(text.into()), typed);
        }
    }

    #[test]
    fn prompts_that_are_put_together_are_told_without_what_stands_between_them() {
        let between = "\n\nUser correction/guidance after interrupt: ";
        for (text, typed) in [
            (format!("one{between}two"), "one\n\ntwo"),
            (format!("one{between}two{between}three"), "one\n\ntwo\n\nthree"),
            (format!("{between}two"), &*format!("{between}two")),
            (format!("one{between}"), &*format!("one{between}")),
            (format!("one{}two", between.trim_start()), &*format!("one{}two", between.trim_start())),
        ] {
            assert_eq!(as_typed(text.as_str().into()), typed, "{text}");
        }
    }

    #[test]
    fn a_directory_before_a_prompt_is_none_of_it() {
        for (text, prompt) in [
            ("[Working directory: ~/w]\n\nGo", Some("Go")),
            ("[Working directory: /a [b]]\n\nGo\n\non", Some("Go\n\non")),
            ("[Working directory: ~/w]\nGo", None),
            ("[Working directory: ~/w\nx]\n\nGo", None),
            ("[Working directory: ]\n\nGo", None),
            ("[Working directory: ~/w]\n\n", None),
            (" [Working directory: ~/w]\n\nGo", None),
            ("Go", None),
        ] {
            assert_eq!(behind_directory(text), prompt, "{text}");
        }
    }

    #[test]
    fn elements_are_left_out_where_something_else_is_said() {
        for (text, left) in [
            ("print <system-reminder>x</system-reminder> twice", "print  twice"),
            ("a<command-args>1</command-args>b<command-args></command-args>c", "abc"),
            ("a<command-args>1<command-args>2</command-args>b</command-args>c", "ab</command-args>c"),
            ("a<command-args>1<system-reminder>2</command-args>b</system-reminder>c", "ab</system-reminder>c"),
            ("a<system-reminder>1<command-args>2</command-args>b", "a<system-reminder>1b"),
            ("<system-reminder>x</system-reminder>\n", "<system-reminder>x</system-reminder>\n"),
            ("a < b <system-reminder> c", "a < b <system-reminder> c"),
            ("会<<system-reminder>x</system-reminder>話", "会<話"),
            ("", ""),
        ] {
            assert_eq!(without_elements(text.into()), left, "{text}");
        }
    }

    #[test]
    fn elements_that_never_end_are_looked_for_once() {
        let begins: String = ELEMENTS.iter().map(|(begin, _)| *begin).collect();
        let many = begins.repeat(50_000);
        assert_eq!(outside_elements(&many), None);
        let ended = format!("{many}</system-reminder>x");
        let left = outside_elements(&ended).map(|left| left.len());
        assert_eq!(left, Some(begins.find("<system-reminder>").unwrap_or_default() + 1));
    }
}
