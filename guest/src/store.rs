//! How the engine lays its data out in a storage: keys, the session record, its list rows, and transactions.
//!
//! | key | what |
//! |---|---|
//! | `s/<id>` | the session's record: the truth about it |
//! | `g/<id>` | its state: mode, model, configuration, plan, commands, usage, as last seen |
//! | `u/<id>` | what it has used, by day and agent, and what it was last said to have cost |
//! | `i/<shelf>/<agent>/u/<recency>/<id>` | list row, by the last prompt or, where that is not known, last activity: one for each agent that knows the session, or one under `-` where none does |
//! | `i/<shelf>/<agent>/c/<directory>/<recency>/<id>` | the same row, by directory |
//! | `i/<shelf>/<agent>/b/<span>/<recency>/<id>` | the beginning of the same row, by how long there was activity |
//! | `i/<shelf>/<agent>/l/<recency>/<id>` | the same row once more, where activity went on for long after the last prompt |
//! | `i` | the agents that have rows: their names |
//! | `e/<created>/<id>` | sessions that never got a prompt |
//! | `v` | the layout of what is derived, or how far a store of an earlier version is on the way to it |
//! | `k` | which store this is: a random number |
//! | `r` | the revision: one number, raised for every session that a commit changes |
//! | `t/<revision>/<id>` | each session under the revision that last changed it |
//! | `z/<revision>/<id>` | where a session was, under the revision that deleted it or put it elsewhere; the last of them |
//! | `a/<agent>/<agent's id>` | which session an agent knows by this id |
//! | `x/<id>`, `y/<agent>/<agent's id>` | tombstones |
//! | `l/<log>` | who shares a log, where anybody but its session does |
//! | `q/<log>` | from which entry on a log is nobody's any more, and how far it has been removed from its end |
//! | `f/<directory>` | which repository a directory is of, by its first commit, and how far below its root |
//! | `d/<agent>/<agent's id>` | deletes that the agent has not confirmed yet |
//! | `n/<agent>` | when the list of an agent was last read to its end |
//! | `b/<agent>` | `1` for an agent that tells all that it has of a conversation behind its answer to a load |
//! | `b/<agent>/u` | `1` for an agent that tells all windows one sum of what a session has cost |
//! | `w/<connection>/<log>` | a log into which a connection records what an agent tells, while it does |
//! | `o/<id>/<connection>` | a connection that has the session open |
//! | `m/<id>/<place>-<number>/<connection>` | a prompt that waits there for its session, as the log would have it |
//! | `c/<connection>` | until when that connection may be believed |
//! | `c` | how many connections have come |
//! | `p/<parent>/<id>` | sessions of sub-agents, under the session whose agent started them |
//!
//! The logs and texts of a session bear its id. Everything under `i`, `e`, `t`, `p` and every text is derived.
//!
//! The agent comes before the order in a row's key because a list is mostly of one agent's sessions: that is one scan
//! of ready rows, and as a session mostly is of one agent too, a commit writes each row once, as it would without
//! agents. A list of all sessions merges the few agents' ranges and gives what stands in several of them once. Rows
//! of all sessions beside those of each agent's would make every commit write twice as much for the rarer question.
//!
//! How long there was activity, to a power of two, tells how far a session may stand ahead of its creation: what was
//! created before a time stands behind that time and the span, and most of what stands there was. So a list of what was
//! created before a time is read from as many ranges as there are spans, and costs its page too.

mod activity;
mod ahead;
mod as_of;
mod by_agent;
mod change;
mod cost;
mod counted;
mod departure;
mod derived;
pub mod directory;
mod draft;
pub mod heading;
mod holders;
mod ids;
pub mod in_force;
pub mod keys;
mod known;
mod latest;
mod layout;
mod listed;
mod model;
mod one_sum;
mod overtaken;
mod places;
mod remembered;
mod removals;
mod revision;
mod roster;
mod row;
mod segment;
mod session;
mod shelf;
mod span;
mod state;
mod tail;
mod title;
mod told_behind;
mod unmistakable;
mod unreadable;
mod usage;

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeSet;

