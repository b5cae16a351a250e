//! Recording: entries are gathered, text runs joined, and written in batches.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::entry::{Entry, Kind};
use crate::rpc::Object;
use crate::search;
use crate::storage::{Durability, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Store, keys};

/// A run of text is closed at this size, so that what is written again with each batch stays small.
const LONGEST_RUN: usize = 16 * 1024;
/// Gathered bytes that are written without waiting for the next batch.
const FULL: usize = 256 * 1024;
/// How often a batch is tried again after another process wrote to the same log.
const ATTEMPTS: usize = 1000;

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushed {
    /// It is in the store.
    Written,
    /// The session was deleted meanwhile: dropped.
    Deleted,
}

/// Records one session's log.
#[derive(Debug)]
pub struct Recorder {
    log: String,
    /// The log's last number as far as this recorder knows.
    end: Option<u64>,
    rows: Vec<Row>,
    run: Option<Run>,
    bytes: usize,
}

#[derive(Debug)]
struct Row {
    text: String,
    /// Where it already stands, shorter: a run that was written before it was closed.
    amends: Option<u64>,
    /// For a run: what of its text is not in the store yet, should its place be lost.
    tail: Option<Run>,
    closed: bool,
}

/// Adjacent chunks of one message.
#[derive(Debug, Clone)]
struct Run {
    kind: String,
    /// The JSON of its message id, the agent's or the engine's.
    message_id: String,
    minted: bool,
    time: i64,
    /// As JSON, escaped, without its quotes.
    text: String,
    /// How much of the text stands in the store, and where.
    written: Option<(u64, usize)>,
}

/// A chunk with nothing in it but text can be joined with its neighbours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainChunk<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: PlainText<'a>,
    #[serde(borrow, rename = "messageId", default)]
    message_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainText<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: &'a RawValue,
}

impl Run {
    fn update(&self) -> String {
        format!(
            "{{\"update\":{{\"sessionUpdate\":\"{}\",\"content\":{{\"type\":\"text\",\"text\":\"{}\"}},\"messageId\":{}}}}}",
            self.kind, self.text, self.message_id
        )
    }

    /// The run without what is already written, to be recorded in a place of its own.
    fn unwritten(&self) -> Self {
        let done = self.written.map_or(0, |(_, length)| length);
        Self { text: self.text[done..].to_owned(), written: None, ..self.clone() }
    }
}

impl Recorder {
    /// Records to the log of this name.
    pub fn new(log: &str) -> Self {
        Self { log: log.to_owned(), end: None, rows: Vec::new(), run: None, bytes: 0 }
    }

    /// Adds an entry that stands for itself.
    pub fn push(&mut self, kind: Kind, time: i64, json: &str) {
        self.close_run();
        let text = Entry::text(kind, time, json);
        self.bytes += text.len();
        self.rows.push(Row { text, amends: None, tail: None, closed: true });
    }

    /// Adds a chunk of a message: `update` is the notification's member, `params` all its members but the session
    /// id. Plain text joins the run before it, if it belongs to the same message; `mint` makes a message id for an
    /// agent that gives none.
    pub fn push_chunk(&mut self, time: i64, update: &str, params: &Object<'_>, mint: impl FnOnce() -> String) {
        let plain = serde_json::from_str::<PlainChunk<'_>>(update).ok().filter(|chunk| chunk.content.kind == "text");
        let is_all = params.iter().count() == 1;
        let Some(chunk) = plain.filter(|chunk| is_all && chunk.content.text.get().starts_with('"')) else {
            return self.push(Kind::Update, time, &params.to_json());
        };
        let text = chunk.content.text.get();
        let text = &text[1..text.len() - 1];
        let id = chunk.message_id.map(RawValue::get).filter(|id| *id != "null");
        let continues = self.run.as_ref().is_some_and(|run| {
            run.kind == chunk.kind && id.map_or(run.minted, |id| !run.minted && run.message_id == id)
        });
        let joins = continues && self.run.as_ref().is_some_and(|run| run.text.len() + text.len() <= LONGEST_RUN);
        if !joins {
            let inherited = self.run.as_ref().filter(|_| continues).map(|run| run.message_id.clone());
            self.close_run();
            let message_id = id.map(str::to_owned).or(inherited).unwrap_or_else(mint);
            self.run = Some(Run {
                kind: chunk.kind.into_owned(),
                message_id,
                minted: id.is_none(),
                time,
                text: String::new(),
                written: None,
            });
        }
        if let Some(run) = &mut self.run {
            run.text.push_str(text);
            self.bytes += text.len();
        }
    }

