//! A compact account of a conversation, for an agent that has forgotten it or never knew it.

mod hearer;
mod left_out;
mod parts;
mod said;

use std::collections::BTreeSet;

use serde_json::json;

use super::entry::{Entry, Kind};
use super::own_words;
use super::position::Position;
use super::replay::{Replay, Start};
use super::spans::length;
use crate::storage::{Result, Storage};
use crate::store::Session;
pub use hearer::Hearer;
use left_out::{LeftOut, TurnsWithoutPrompt, begun_before};
use parts::{BETWEEN, Contributions};
use said::{ASSISTANT, Contribution, said};

/// How many entries from the end are looked at first, and how many times as many if those do not fill an account.
const FIRST_STRETCH: u64 = 512;
const MORE: u64 = 4;
const READ: u32 = 256 * 1024;
/// How many bytes are read at a time where only the first thing said is looked for.
const FIRST_READ: u32 = 16 * 1024;
/// So many entries are looked at for it before the last ones are.
const FIRST_CONSIDERED: usize = 256;

/// Whether anything was said behind this position (a count of entries), of which [`digest`] would tell. The first entries
/// there are looked at, then the last, and more and more of them: where nothing was said all are read, and at most as many
/// and a third again.
pub fn is_any_said<S: Storage>(storage: &S, session: &Session, heard: u64) -> Result<bool> {
    if let Some(is_any) = is_any_said_from(storage, session, heard, (FIRST_CONSIDERED, FIRST_READ))? {
        return Ok(is_any);
    }
    let length = length(storage, session)?;
    let mut stretch = FIRST_STRETCH;
    loop {
        let start = length.saturating_sub(stretch).max(heard);
        let is_any = is_any_said_from(storage, session, start, (usize::MAX, READ))?.unwrap_or_default();
        if is_any || start == heard {
            return Ok(is_any);
        }
        stretch = stretch.saturating_mul(MORE);
    }
}

/// Whether anything was said from this place on, read so many bytes at a time; not known where so many entries do not
/// tell.
fn is_any_said_from<S: Storage>(
    storage: &S,
    session: &Session,
    start: u64,
    (most, read): (usize, u32),
) -> Result<Option<bool>> {
    let mut replay = Replay::open(storage, session, Start::At(Position::at(start)))?;
    let mut looked_at = 0;
    let mut speaking: Option<(String, own_words::Stream)> = None;
    while let Some(entries) = replay.next_texts(storage, read)? {
        for Contribution { speaker, text, .. } in
            entries.iter().filter_map(|text| Entry::parse(text)).flat_map(|entry| said(&entry))
        {
            let (_, stream) = match &mut speaking {
                Some(same) if same.0 == speaker => same,
                other => {
                    if other.take().is_some_and(|(_, mut stream)| !stream.finish().trim().is_empty()) {
                        return Ok(Some(true));
                    }
                    other.insert((speaker, own_words::Stream::default()))
                }
            };
            if !stream.feed(&text).trim().is_empty() {
                return Ok(Some(true));
            }
        }
        looked_at += entries.len();
        if looked_at > most {
            return Ok(None);
        }
    }
    Ok(Some(speaking.is_some_and(|(_, mut stream)| !stream.finish().trim().is_empty())))
}

/// A content block (JSON) that tells what was said behind this position (a count of entries; 0: everything), marked as
/// the layer's; `None` if nothing was said there. It says whether the agent it is for took part before.
pub fn digest<S: Storage>(storage: &S, session: &Session, heard: u64) -> Result<Option<String>> {
    digest_for(storage, session, heard, None)
}

/// A content block (JSON) that tells what was said behind this position, as [`digest`] does, without what this one took
/// part in, or said by itself.
///
/// The last entries are read, and from further and further back, until what is told of them fills an account or all that is
/// unheard was read. So the log is read four times as far back as what is told stands at most, and what is read is read once,
/// and at most as much and a third again: all of the log where nearly nothing was said. No more is held than a piece of it,
/// the tags of turns and a few times an account.
pub fn digest_for<S: Storage>(
    storage: &S,
    session: &Session,
    heard: u64,
    without: Option<Hearer<'_>>,
) -> Result<Option<String>> {
    let length = length(storage, session)?;
    let mut stretch = FIRST_STRETCH;
    loop {
        let start = length.saturating_sub(stretch).max(heard);
        let is_all = start == heard;
        let parts = told_from(
            storage,
            session,
            start,
            without.map(|hearer| (hearer, TurnsWithoutPrompt::before(start, is_all))),
        )?;
        if is_all || !parts.is_whole() {
            return Ok(block_of(&parts.lines(), is_all && parts.is_whole(), heard > 0));
        }
        stretch = stretch.saturating_mul(MORE);
    }
}

