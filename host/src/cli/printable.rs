//! Text of others, as it may be printed. It may hold anything: a terminal would obey its control characters, a line break
//! would begin a row that nobody wrote, and marks of direction would have a name read as another one.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, StdoutLock, Write};

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

/// Whether it is not to be seen, or changes how others are seen. The joiners of letters and emoji are left.
pub(super) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Marks of direction.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Ends of lines and paragraphs.
            | '\u{2028}' | '\u{2029}'
            // Nothing, or blank.
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The same, cut to so many characters.
pub(super) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // Of what is cut off anyway only so much is looked at.
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let shown = printable(&text[..end], Form::Line);
    if end == text.len() {
        return shown;
    }
    Cow::Owned(shown.chars().take(most.saturating_sub(1)).chain(['…']).collect())
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
    }
}
