//! Recording: entries are gathered, text runs joined, and written in batches.

mod backlog;
mod flush;
mod indexed;
mod piece;
mod run;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::entry::{Belongs, Entry, Kind, tag};
use super::text;
use crate::rpc::Object;
use crate::storage::{Result, Storage};
use crate::store::Store;
use backlog::Backlog;
pub use flush::{Flushed, LogEnd};
pub use piece::Piece;
use run::{Row, Run, plain_text};

/// A run of text is closed at this size, so that what is written again with each batch stays small.
const LONGEST_RUN: usize = 16 * 1024;
/// A chunk longer than this stands for itself: what is joined is held several times over.
const LONGEST_CHUNK: usize = 1024 * 1024;
/// Gathered bytes that are written without waiting for the next batch.
const FULL: usize = 256 * 1024;
/// What an entry that waits takes in memory besides its text and its tokens, in bytes.
const ENTRY: usize = 128;

/// Records one session's log.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recorder {
    log: String,
    /// The log's last number as far as this recorder knows.
    end: Option<u32>,
    /// The log's last number when all that stood in it was known to the writer.
    seen: Option<u32>,
    /// Where others have begun to write to the log since.
    overtaken: Option<u32>,
    /// What comes next belongs to this.
    belongs: Belongs,
    #[serde(skip)]
    backlog: Backlog,
    run: Option<Run>,
    /// What is pushed comes with this arrival.
    arrived: u64,
    /// Bytes gathered since the last attempt to write, whatever came of it.
    fresh: usize,
    /// Entries up to this one are not indexed.
    unindexed: u32,
}

impl Recorder {
    /// Records to the log of this name.
    pub fn new(log: &str) -> Self {
        Self {
            log: log.to_owned(),
            end: None,
            seen: None,
            overtaken: None,
            belongs: Belongs::Nowhere,
            backlog: Backlog::default(),
            run: None,
            arrived: 0,
            fresh: 0,
            unindexed: 0,
        }
    }

    /// The log's entries up to this one are expected to be needed by nobody, and are not indexed for search: whoever needs
    /// them does it.
    pub fn leave_unindexed(&mut self, until: u32) {
        self.unindexed = until;
    }

    /// Up to which entry none is indexed.
    pub fn unindexed(&self) -> u32 {
        self.unindexed
    }

    /// What is pushed from now on comes with this arrival: a number that never falls.
    pub fn at(&mut self, arrived: u64) {
        self.arrived = arrived;
    }

    /// The number of the log's last entry when something was last written to it; none where others have written since.
    pub fn end(&self) -> Option<u32> {
        self.end
    }

    /// The writer knows what stands in the log up to this number.
    pub fn note_seen(&mut self, end: u32) {
        self.seen = Some(end);
        self.overtaken = None;
    }

    /// Up to where the writer knows the log: what others have written behind that is left to be looked at.
    pub fn seen(&self) -> Option<u32> {
        self.overtaken.or(self.seen)
    }

    /// Looks whether others have written to the log. Returns the number behind which they did, if they have since it was
    /// last asked.
    pub fn take_overtaken<S: Storage>(&mut self, store: &Store<S>) -> Result<Option<u32>> {
        self.note_end(store.storage().log_end(&self.log)?);
        Ok(self.overtaken.take())
    }

    /// Returns the number behind which its own reads and writes have found that others have written, if they have since
    /// it was last asked.
    pub fn take_found(&mut self) -> Option<u32> {
        self.overtaken.take()
    }

    /// The log is found to end here, before anything new is written.
    fn note_end(&mut self, end: u32) {
        if let Some(seen) = self.seen.filter(|seen| *seen < end) {
            self.overtaken = self.overtaken.or(Some(seen));
        }
        self.seen = self.seen.map(|seen| seen.max(end));
    }

    /// What is pushed from now on belongs to this turn, up to its end (an entry of [`Kind::TurnEnd`], which is its last).
    /// The tag should be one that no other turn of the session has
    /// (a random one): letters, digits and `_`, at most 32; others are left out of it.
    pub fn set_turn(&mut self, turn: Option<String>) {
        self.belong(turn.and_then(|turn| tag(&turn)).map_or(Belongs::Nowhere, Belongs::Turn));
    }

    /// What is pushed from now on belongs to no turn, if it does not yet: this session of an agent says it.
    pub fn set_speaker(&mut self, speaker: impl FnOnce() -> String) {
        if self.belongs == Belongs::Nowhere {
            self.belong(Belongs::Speaker(speaker()));
        }
    }

    /// What is said between turns from now on is said by another session of an agent's.
    pub fn forget_speaker(&mut self) {
        if matches!(self.belongs, Belongs::Speaker(_)) {
            self.belong(Belongs::Nowhere);
        }
    }

    fn belong(&mut self, belongs: Belongs) {
        if self.belongs != belongs {
            self.close_run();
            self.belongs = belongs;
        }
    }