/// What is told of what was said from this place on.
fn told_from<S: Storage>(
    storage: &S,
    session: &Session,
    start: u64,
    mut without: Option<(Hearer<'_>, TurnsWithoutPrompt)>,
) -> Result<Contributions> {
    let mut replay = Replay::open(storage, session, Start::At(Position::at(start)))?;
    let mut parts = Contributions::default();
    let mut left_out: Option<LeftOut> = None;
    let mut prompted: BTreeSet<String> = BTreeSet::new();
    while let Some(entries) = replay.next_texts(storage, READ)? {
        for entry in entries.iter().filter_map(|text| Entry::parse(text)) {
            let is_prompted = entry.turn.is_some_and(|tag| prompted.contains(tag));
            if let Some((hearer, begun)) = &mut without {
                // Another window's prompt may stand in the midst of its turn.
                if let Some(tag) = entry.turn.filter(|_| entry.kind == Kind::Prompt && hearer.took_part(&entry)) {
                    let same = left_out.filter(|left| left.is_of(Some(tag)));
                    left_out = same.or_else(|| Some(LeftOut::of(tag, *hearer)));
                }
                if let Some(left) = left_out.as_mut().filter(|left| left.is_of(entry.turn)) {
                    parts.append(left.take_in(&entry));
                    continue;
                }
                if hearer.has_said(&entry) || !is_prompted && begun.is_of(storage, session, &entry, *hearer)? {
                    continue;
                }
                if entry.kind == Kind::TurnEnd && !is_prompted {
                    parts.append(begun_before(storage, session, &entry, *hearer)?);
                    continue;
                }
            }
            // Its prompt stands before what is told, and another's may stand between.
            let goes_on = entry.turn.is_some() && !is_prompted && entry.kind != Kind::Prompt;
            if let Some(tag) = entry.turn.filter(|_| entry.kind == Kind::Prompt && !is_prompted) {
                prompted.insert(tag.to_owned());
            }
            parts.extend(entry.turn, said(&entry).into_iter().map(|told| if goes_on { going_on(told) } else { told }));
        }
    }
    parts.close();
    Ok(parts)
}

/// The content block that tells this; `None` where it is nothing.
fn block_of(lines: &[String], is_whole: bool, took_part: bool) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let continuation = if took_part { own_words::CONTINUATION } else { "" };
    let scope = if is_whole { "" } else { own_words::ONLY_LAST_PART };
    let (opening, context, closing) = (own_words::OPENING, own_words::CONTEXT, own_words::CLOSING);
    let text = format!("{opening}{continuation}{scope}{context}\n\n{}\n\n{closing}", lines.join(BETWEEN));
    Some(json!({"type": "text", "text": text, "_meta": {"acp-sessions": {"rehydrated": true}}}).to_string())
}

