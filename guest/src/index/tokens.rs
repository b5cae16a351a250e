//! Folding and splitting text.
//!
//! Words are runs of letters and digits, in lower case and without accents. Scripts that are written without spaces
//! (Chinese, Japanese, Thai, Lao, Khmer, Burmese) have no words to split at: each run of such characters is indexed
//! as its overlapping pairs and its last character alone. A query of two characters or more is then a phrase of
//! pairs, and one of a single character is a prefix.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A token and where it stands in the composed (NFC) text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Folded.
    pub text: String,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// Whether it is of a script without spaces.
    pub unspaced: bool,
}

/// A folded character of a script without spaces, and where it stands.
struct Piece {
    text: String,
    at: Range<usize>,
}

/// The text as offsets refer to it, which most texts are already.
pub fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// The tokens to index, in order. Where they stand is said of the text as it is composed.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    each(text, |token, at, unspaced| {
        tokens.push(Token { text: token.to_owned(), start: at.start, end: at.end, unspaced });
    });
    tokens
}

/// Gives the tokens one after the other: folded, where it stands, and whether it is of a script without spaces. All that
/// is said goes through here, so words cost no allocation of their own. Korean syllables and voiced kana may come in pieces, as
/// they do in the file names of some systems, and are found however they are typed.
pub fn each(text: &str, mut give: impl FnMut(&str, Range<usize>, bool)) {
    let text = compose(text);
    // The last character of a run of such a script, with which the next makes a pair.
    let mut last: Option<Piece> = None;
    let (mut word, mut at) = (String::new(), 0..0);
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        // Most of what is said is ASCII, for which it is soon told.
        let (is_word, is_unspaced) = if c.is_ascii() {
            (c.is_ascii_alphanumeric() || c == '_', false)
        } else if is_mark(c) {
            continue;
        } else {
            (c.is_alphanumeric(), is_unspaced(c))
        };
        if (is_unspaced || !is_word) && !at.is_empty() {
            end_word(&mut word, &mut at, &mut give);
        }
        if is_unspaced {
            let mut text = String::new();
            fold(c, &mut text);
            let piece = Piece { text, at: start..end };
            if let Some(before) = last.take() {
                give_pair(before, &piece, &mut give);
            }
            last = Some(piece);
            continue;
        }
        if let Some(piece) = last.take() {
            end_run(&piece, &mut give);
        }
        if is_word {
            fold(c, &mut word);
            at = if at.is_empty() { start..end } else { at.start..end };
        }
    }
    end_word(&mut word, &mut at, &mut give);
    if let Some(piece) = last {
        end_run(&piece, &mut give);
    }
}

/// Gives the word that has come to its end, if anything is left of it.
fn end_word(word: &mut String, at: &mut Range<usize>, give: &mut impl FnMut(&str, Range<usize>, bool)) {
    let at = std::mem::take(at);
    if !word.is_empty() {
        give(word, at, false);
        word.clear();
    }
}

/// Whether what stands before this character and what stands behind it have no token in common, and neither is
/// changed by the other.
pub fn separates(c: char) -> bool {
    !(c.is_alphanumeric() || c == '_' || is_mark(c) || is_unspaced(c) || canonical_combining_class(c) != 0)
}

/// Two neighbours in a run.
fn give_pair(first: Piece, second: &Piece, give: &mut impl FnMut(&str, Range<usize>, bool)) {
    let Piece { text: mut pair, at } = first;
    pair.push_str(&second.text);
    if !pair.is_empty() {
        give(&pair, at.start..second.at.end, true);
    }
}

/// The last character of a run.
fn end_run(last: &Piece, give: &mut impl FnMut(&str, Range<usize>, bool)) {
    if !last.text.is_empty() {
        give(&last.text, last.at.clone(), true);
    }
}

/// Adds a character in lower case, compatibility forms resolved, accents dropped.
fn fold(c: char, folded: &mut String) {
    if c.is_ascii() {
        folded.push(c.to_ascii_lowercase());
        return;
    }
    let bare: String = std::iter::once(c).nfkd().filter(|c| !is_mark(*c)).nfc().collect();
    let lower = bare.to_lowercase();
    for c in lower.chars().filter(|c| !is_mark(*c) && !c.is_whitespace()) {
        match c {
            // Capitals do not tell these from their other forms.
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            c => folded.push(c),
        }
    }
}

/// Combining accents, which Latin, Greek and Cyrillic words are found without.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_same_tokens_in_either_unicode_form() {
        for (text, expected) in [
            ("한국어 프로젝트", "한국어 프로젝트"),
            ("バグ", "バグ グ"),
            ("ガイドで", "ガイ イド ドで で"),
            ("ぱんだ", "ぱん んだ だ"),
            ("việt Ёлка ά", "viet елка α"),
        ] {
            let (composed, decomposed) = (text.nfc().collect::<String>(), text.nfd().collect::<String>());
            assert_ne!(composed, decomposed, "{text}");
            for form in [&composed, &decomposed] {
                let found: Vec<String> = tokens(form).into_iter().map(|token| token.text).collect();
                assert_eq!(found.join(" "), expected, "{form:?}");
            }
            assert_eq!(tokens(&composed), tokens(&decomposed), "where they stand is said of the composed text");
        }
    }

    #[test]
    fn words_and_pairs() {
        for (text, expected) in [
            ("Fix the Bug, now!", "fix the bug now"),
            ("Café ÉCOLE straße STRASSE", "cafe ecole strasse strasse"),
            ("Σίσυφος ΣΊΣΥΦΟΣ", "σισυφοσ σισυφοσ"),
            ("Cafe\u{301}", "cafe"),
            ("Привет Ёлка", "привет елка"),
            ("東京都", "東京 京都 都"),
            ("本", "本"),
            ("Rust言語v2", "rust 言語 語 v2"),
            ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย ย"),
            ("한국어 문서", "한국어 문서"),
            ("snake_case x=1", "snake_case x 1"),
            ("ﬁle ２", "file 2"),
            ("", ""),
        ] {
            let found: Vec<String> = tokens(text).into_iter().map(|token| token.text).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
