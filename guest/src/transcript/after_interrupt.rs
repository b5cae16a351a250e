//! What was said after a turn that was cancelled, as Hermes tells it: it writes the prompt that was cancelled before the next one, in the
//! same message. Where it has the prompt that was cancelled as well, what it tells in one message is this, with no answer between.

use std::borrow::Cow;

/// What stands between the two, and what of that is written alike in any JSON.
pub const AFTER_INTERRUPT: &str = "\n\nUser correction/guidance after interrupt: ";
const SIGN: &str = "User correction/guidance after interrupt: ";
/// What stands between what it tells in one message.
const BETWEEN: &str = "\n\n";
/// In how many places it is looked whether the same is told twice.
const MOST: usize = 32;

/// Whether [`said_after_interrupt`] may know the text in this JSON. Most are not such, and some are long.
pub fn may_be_after_interrupt(json: &str) -> bool {
    json.contains(SIGN)
}

/// What the user has said of this message, where the prompt that was cancelled is told as well. `before`: the message of the user's that
/// was told before this one, as it was told.
pub fn said_after_interrupt<'t>(text: &'t str, before: Option<&str>) -> Option<Cow<'t, str>> {
    let (cancelled, next) = text.rsplit_once(AFTER_INTERRUPT).filter(|(_, next)| !next.trim().is_empty())?;
    // That one may be told behind others that nobody has answered.
    let ends_so = |before: &str| ends_with(before.trim(), cancelled.trim());
    if before.is_some_and(ends_so) {
        return Some(Cow::Borrowed(next));
    }
    let message = without_its_end_again(cancelled)?;
    let said = said_after_interrupt(message, before).unwrap_or(Cow::Borrowed(message));
    Some(Cow::Owned(format!("{said}{BETWEEN}{next}")))
}

/// A message that is told here, and behind it its end, which is what was cancelled, or all of it, once more.
fn without_its_end_again(told: &str) -> Option<&str> {
    let half = told.floor_char_boundary(told.len().saturating_sub(BETWEEN.len()) / 2);
    let places = told[half..].match_indices(BETWEEN).map(|(at, _)| half + at).take(MOST);
    let messages = places.map(|at| (&told[..at], &told[at + BETWEEN.len()..]));
    messages.into_iter().find(|(message, again)| ends_with(message, again)).map(|(message, _)| message)
}

/// Whether this is the message, or what is told in it at last.
fn ends_with(message: &str, told: &str) -> bool {
    let rest = message.strip_suffix(told).filter(|_| !told.trim().is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(BETWEEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_what_stands_behind_the_prompt_that_was_cancelled() {
        let then = |cancelled: &str, next: &str| format!("{cancelled}{AFTER_INTERRUPT}{next}");
        let twice = |text: &str| format!("{text}\n\n{text}");
        let first = then(&twice("a\n\nb"), "c");
        let second = then(&format!("{first}\n\n{}", then("a\n\nb", "c")), "d");
        for (text, before, said) in [
            (then("a", "b"), Some("a"), Some("b")),
            (then("a\n\na", "b\n\nc"), Some("a\n\na"), Some("b\n\nc")),
            (then(&then("a", "b"), "c"), Some(&*then("a", "b")), Some("c")),
            (then("a", "b"), Some("x\n\na"), Some("b")),
            (then("a", "b"), Some("xa"), None),
            (then("a", "b"), Some("b"), None),
            (then("a", "b"), None, None),
            (first, Some("x"), Some("a\n\nb\n\nc")),
            (second, None, Some("a\n\nb\n\nc\n\nd")),
            (then("a\n\nba", "c"), None, None),
            (then("a", " "), Some("a"), None),
            (then("", "b"), Some("a"), None),
            ("会\n\n会".to_owned(), None, None),
            (then("会\n\n会", "話"), None, Some("会\n\n話")),
        ] {
            assert_eq!(said_after_interrupt(&text, before).as_deref(), said, "{text}");
        }
    }
}