pub use activity::ActivityState;
pub use as_of::{AsOf, AskedAt};
pub use change::{Change, Changed, Decision};
pub use cost::{Amount, Cost, Costs};
pub use counted::Counted;
pub use departure::Departure;
pub use derived::derived;
pub use draft::Draft;
pub use holders::Holders;
pub use ids::Ids;
pub use known::{Between, Known, Left};
use latest::Latest;
pub use layout::Layout;
pub use listed::{Listed, is_behind};
pub use one_sum::tells_one_sum;
pub use overtaken::{Overtaken, Word};
pub use places::{Placed, Places};
pub use remembered::Remembered;
pub use removals::Removals;
use revision::parse_revision;
pub use roster::Roster;
pub use row::{Row, RowHead, whole_row};
pub use segment::Segment;
pub use session::{DATELESS_END, Origin, Session};
pub use shelf::Shelf;
pub use span::Span;
pub use state::{State, USAGE};
pub use tail::LONG_TAIL;
pub use title::Title;
pub use unmistakable::is_unmistakable;
pub use usage::{Day, Tokens, Usage, Used};

use crate::storage::{Bounds, Durability, Expectation, Result, Storage, StorageError, Write};

/// A storage as the engine uses it.
#[derive(Debug)]
pub struct Store<S> {
    storage: S,
    /// Whether the storage takes texts; learnt from its first refusal.
    texts: Cell<bool>,
    /// Whether its layout is known to be the present one.
    is_present: Cell<bool>,
    /// Of the list that was searched last.
    remembered: RefCell<Option<Remembered>>,
    /// Where sessions stand that were found by a search.
    places: RefCell<Places>,
    /// What the last change has left.
    latest: RefCell<Option<Latest>>,
    /// Something was committed here that leaves a log to be removed.
    has_let_go: Cell<bool>,
}

/// How many changes are looked through to know what has not changed.
const LOOKED_THROUGH: Bounds = Bounds { limit: 512, max_bytes: 64 * 1024 };

impl<S: Storage> Store<S> {
    /// Uses this storage.
    pub fn new(storage: S) -> Self {
        Self {
            storage,
            texts: Cell::new(true),
            is_present: Cell::new(false),
            remembered: RefCell::new(None),
            places: RefCell::default(),
            latest: RefCell::new(None),
            has_let_go: Cell::new(false),
        }
    }

    /// Whether something was committed through it that leaves a log to be removed, and nobody has asked since.
    pub fn has_let_go(&self) -> bool {
        self.has_let_go.get()
    }

    /// Whether something was committed through it, since this was last asked, that leaves a log to be removed.
    pub fn take_let_go(&self) -> bool {
        self.has_let_go.take()
    }

    /// The storage itself, for reading.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Keeps what a list was found to be for its next page.
    pub fn remember(&self, list: Remembered) {
        self.remembered.replace(Some(list));
    }

    /// The sessions of a list, and [how many of them](Remembered::until) do not stand behind a place, if that is known.
    pub fn remembered(&self, list: (u64, u64), behind: (i64, &str)) -> Option<(Ref<'_, Listed>, usize)> {
        let known = Ref::filter_map(self.remembered.borrow(), Option::as_ref).ok()?;
        let until = known.until(list, behind)?;
        Some((Ref::map(known, |known| &known.places), until))
    }

    /// Where sessions stand that were found before. Whoever takes it keeps it again.
    pub fn take_places(&self) -> Places {
        self.places.take()
    }

    /// Keeps where sessions stand for the next search.
    pub fn keep_places(&self, places: Places) {
        self.places.replace(places);
    }

    /// One record.
    pub fn record(&self, key: String) -> Result<Option<String>> {
        Ok(self.storage.get(&[key])?.pop().flatten())
    }

    /// A session by its id.
    pub fn session(&self, id: &str) -> Result<Option<Session>> {
        self.record(keys::session(id))?.map(|text| Session::parse(&text)).transpose()
    }

    /// A session's state; empty where nothing was recorded.
    pub fn state(&self, id: &str) -> Result<State> {
        Ok(self.record(keys::state(id))?.map(|text| State::parse(&text)).transpose()?.unwrap_or_default())
    }

