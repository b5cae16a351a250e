//! Filling a store.

use std::path::Path;

use acp_sessions::store::Sqlite;
use acp_sessions_adapter::Lent;
use acp_sessions_guest::index::{self, Owner};
use acp_sessions_guest::storage::{Durability, Storage as _, Write};
use acp_sessions_guest::store::{Layout, Roster, derived, keys};
use acp_sessions_guest::transcript::{Entry, Kind, text};
use anyhow::{Context as _, Result};
use serde_json::json;

use crate::many::{Sample, sample};

/// How many sessions go into one commit.
const BATCH: u64 = 5_000;

/// Makes a store of `count` sessions at `path`.
pub fn fill(path: &Path, count: u64) -> Result<()> {
    let store = Lent::new(Sqlite::builder().file(path).build()?);
    let mut roster = Roster::default();
    let mut nth = 0;
    while nth < count {
        let end = (nth + BATCH).min(count);
        let samples: Vec<Sample> = (nth..end).map(|nth| sample(nth, count)).collect();
        for sample in &samples {
            roster.add(&sample.session);
        }
        let mut writes: Vec<Write> =
            samples.into_iter().zip(nth + 1..).flat_map(|(sample, revision)| writes(sample, revision)).collect();
        writes.push(Write::Put { key: keys::ROSTER.to_owned(), value: roster.to_text() });
        writes.push(Write::Put { key: keys::REVISION.to_owned(), value: end.to_string() });
        writes.push(Layout::Present.write());
        // Neighbours in the store are written together.
        writes.sort_by(|a, b| place(a).cmp(&place(b)));
        store.commit(&[], writes, Durability::Relaxed).context("the store cannot be filled")?;
        nth = end;
    }
    Ok(())
}

/// All that the engine writes for a session with one turn.
fn writes(sample: Sample, revision: u64) -> Vec<Write> {
    let Sample { mut session, prompt, reply } = sample;
    session.revision = revision;
    session.born = revision;
    let mut writes = derived(None, Some(&session));
    let said = json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": reply}}});
    let asked = json!({"prompt": [{"type": "text", "text": prompt}], "messageId": "1"});
    let entries = [(Kind::Prompt, asked), (Kind::Update, said), (Kind::TurnEnd, json!({"stopReason": "end_turn"}))];
    for (seq, (kind, json)) in (1..).zip(entries) {
        let value = Entry::text(kind, session.updated, &json.to_string());
        let tokens = index::tokenise(&text::of_entry(&value));
        if !tokens.is_empty() {
            writes.push(Write::IndexText { owner: Owner::Log(&session.id).name(), part: seq, tokens });
        }
        writes.push(Write::Append { log: session.id.clone(), seq, value });
    }
    writes
}

/// Records by key; what is numbered as it comes stays in order.
fn place(write: &Write) -> Option<&str> {
    match write {
        Write::Put { key, .. } | Write::Remove { key } => Some(key),
        _ => None,
    }
}
