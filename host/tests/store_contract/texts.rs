//! Search: the engine has folded and split what it gives; a store finds exactly that.

use acp_sessions_host::component::storage::StorageError;
use acp_sessions_host::component::storage::{Host, TextCut, TextHit, TextPart, TextScope, TextTerm, Write};

use super::{on_every_store, try_write, write};

fn index(owner: &str, part: u32, tokens: &str) -> Write {
    Write::IndexText(TextPart { owner: owner.into(), part, tokens: tokens.into() })
}

/// The words of a term; a `*` at the end makes it a prefix.
fn term(words: &str) -> TextTerm {
    let prefix = words.len() > 1 && words.ends_with('*');
    let words = if prefix { &words[..words.len() - 1] } else { words };
    TextTerm { tokens: words.split(' ').map(Into::into).collect(), prefix }
}

fn search(store: &mut dyn Host, words: &str, after: Option<(&str, u32)>, limit: u32) -> Vec<(String, u32)> {
    let after = after.map(|(owner, part)| TextHit { owner: owner.into(), part });
    let hits = store.search_text(term(words), after, limit).expect("no trap").expect("found");
    hits.into_iter().map(|hit| (hit.owner, hit.part)).collect()
}

fn owners(store: &mut dyn Host, words: &str) -> String {
    search(store, words, None, 100).into_iter().map(|(owner, _)| owner).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_phrases_and_prefixes_are_found_in_any_script() {
    on_every_store(|store| {
        write(
            store,
            vec![
                index("o1", 0, "the quick brown fox 2026 snake_case"),
                index("o2", 0, "über straße naïve e\u{301}tude"),
                index("o3", 0, "東京 京都 都大 大学 東 京 都 大 学"),
                index("o4", 0, "สวั วัส ัสด สดี"),
                index("o5", 0, "привет мир ελλάδα नमस्ते שלום سلام"),
                index("o6", 0, "\u{1f600} \u{30edd} \u{1e900} \u{10ffff}"),
                index("o7", 0, "and or not near col: a.b \"q\" x*y (p) ^c -m + 'z'"),
                index("o8", 0, "quick the fox brown"),
            ],
        );
        let cases = [
            ("quick", "o8 o1"),
            ("the quick", "o1"),
            ("quick brown fox", "o1"),
            ("brown*", "o8 o1"),
            ("qu*", "o8 o1"),
            ("q*", "o8 o1"),
            ("quick bro*", "o1"),
            ("the fox*", "o8"),
            ("quic", ""),
            ("uick*", ""),
            ("2026", "o1"),
            ("20*", "o1"),
            ("snake_case", "o1"),
            ("snake", ""),
            ("snake*", "o1"),
            ("über", "o2"),
            ("uber", ""),
            ("str*", "o2"),
            ("naïve e\u{301}tude", "o2"),
            ("etude", ""),
            ("東京 京都", "o3"),
            ("東*", "o3"),
            ("京", "o3"),
            ("大阪", ""),
            ("สวั วัส", "o4"),
            ("ัส*", "o4"),
            ("прив*", "o5"),
            ("мир ελλάδα", "o5"),
            ("नमस्ते", "o5"),
            ("नमस्*", "o5"),
            ("שלום سلام", "o5"),
            ("\u{1f600}", "o6"),
            ("\u{30edd} \u{1e900}", "o6"),
            ("\u{10ffff}*", "o6"),
            ("and or not", "o7"),
            ("or*", "o7"),
            ("near", "o7"),
            ("col:", "o7"),
            ("a.b", "o7"),
            ("a", ""),
            ("\"q\"", "o7"),
            ("x*y", "o7"),
            ("(p) ^c -m + 'z'", "o7"),
            ("nowhere", ""),
        ];
        for (words, found) in cases {
            assert_eq!(owners(store, words), found, "{words}");
        }
    });
}

#[test]
fn every_printable_character_belongs_to_its_token() {
    on_every_store(|store| {
        // Letters are folded by the engine: upper-case ones never come.
        let characters: Vec<char> = ('!'..='~').filter(|character| !character.is_ascii_uppercase()).collect();
        let tokens: Vec<String> = characters.iter().map(|character| format!("a{character}b")).collect();
        write(store, vec![index("o", 0, &tokens.join(" "))]);
        for character in characters {
            assert_eq!(owners(store, &format!("a{character}b")), "o", "{character}");
        }
        for not_alone in ["a", "b", "\"\"", "a\"", "*"] {
            assert_eq!(owners(store, not_alone), "", "{not_alone}");
        }
    });
}

#[test]
fn hits_come_newest_first_page_by_page() {
    on_every_store(|store| {
        for owner in ["o1", "o2", "o3"] {
            write(store, (0..4).map(|part| index(owner, part, if part % 2 == 0 { "yes" } else { "no" })).collect());
        }
        let all = [("o3", 2), ("o3", 0), ("o2", 2), ("o2", 0), ("o1", 2), ("o1", 0)];
        let all: Vec<(String, u32)> = all.map(|(owner, part)| (owner.to_owned(), part)).to_vec();
        assert_eq!(search(store, "yes", None, 100), all);
        for size in 1..=4 {
            let mut found: Vec<(String, u32)> = Vec::new();
            loop {
                let last = found.last().cloned();
                let after = last.as_ref().map(|(owner, part)| (owner.as_str(), *part));
                let page = search(store, "yes", after, size);
                if page.is_empty() {
                    break;
                }
                assert!(page.len() <= size as usize);
                found.extend(page);
            }
            assert_eq!(found, all, "pages of {size}");
        }
        assert_eq!(search(store, "y*", Some(("o2", 1)), 2), [("o2".to_owned(), 0), ("o1".to_owned(), 2)]);
        write(store, vec![Write::DropText(TextCut { owner: "o2".into(), start: 0 })]);
        assert_eq!(search(store, "yes", Some(("o2", 2)), 1), [("o1".to_owned(), 2)], "on from one that is gone");
    });
}

#[test]
fn the_first_part_within_each_scope() {
    on_every_store(|store| {
        write(
            store,
            vec![index("o1", 0, "no"), index("o1", 2, "yes no"), index("o1", 5, "yes"), index("o2", 1, "yes")],
        );
        let scope = |owner: &str, until| TextScope { owner: owner.into(), until };
        let scopes = vec![
            scope("o1", 9),
            scope("o1", 1),
            scope("o1", 2),
            scope("o2", 0),
            scope("o2", u32::MAX),
            scope("none", 9),
            scope("o1", 9),
        ];
        let found = store.find_text(term("ye*"), scopes).expect("no trap");
        assert_eq!(found, Ok(vec![Some(2), None, Some(2), None, Some(1), None, Some(2)]));
        assert_eq!(store.find_text(term("yes no"), vec![scope("o1", 9)]).expect("no trap"), Ok(vec![Some(2)]));
        assert_eq!(store.find_text(term("yes"), vec![]).expect("no trap"), Ok(vec![]));
    });
}

#[test]
fn long_prefixes_stand_for_few_tokens_or_for_many() {
    on_every_store(|store| {
        write(
            store,
            (0..200).map(|number| index(&format!("o{number:03}"), 0, &format!("next token{number} end"))).collect(),
        );
        write(store, vec![index("o200", 0, "tokenless"), index("o200", 1, "untoken1 next tok")]);
        let scopes =
            || vec![TextScope { owner: "o017".into(), until: 9 }, TextScope { owner: "o200".into(), until: 9 }];
        for (words, count, found) in [
            ("token*", 201, [Some(0), Some(0)]),
            ("next token*", 200, [Some(0), None]),
            ("token17*", 11, [Some(0), None]),
            ("next token17*", 11, [Some(0), None]),
            ("tokenl*", 1, [None, Some(0)]),
            ("token17* end", 0, [None, None]),
            ("untoken1 next*", 1, [None, Some(1)]),
            ("tokens*", 0, [None, None]),
        ] {
            assert_eq!(search(store, words, None, 1000).len(), count, "{words}");
            assert_eq!(store.find_text(term(words), scopes()).expect("no trap"), Ok(found.to_vec()), "{words}");
        }
    });
}

#[test]
fn texts_are_replaced_and_dropped() {
    on_every_store(|store| {
        write(store, vec![index("o1", 0, "old"), index("o1", 1, "old"), index("o2", 0, "old")]);
        write(store, vec![index("o1", 1, "new")]);
        assert_eq!(search(store, "old", None, 9), [("o2".to_owned(), 0), ("o1".to_owned(), 0)]);
        assert_eq!(search(store, "new", None, 9), [("o1".to_owned(), 1)]);
        write(store, vec![Write::DropText(TextCut { owner: "o1".into(), start: 1 })]);
        assert_eq!(search(store, "new", None, 9), []);
        assert_eq!(search(store, "old", None, 9), [("o2".to_owned(), 0), ("o1".to_owned(), 0)]);
        write(
            store,
            vec![
                Write::DropText(TextCut { owner: "o1".into(), start: 0 }),
                Write::DropText(TextCut { owner: "none".into(), start: 0 }),
                index("o1", 0, "again"),
            ],
        );
        assert_eq!(search(store, "old", None, 9), [("o2".to_owned(), 0)]);
        assert_eq!(search(store, "again", None, 9), [("o1".to_owned(), 0)]);
    });
}

#[test]
fn the_number_of_a_part_has_a_bound() {
    on_every_store(|store| {
        let last = (1 << 28) - 1;
        write(store, vec![index("o1", last, "last"), index("o2", 0, "first")]);
        for beyond in [last + 1, u32::MAX] {
            assert_eq!(try_write(store, vec![index("o1", beyond, "beyond")]), Err(StorageError::TooLarge), "{beyond}");
        }
        assert_eq!(search(store, "last", None, 9), [("o1".to_owned(), last)]);
        let scope = |owner: &str| TextScope { owner: owner.into(), until: u32::MAX };
        let found = store.find_text(term("last"), vec![scope("o1"), scope("o2")]).expect("no trap");
        assert_eq!(found, Ok(vec![Some(last), None]));
        write(store, vec![Write::DropText(TextCut { owner: "o1".into(), start: u32::MAX })]);
        assert_eq!(search(store, "last", None, 9), [("o1".to_owned(), last)]);
    });
}

#[test]
fn owners_are_named_in_order_a_few_at_a_time() {
    on_every_store(|store| {
        let owners = |store: &mut dyn Host, after: Option<&str>, limit| {
            store.text_owners(after.map(str::to_owned), limit).expect("no trap").expect("names").join(" ")
        };
        assert_eq!(owners(store, None, 10), "");
        write(store, ["b", "a", "\u{e9}", "a b", "B"].map(|owner| index(owner, 3, "word")).to_vec());
        write(store, vec![index("a", 1, "word"), index("a", 9, "word")]);
        for (after, limit, names) in [
            (None, 10, "B a a b b \u{e9}"),
            (None, 2, "B a"),
            (Some("a"), 2, "a b b"),
            (Some("a\0"), 1, "a b"),
            (Some("C"), 1, "a"),
            (Some("\u{e9}"), 10, ""),
            (None, 0, ""),
        ] {
            assert_eq!(owners(store, after, limit), names, "{after:?} {limit}");
        }
    });
}

#[test]
fn a_part_without_tokens_is_no_part() {
    on_every_store(|store| {
        write(store, vec![index("o", 1, "one"), index("o", 2, "two"), index("never", 1, "")]);
        write(store, vec![index("o", 1, "")]);
        assert_eq!((owners(store, "one").as_str(), owners(store, "two").as_str()), ("", "o"));
        write(store, vec![index("o", 1, "again")]);
        assert_eq!(owners(store, "again"), "o");
    });
}