/// Of a turn whose prompt is not told: what its agent said is no answer to what stands before it.
fn going_on(told: Contribution) -> Contribution {
    if told.speaker != ASSISTANT {
        return told;
    }
    Contribution { speaker: format!("{ASSISTANT}, going on with an earlier answer"), ..told }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::parts::LIMIT;
    use super::*;
    use crate::storage::{Durability, Memory, Write};
    use crate::store::Store;

    fn said_in(entries: &[(Kind, Option<&str>, Value)], heard: u64) -> Option<String> {
        let store = Store::new(Memory::new());
        let writes = (1..).zip(entries).map(|(seq, (kind, turn, json))| Write::Append {
            log: "s".to_owned(),
            seq,
            value: Entry::tagged(*kind, 1, *turn, &json.to_string()),
        });
        store.commit(&[], writes.collect(), Durability::Relaxed).unwrap();
        let session = Session::new("s".to_owned(), "/w".to_owned(), 1);
        let block = digest(store.storage(), &session, heard).unwrap();
        assert_eq!(is_any_said(store.storage(), &session, heard).unwrap(), block.is_some());
        let block = block?;
        let block: Value = serde_json::from_str(&block).unwrap();
        Some(block["text"].as_str().unwrap().to_owned())
    }

    fn prompt(text: &str) -> (Kind, Option<&str>, Value) {
        (Kind::Prompt, None, json!({"prompt": [{"type": "text", "text": text}], "messageId": "1"}))
    }

    fn answer(text: &str) -> (Kind, Option<&str>, Value) {
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        (Kind::Update, None, json!({ "update": update }))
    }

    #[test]
    fn an_account_tells_what_lies_behind_what_was_heard() {
        let end = (Kind::TurnEnd, None, json!({"stopReason": "end_turn"}));
        let entries = [prompt("one"), answer("first"), end.clone(), prompt("two"), answer("second"), end];
        let whole = said_in(&entries, 0).unwrap();
        assert!(whole.contains("User: one\n\nAssistant: first\n\nUser: two\n\nAssistant: second"), "{whole}");
        assert!(!whole.contains("last"), "{whole}");
        let rest = said_in(&entries, 3).unwrap();
        assert!(rest.contains("since you last took part") && !rest.contains("only its last part"), "{rest}");
        assert!(rest.contains("User: two\n\nAssistant: second") && !rest.contains("one"), "{rest}");
        for heard in [5, 6, 7, u64::MAX] {
            assert_eq!(said_in(&entries, heard), None);
        }
        assert_eq!(own_words::strip(&whole), "");
        assert_eq!(own_words::strip(&rest), "");
    }

    #[test]
    fn what_was_said_in_two_turns_at_once_is_told_apart() {
        let of = |turn, text| (Kind::Update, Some(turn), answer(text).2);
        let prompt = |turn, text| (Kind::Prompt, Some(turn), prompt(text).2);
        let entries = [prompt("1", "one"), of("1", "a "), of("1", "b"), of("2", "c"), of("1", "d"), of("1", "e")];
        let told = said_in(&entries, 0).unwrap();
        assert!(
            told.contains("User: one\n\nAssistant: a bde\n\nAssistant, going on with an earlier answer: c\n"),
            "{told}"
        );
    }

    #[test]
    fn messages_of_one_answer_are_told_apart_and_chunks_of_one_message_are_not() {
        let of = |message: &str, text: &str| {
            let (kind, _, mut params) = answer(text);
            params["update"]["messageId"] = json!(message);
            (kind, None, params)
        };
        let told = said_in(
            &[
                prompt("one"),
                of("1", "I will look at "),
                of("1", "the file."),
                of("2", "Found it.\n"),
                of("3", "Fixed"),
                answer(" too."),
            ],
            0,
        );
        let told = told.unwrap();
        assert!(told.contains("Assistant: I will look at the file.\n\nFound it.\nFixed too.\n"), "{told}");
    }

    #[test]
    fn the_rest_of_an_answer_is_not_taken_for_one_to_another_prompt() {
        let of = |turn, text| (Kind::Update, Some(turn), answer(text).2);
        let prompt = |turn, text| (Kind::Prompt, Some(turn), prompt(text).2);
        let end = |turn| (Kind::TurnEnd, Some(turn), json!({"stopReason": "end_turn"}));
        let entries = [prompt("1", "one"), of("1", "a"), prompt("2", "two"), of("1", "b"), end("1"), of("2", "c")];
        let told = said_in(&entries, 2).unwrap();
        assert!(told.contains("User: two") && told.contains("Assistant: c"), "{told}");
        assert!(told.contains("Assistant, going on with an earlier answer: b"), "{told}");
    }

    #[test]
    fn an_account_never_tells_of_itself_and_says_what_is_missing() {
        let inner = said_in(&[prompt("one")], 0).unwrap();
        let gap = (Kind::Gap, None, json!({"reason": "", "entries": 3}));
        let quoted = format!("{inner}\n\ngo on {}", own_words::CLOSING);
        let text = said_in(&[prompt(&inner), prompt(&quoted), gap, answer("x")], 0).unwrap();
        assert_eq!(text.matches(own_words::OPENING).count(), 1, "{text}");
        assert_eq!(text.matches(own_words::CLOSING).count(), 1, "{text}");
        assert!(text.contains("User: go on") && text.contains("not recorded") && !text.contains("one"), "{text}");
        assert_eq!(said_in(&[prompt(&inner)], 0), None);
    }

    #[test]
    fn an_account_given_back_in_pieces_or_far_from_anything_said_is_nothing_said() {
        let account = said_in(&[prompt("one")], 0).unwrap();
        let (half, rest) = account.split_at(20);
        assert_eq!(said_in(&[answer(half), answer(rest)], 0), None);
        let plan = || (Kind::Update, None, json!({"update": {"sessionUpdate": "plan", "entries": []}}));
        let quiet: Vec<_> = (0..300).map(|_| plan()).collect();
        assert_eq!(said_in(&quiet, 0), None);
        let spoken: Vec<_> = quiet.into_iter().chain([prompt("one")]).collect();
        assert!(said_in(&spoken, 0).is_some());
    }

    #[test]
    fn a_long_contribution_is_told_whole_where_there_is_room_and_hides_nothing_else() {
        let long = |words: usize| (0..words).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
        let text = said_in(&[prompt("one"), answer(&long(3000)), prompt("two"), answer("second")], 0).unwrap();
        assert!((0..3000).all(|word| text.contains(&format!("w{word}"))), "{text}");
        assert!(!text.contains("[…]"), "all of it has room");
        for words in [9_000, 20_000, 100_000] {
            let long = long(words);
            let entries = [prompt("one"), answer(&long), prompt("two"), answer("second")];
            let text = said_in(&entries, 0).unwrap();
            let last = format!("w{}", words - 1);
            let told = ["User: one", "w0 ", "[…]", &last, "User: two", "Assistant: second"];
            assert!(text.len() < LIMIT + 1000 && told.iter().all(|told| text.contains(told)), "{words}: {text}");
        }
    }

    #[test]
    fn a_long_conversation_gives_its_end() {
        let long = "word ".repeat(1000);
        let entries: Vec<_> = (0..40).flat_map(|_| [prompt(&long), answer(&long)]).chain([answer("the end")]).collect();
        let text = said_in(&entries, 1).unwrap();
        assert!(text.len() < LIMIT + 1000 && text.contains("the end"));
        assert!(text.contains(own_words::ONLY_LAST_PART) && text.contains(own_words::CONTINUATION));
    }
}
