//! Text of others, as it may be printed. It may hold anything: a terminal would obey its control characters, a line break
//! would begin a row that nobody wrote, and marks of direction would have a name read as another one.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, StdoutLock, Write};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::shell_word::is_unseen;

/// What stands where a character cannot be shown.
const UNSEEN: char = char::REPLACEMENT_CHARACTER;

/// As what it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A part of one line: white space of any kind is a space.
    Line,
    /// Text that keeps its lines and tabs.
    Text,
    /// One line of JSON, for programs: what cannot be shown is escaped, so that nothing is lost.
    Json,
}

/// The one way for text of others to what people see.
pub(super) fn printable(text: &str, form: Form) -> Cow<'_, str> {
    let is_fine = |character: char| match character {
        '\n' | '\t' => form == Form::Text,
        character => !is_unseen(character),
    };
    if text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (form, character) {
            (_, character) if is_fine(character) => shown.push(character),
            (Form::Text, '\r') if characters.peek() == Some(&'\n') => {}
            // In a string of JSON there are none of these: they stand between its tokens.
            (Form::Line | Form::Json, '\n' | '\r' | '\t') => shown.push(' '),
            (Form::Line | Form::Text, _) => shown.push(UNSEEN),
            (Form::Json, character) => escape(character, &mut shown),
        }
    }
    Cow::Owned(shown)
}

/// As a string of JSON has it.
fn escape(character: char, into: &mut String) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        let _ = write!(into, "\\u{unit:04x}");
    }
}

/// One line of such text, cut to so many columns of a terminal, in which those of Chinese, Japanese and Korean take
/// two, and to as many characters.
pub(super) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // Of what is cut off anyway only so much is looked at.
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let shown = printable(&text[..end], Form::Line);
    if end == text.len() && columns(&shown) <= most {
        return shown;
    }
    let mut left = most.saturating_sub(1);
    let fits = |character: &char| {
        let is_room = character.width().unwrap_or_default() <= left;
        left = left.saturating_sub(character.width().unwrap_or_default());
        is_room
    };
    Cow::Owned(shown.chars().take(most.saturating_sub(1)).take_while(fits).chain(['…']).collect())
}

/// How many columns of a terminal it takes.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// This text, filled up with spaces to so many columns.
pub(super) fn padded(text: &str, to: usize) -> String {
    format!("{text}{:1$}", "", to.saturating_sub(columns(text)))
}

/// Standard output of a command. Whatever is written to it is made printable as text; what belongs to one line, its writer
/// makes so.
pub(super) struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    pub(super) fn stdout() -> Self {
        Self(BufWriter::new(io::stdout().lock()))
    }

    /// Writes a line of JSON.
    pub(super) fn json(&mut self, json: &str) -> io::Result<()> {
        writeln!(self, "{}", printable(json, Form::Json))
    }
}

impl Write for Out {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable(&String::from_utf8_lossy(text), Form::Text).as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\x1b[2J\r\nb\tc\u{9b}1m\u{202e}d\u{2066}\u{200b}e\u{7f}\u{e0041}";

    #[test]
    fn what_can_be_seen_stays_as_it_is() {
        let text = "控制 👩‍👩‍👧‍👦 e\u{301} 한글 العربية, \"quoted\" \\ <b>";
        for form in [Form::Line, Form::Text, Form::Json] {
            assert!(matches!(printable(text, form), Cow::Borrowed(same) if same == text), "{form:?}");
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_unseen() {
        assert_eq!(printable(HOSTILE, Form::Line), "a�[2J  b c�1m�d��e��");
        assert_eq!(printable(HOSTILE, Form::Text), "a�[2J\nb\tc�1m�d��e��");
        assert_eq!(printable("a\rb", Form::Text), "a�b");
    }

    #[test]
    fn json_loses_nothing() {
        let value = serde_json::json!({ "text": HOSTILE });
        let shown = printable(&value.to_string(), Form::Json).replace(',', ",\r\n\t");
        let shown = printable(&shown, Form::Json);
        assert!(!shown.chars().any(is_unseen), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("abc\n", 4), "abc ");
        assert_eq!(shortened("abcde", 4), "abc…");
        assert_eq!(shortened(&"ä".repeat(100_000), 3), "ää…");
        // What takes two columns is not cut in half, and what takes none still counts.
        for (text, expected) in
            [("東京", "東京"), ("東京a", "東…"), ("a東京", "a東…"), ("e\u{301}\u{301}\u{301}ab", "e\u{301}\u{301}…")]
        {
            assert_eq!(shortened(text, 4), expected);
        }
    }

    #[test]
    fn what_is_filled_up_takes_as_many_columns() {
        for (text, expected) in [("", "    |"), ("東", "東  |"), ("e\u{301}", "e\u{301}   |"), ("abcde", "abcde|")] {
            assert_eq!(padded(text, 4) + "|", expected);
        }
    }
}