    /// What comes next is not joined with what came before.
    pub fn close_run(&mut self) {
        if let Some(run) = self.run.take() {
            let row = row_of(&run, true);
            self.rows.push(row);
        }
    }

    /// Whether something waits to be written.
    pub fn is_dirty(&self) -> bool {
        !self.rows.is_empty()
            || self.run.as_ref().is_some_and(|run| run.written.is_none_or(|(_, length)| length < run.text.len()))
    }

    /// Whether so much waits that it should be written now.
    pub fn is_full(&self) -> bool {
        self.bytes >= FULL
    }

    /// Forgets what waits.
    pub fn discard(&mut self) {
        self.rows.clear();
        self.run = None;
        self.bytes = 0;
    }

    /// Writes what waits, with `extra` in the same commit.
    pub fn flush<S: Storage>(&mut self, store: &Store<S>, extra: &[Write], durability: Durability) -> Result<Flushed> {
        if !self.is_dirty() && extra.is_empty() {
            return Ok(Flushed::Written);
        }
        for _ in 0..ATTEMPTS {
            let mut end = match self.end {
                Some(end) => end,
                None => store.storage().log_end(&self.log)?,
            };
            let open = self.run.as_ref().filter(|run| run.written.is_none_or(|(_, length)| length < run.text.len()));
            let open = open.map(|run| row_of(run, false));
            let mut writes = extra.to_vec();
            let mut open_at = None;
            for row in self.rows.iter().chain(open.as_ref()) {
                let log = self.log.clone();
                let seq = row.amends.unwrap_or_else(|| {
                    end += 1;
                    end
                });
                let value = row.text.clone();
                if row.closed {
                    let tokens = search::tokenise(&search::text::of_entry(&value));
                    if !tokens.is_empty() {
                        let owner = search::Owner::Log(&log).name();
                        writes.push(Write::IndexText { owner, part: seq, tokens });
                    }
                } else {
                    open_at = Some(seq);
                }
                writes.push(match row.amends {
                    Some(_) => Write::Amend { log, seq, value },
                    None => Write::Append { log, seq, value },
                });
            }
            let alive = Expectation { key: keys::tombstone(&self.log), value: None };
            match store.commit(&[alive], writes, durability) {
                Ok(()) => {
                    self.end = Some(end);
                    self.rows.clear();
                    self.bytes = 0;
                    if let (Some(run), Some(seq)) = (&mut self.run, open_at) {
                        run.written = Some((seq, run.text.len()));
                    }
                    return Ok(Flushed::Written);
                }
                Err(StorageError::Conflict) => {
                    if store.is_deleted(&self.log)? {
                        self.discard();
                        return Ok(Flushed::Deleted);
                    }
                    self.lose_places();
                }
                Err(error) => return Err(error),
            }
        }
        Err(StorageError::Unavailable("other processes keep writing to the same session".to_owned()))
    }

    /// Somebody else has written to the log: what stood last does so no more, so the rest of a run becomes a row
    /// of its own.
    fn lose_places(&mut self) {
        self.end = None;
        for row in &mut self.rows {
            if row.amends.take().is_some()
                && let Some(tail) = row.tail.take()
            {
                row.text = Entry::text(Kind::Update, tail.time, &tail.update());
            }
        }
        if let Some(run) = &mut self.run
            && run.written.is_some()
        {
            *run = run.unwritten();
        }
    }
}