    /// What a session has used; nothing where nobody has said so.
    pub fn usage(&self, id: &str) -> Result<Usage> {
        Ok(self.record(keys::usage(id))?.map(|text| Usage::parse(&text)).transpose()?.unwrap_or_default())
    }

    /// Whether a session of this id was deleted.
    pub fn is_deleted(&self, id: &str) -> Result<bool> {
        Ok(self.record(keys::tombstone(id))?.is_some())
    }

    /// Which store this is; `new` is what it is called from now on where it has no name yet.
    pub fn identity(&self, new: impl FnOnce() -> u64) -> Result<String> {
        let key = || keys::IDENTITY.to_owned();
        if let Some(known) = self.record(key())? {
            return Ok(known);
        }
        let identity = format!("{:016x}", new());
        let expected = [Expectation { key: key(), value: None }];
        let write = Write::Put { key: key(), value: identity.clone() };
        match self.commit(&expected, vec![write], Durability::Relaxed) {
            Ok(()) => Ok(identity),
            // Another process has been faster.
            Err(StorageError::Conflict) => self.record(key())?.ok_or(StorageError::Conflict),
            Err(error) => Err(error),
        }
    }

    /// The number of the last change to any session.
    pub fn revision(&self) -> Result<u64> {
        let (_, _, revision) = self.look()?;
        parse_revision(revision.as_deref())
    }

    /// The sessions that have changed since this revision; `None` where these are too many to be looked through, or an earlier
    /// layout does not tell.
    pub fn changed_since(&self, revision: u64) -> Result<Option<BTreeSet<String>>> {
        if self.layout()? != Layout::Present {
            return Ok(None);
        }
        let start = keys::changed(revision + 1, "");
        let page = self.storage.scan(&start, &keys::range_end(keys::CHANGES), false, LOOKED_THROUGH)?;
        let ids = || page.entries.iter().filter_map(|entry| Some(keys::changed_place(&entry.key)?.1)).collect();
        Ok((!page.more).then(ids))
    }

    /// Which layout its indexes have. Read until it is the present one.
    pub fn layout(&self) -> Result<Layout> {
        if self.is_present.get() {
            return Ok(Layout::Present);
        }
        self.look_at_layout().map(|(layout, _)| layout)
    }

    /// Reads anew which layout its indexes have; gives the record as it stands as well.
    pub fn look_at_layout(&self) -> Result<(Layout, Option<String>)> {
        self.look().map(|(layout, text, _)| (layout, text))
    }

    /// Layout and revision, which a list needs both, as they stand.
    fn look(&self) -> Result<(Layout, Option<String>, Option<String>)> {
        let mut values = self.storage.get(&[keys::LAYOUT.to_owned(), keys::REVISION.to_owned()])?.into_iter();
        let (text, revision) = (values.next().flatten(), values.next().flatten());
        let layout = Layout::parse(text.as_deref(), revision.is_some());
        self.is_present.set(layout == Layout::Present && text.is_some());
        Ok((layout, text, revision))
    }

    /// The agents that have list rows.
    pub fn roster(&self) -> Result<Roster> {
        Roster::parse(self.record(keys::ROSTER.to_owned())?.as_deref())
    }

    /// Commits, without the texts where the storage has no text search.
    pub fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        let lets_go = |write: &Write| matches!(write, Write::Put { key, .. } if key.starts_with(keys::REMOVALS));
        if writes.iter().any(lets_go) {
            self.has_let_go.set(true);
        }
        let is_text = |write: &Write| matches!(write, Write::IndexText { .. } | Write::DropText { .. });
        let without_texts = |writes: Vec<Write>| writes.into_iter().filter(|write| !is_text(write)).collect();
        if !self.texts.get() {
            return self.storage.commit(expected, without_texts(writes), durability);
        }
        let has_texts = writes.iter().any(is_text);
        let again = if has_texts { writes.clone() } else { Vec::new() };
        match self.storage.commit(expected, writes, durability) {
            Err(StorageError::Unsupported) if has_texts => {
                let without = self.storage.commit(expected, without_texts(again), durability);
                // Where it is refused as well, that is because of something else that it has.
                self.texts.set(matches!(without, Err(StorageError::Unsupported)));
                without
            }
            result => result,
        }
    }
}
