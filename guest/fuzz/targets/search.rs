//! Text and queries: tokens lie within the text and in its order, the index and the snippet agree, and every word of
//! a text finds it.

#![no_main]

use acp_sessions_guest::index::tokens::{compose, tokens};
use acp_sessions_guest::search::query::Query;
use acp_sessions_guest::search::snippet::snippet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let (query, text) = input.split_once('\n').unwrap_or((input, input));
    let text = compose(text);
    let mut last = 0;
    for token in tokens(&text) {
        assert!(token.start >= last && token.start < token.end && token.end <= text.len());
        assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end));
        assert!(!token.text.is_empty() && !token.text.contains(' '));
        last = token.start;
    }
    if let Ok(Some(query)) = Query::parse(query) {
        for term in &query.terms {
            assert!(!term.tokens.is_empty());
            let _ = snippet(&text, term);
        }
    }
    for word in text.split_whitespace().filter(|word| !word.contains('"')).take(8) {
        if let Ok(Some(query)) = Query::parse(word) {
            for term in &query.terms {
                assert!(snippet(&text, term).is_some(), "{word:?} is not found in {text:?}");
            }
        }
    }
});
