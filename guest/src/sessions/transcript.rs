//! Reading a transcript a page at a time, for those who have no connection to replay it to.

use super::place;
use crate::storage::{Storage, StorageError};
use crate::store::{Session, Store};
use crate::transcript::{Entry, Part, Position, Progress, Replay, Start};

/// How many bytes are read at a time.
pub(super) const BATCH_BYTES: u32 = 256 * 1024;
/// How many bytes of entries make a page full.
pub const BYTES: usize = 4 * 1024 * 1024;

/// Why there is no transcript.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// There is no such session.
    #[error("no session has this id")]
    NotFound,
    /// The cursor is none, or the transcript has no such place (any more).
    #[error("`after` is not a cursor of this transcript, or not any more")]
    Place,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptPage {
    /// Updates, each with the cursor to go on at after it.
    pub updates: Vec<(String, String)>,
    /// Whether there may be more.
    pub more: bool,
}

/// What the cursors begin with of what was taken out of a conversation.
pub(super) const ASIDE: &str = "aside-";

/// The updates of a session after a cursor, about `limit` of them, and not many more bytes than [`BYTES`]: an entry is
/// never split. There is at least one where any is left.
pub fn transcript<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<TranscriptPage, TranscriptError> {
    page(store, id, Part::Conversation, after, limit)
}

/// The updates after a cursor, about `limit` of them, of what was taken out of the conversation because its agent went
/// back behind it.
pub fn set_aside<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<TranscriptPage, TranscriptError> {
    let after = after.map(|after| after.strip_prefix(ASIDE).ok_or(TranscriptError::Place)).transpose()?;
    let mut page = page(store, id, Part::SetAside, after, limit)?;
    for (cursor, _) in &mut page.updates {
        cursor.insert_str(0, ASIDE);
    }
    Ok(page)
}

/// A session, and a replay of a part of it behind a cursor.
pub(super) fn open<S: Storage>(
    store: &Store<S>,
    id: &str,
    part: Part,
    after: Option<&str>,
) -> Result<(Session, Replay), TranscriptError> {
    let session = store.session(id)?.ok_or(TranscriptError::NotFound)?;
    let start = match after.map(|after| place::from_cursor(after, id, part)) {
        None => Position::default(),
        Some(Some((layout, position))) if layout == session.layout => position,
        Some(_) => return Err(TranscriptError::Place),
    };
    let replay = Replay::of(store.storage(), &session, part, Start::At(start), &|_| true)?;
    if replay.contains(replay.position()) { Ok((session, replay)) } else { Err(TranscriptError::Place) }
}

/// Of a transcript that is deleted while it is read there may be no end.
pub(super) fn still_there<S: Storage>(store: &Store<S>, id: &str) -> Result<(), TranscriptError> {
    store.session(id)?.map(|_| ()).ok_or(TranscriptError::NotFound)
}

fn page<S: Storage>(
    store: &Store<S>,
    id: &str,
    part: Part,
    after: Option<&str>,
    limit: u32,
) -> Result<TranscriptPage, TranscriptError> {
    let (session, mut replay) = open(store, id, part, after)?;
    let mut updates: Vec<(String, String)> = Vec::new();
    let mut bytes = 0;
    let limit = (limit as usize).max(1);
    while let Progress::Entries(entries) = replay.next(store.storage(), BATCH_BYTES)? {
        for (position, text) in entries {
            if updates.len() >= limit || bytes >= BYTES {
                return Ok(TranscriptPage { updates, more: true });
            }
            bytes += text.len();
            let read = Entry::parse(&text).map(|entry| entry.updates()).unwrap_or_default();
            let cursor = place::to_cursor(&session, part, &position);
            updates.extend(read.into_iter().map(|update| (cursor.clone(), update)));
        }
    }
    still_there(store, id)?;
    Ok(TranscriptPage { updates, more: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Durability, Memory, Write};
    use crate::store::Decision;
    use crate::transcript::Kind;

    /// A session with this many updates of so many bytes, and a store that holds it.
    fn stored(updates: u32, bytes: usize) -> Store<Memory> {
        let store = Store::new(Memory::new());
        store.change("s").commit(|_, _, _| Ok(Decision::put(Session::new("s".into(), "/w".into(), 1)))).unwrap();
        let pad = "x".repeat(bytes);
        let text = |at| Entry::text(Kind::Update, 1, &format!("{{\"update\":{{\"at\":{at},\"pad\":\"{pad}\"}}}}"));
        let writes = (1..=updates).map(|seq| Write::Append { log: "s".into(), seq, value: text(seq) });
        store.commit(&[], writes.collect(), Durability::Relaxed).unwrap();
        store
    }

    #[test]
    fn pages_follow_each_other_and_are_bounded_in_updates_and_bytes() {
        for (updates, bytes, limit, longest) in [(10, 1, 3, 3), (10, 1, 0, 1), (4, 1, 100, 4), (9, 1_000_000, 100, 5)] {
            let store = stored(updates, bytes);
            let mut found = Vec::new();
            let mut after = None;
            loop {
                let page = transcript(&store, "s", after.as_deref(), limit).unwrap();
                assert!(page.updates.len() <= longest, "{}", page.updates.len());
                after = page.updates.last().map(|(cursor, _)| cursor.clone()).or(after);
                found.extend(page.updates.into_iter().map(|(_, update)| update));
                if !page.more {
                    break;
                }
            }
            let numbers = found.iter().map(|update| serde_json::from_str::<serde_json::Value>(update).unwrap());
            assert_eq!(
                numbers.map(|update| update["at"].as_u64().unwrap()).collect::<Vec<_>>(),
                (1..=u64::from(updates)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn cursors_of_another_layout_or_behind_the_end_are_refused() {
        let store = stored(3, 1);
        for (cursor, is_taken) in
            [("r1-3", true), ("r2-0-3", true), ("r2-1-3", false), ("r1-4", false), ("r2-0-1-d9.t", false), ("x", false)]
        {
            let page = transcript(&store, "s", Some(cursor), 10);
            assert_eq!(page.is_ok(), is_taken, "{cursor}");
            assert!(is_taken || matches!(page, Err(TranscriptError::Place)));
        }
        assert!(matches!(transcript(&store, "t", None, 10), Err(TranscriptError::NotFound)));
    }

    #[test]
    fn behind_a_piece_of_a_message_comes_its_rest_and_behind_one_that_is_another_by_now_nothing() {
        let piece = |text: &str| {
            let content = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
            let update = format!("{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{content}}}");
            (update.clone(), Entry::tagged(Kind::Update, 1, Some("t"), &format!("{{\"update\":{update}}}")))
        };
        for (now, rest) in [
            ("So far", Some(vec![])),
            ("So far, so good", Some(vec![piece(", so good").0])),
            ("So f", None),
            ("Another text", None),
        ] {
            let store = stored(0, 0);
            let write = |write| store.commit(&[], vec![write], Durability::Relaxed).unwrap();
            write(Write::Append { log: "s".into(), seq: 1, value: piece("So far").1 });
            let begun = transcript(&store, "s", None, 10).unwrap();
            write(Write::Amend { log: "s".into(), seq: 1, value: piece(now).1 });
            let page = transcript(&store, "s", Some(&begun.updates[0].0), 10);
            let given = page.as_ref().ok().map(|page| page.updates.iter().map(|(_, update)| update.clone()).collect());
            assert_eq!(given, rest, "{now}");
            assert!(rest.is_some() || matches!(page, Err(TranscriptError::Place)));
        }
    }
}