fn row_of(run: &Run, closed: bool) -> Row {
    Row {
        text: Entry::text(Kind::Update, run.time, &run.update()),
        amends: run.written.map(|(seq, _)| seq),
        tail: run.written.map(|_| run.unwritten()),
        closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Bounds, Memory};

    fn chunk(kind: &str, text: &str, id: Option<&str>) -> String {
        let mut update = serde_json::json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        if let Some(id) = id {
            update["messageId"] = id.into();
        }
        update.to_string()
    }

    fn push(recorder: &mut Recorder, update: &str) {
        let params = format!("{{\"update\":{update}}}");
        recorder.push_chunk(1, update, &Object::parse(&params).unwrap(), || "\"minted\"".to_owned());
    }

    fn rows(store: &Store<Memory>, log: &str) -> Vec<String> {
        let bounds = Bounds { limit: 1000, max_bytes: u32::MAX };
        store.storage().read_log(log, 1, bounds).unwrap().entries.into_iter().map(|entry| entry.value).collect()
    }

    #[test]
    fn adjacent_text_of_one_message_is_one_row_across_batches() {
        let store = Store::new(Memory::new());
        let mut recorder = Recorder::new("s");
        for (at, text) in ["Hel", "lo \"w", "orld\"\n", "é"].iter().enumerate() {
            push(&mut recorder, &chunk("agent_message_chunk", text, None));
            if at % 2 == 0 {
                recorder.flush(&store, &[], Durability::Relaxed).unwrap();
            }
        }
        push(&mut recorder, &chunk("agent_thought_chunk", "hm", None));
        recorder.close_run();
        recorder.flush(&store, &[], Durability::Relaxed).unwrap();
        let rows = rows(&store, "s");
        assert_eq!(rows.len(), 2);
        let update: serde_json::Value = serde_json::from_str(Entry::parse(&rows[0]).unwrap().json).unwrap();
        assert_eq!(update["update"]["content"]["text"], "Hello \"world\"\né");
        assert_eq!(update["update"]["messageId"], "minted");
    }

    #[test]
    fn other_messages_and_anything_but_plain_text_stay_apart() {
        let store = Store::new(Memory::new());
        let mut recorder = Recorder::new("s");
        push(&mut recorder, &chunk("agent_message_chunk", "a", Some("1")));
        push(&mut recorder, &chunk("agent_message_chunk", "b", Some("2")));
        let annotated = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c","_meta":{}}}"#;
        push(&mut recorder, annotated);
        recorder.flush(&store, &[], Durability::Relaxed).unwrap();
        let rows = rows(&store, "s");
        assert_eq!(rows.len(), 3);
        assert!(rows[2].ends_with(&format!("{{\"update\":{annotated}}}")));
    }

    #[test]
    fn two_writers_on_one_log_lose_nothing_and_keep_one_order() {
        let store = Store::new(Memory::new());
        let (mut one, mut two) = (Recorder::new("s"), Recorder::new("s"));
        let mut texts = (String::new(), String::new());
        for round in 0..50 {
            let text = format!("{round} ");
            push(&mut one, &chunk("agent_message_chunk", &text, Some("1")));
            push(&mut two, &chunk("agent_message_chunk", &text, Some("2")));
            texts.0 += &text;
            texts.1 += &text;
            one.flush(&store, &[], Durability::Relaxed).unwrap();
            if round % 3 == 0 {
                two.flush(&store, &[], Durability::Relaxed).unwrap();
            }
        }
        two.flush(&store, &[], Durability::Relaxed).unwrap();
        let mut read = (String::new(), String::new());
        for row in rows(&store, "s") {
            let update: serde_json::Value = serde_json::from_str(Entry::parse(&row).unwrap().json).unwrap();
            let text = update["update"]["content"]["text"].as_str().unwrap().to_owned();
            if update["update"]["messageId"] == "1" { read.0 += &text } else { read.1 += &text }
        }
        assert_eq!(read, texts);
    }

    #[test]
    fn a_deleted_session_records_nothing() {
        let store = Store::new(Memory::new());
        let mut recorder = Recorder::new("s");
        push(&mut recorder, &chunk("agent_message_chunk", "a", None));
        let mark = Write::Put { key: keys::tombstone("s"), value: "1".to_owned() };
        store.commit(&[], vec![mark], Durability::Relaxed).unwrap();
        assert_eq!(recorder.flush(&store, &[], Durability::Relaxed).unwrap(), Flushed::Deleted);
        assert!(rows(&store, "s").is_empty());
    }
}