    /// Adds an entry that stands for itself.
    pub fn push(&mut self, kind: Kind, time: i64, json: &str) {
        self.close_run();
        let text = Entry::of(kind, time, &self.belongs, json);
        self.fresh += text.len();
        let tokens = (self.unindexed == 0).then(|| text::tokens_of_entry(&text));
        self.backlog.push(Row { text, tokens, time, arrived: self.arrived, amends: None, tail: None });
        if kind == Kind::TurnEnd {
            self.belongs = Belongs::Nowhere;
        }
    }

    /// Adds a chunk of a message: `update` is the notification's member, `params` all its members but the session
    /// id. Plain text joins the run before it, if it belongs to the same message; `mint` makes a message id for an
    /// agent that gives none.
    pub fn push_chunk(&mut self, time: i64, update: &str, params: &Object<'_>, mint: impl FnOnce() -> String) {
        let is_all = params.iter().count() == 1;
        let Some((chunk, text)) = plain_text(update).filter(|_| is_all && update.len() <= LONGEST_CHUNK) else {
            return self.push(Kind::Update, time, &params.to_json());
        };
        let id = chunk.message_id.map(RawValue::get).filter(|id| *id != "null");
        let continues = self.run.as_ref().is_some_and(|run| {
            run.kind == chunk.kind && id.map_or(run.minted, |id| !run.minted && run.message_id == id)
        });
        let joins = continues && self.run.as_ref().is_some_and(|run| run.text.len() + text.len() <= LONGEST_RUN);
        if !joins {
            let inherited = self.run.as_ref().filter(|_| continues).map(|run| run.message_id.clone());
            self.close_run();
            let message_id = id.map(str::to_owned).or(inherited).unwrap_or_else(mint);
            let belongs = self.belongs.clone();
            self.run = Some(Run::new(chunk.kind.into_owned(), message_id, id.is_none(), time, belongs));
        }
        if let Some(run) = &mut self.run {
            run.text.push_str(text);
            run.arrived = self.arrived;
            self.fresh += text.len();
        }
    }

    /// Adds a chunk of a message that came with nothing else; see [`Self::push_chunk`].
    pub fn push_chunk_alone(&mut self, time: i64, update: &str, mint: impl FnOnce() -> String) {
        let params = format!("{{\"update\":{update}}}");
        self.push_chunk(time, update, &Object::parse_or_empty(&params), mint);
    }

    /// What comes next is not joined with what came before.
    pub fn close_run(&mut self) {
        if let Some(mut run) = self.run.take().filter(Run::is_dirty) {
            let row = run.row(self.unindexed == 0);
            self.backlog.push(row);
        }
    }

    /// What comes next stands in a place of its own. It may be the rest of the same message.
    pub fn part_run(&mut self) {
        let rest = self.run.as_ref().map(Run::gone_on);
        self.close_run();
        self.run = rest;
    }

    /// Whether something waits to be written.
    pub fn is_dirty(&self) -> bool {
        !self.backlog.is_empty() || self.run.as_ref().is_some_and(Run::is_dirty)
    }

    /// Whether more waits to be written than so many entries that are kept elsewhere as well.
    pub fn is_dirty_beyond(&self, kept: usize) -> bool {
        self.backlog.len() > kept || self.backlog.has_gap() || self.run.as_ref().is_some_and(Run::is_dirty)
    }

    /// Something was lost that came before what comes next: the log is to say so.
    pub fn push_loss(&mut self, time: i64, reason: &str) {
        self.push(Kind::Gap, time, &json!({ "reason": reason }).to_string());
    }

    /// Whether so much has come since the last attempt to write that there should be one now.
    pub fn is_full(&self) -> bool {
        self.fresh >= FULL
    }

    /// What waits is left to wait, until as much has come again. What it takes in memory, in bytes.
    pub fn hold(&mut self) -> usize {
        self.fresh = 0;
        self.backlog.bytes() + self.backlog.len() * ENTRY
    }

    /// Whether others have written to the log since something was last written to it, as far as is known.
    pub fn is_overtaken<S: Storage>(&self, store: &Store<S>) -> Result<bool> {
        Ok(self.end != Some(store.storage().log_end(&self.log)?))
    }

    /// Of what waits only this is written, which is made of each entry: others have written the rest, and nothing is added to
    /// what stands in the log.
    pub fn reduce(&mut self, rest: impl FnMut(&str) -> Option<String>) {
        self.lose_places();
        self.close_run();
        self.backlog.reduce(rest);
    }

    /// The entries that wait, without the run that may still grow.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &str> {
        self.backlog.rows().map(|row| row.text.as_str())
    }

    /// Forgets what waits.
    pub fn discard(&mut self) {
        self.backlog.clear();
        self.run = None;
        self.fresh = 0;
    }
}
