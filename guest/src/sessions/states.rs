//! What is being done in sessions, as their open marks and their agent say it (draft: session list extensions, `state`).
//!
//! Whoever asks reads the marks of many sessions at once, from some place in their order on and up to a bound, and those
//! of each session beyond that one by one: so what is said of a session is right however many are open, and costs no
//! more than the bound and the sessions that are asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::sessions::open_marks::{self, Heartbeats, Mark, Written};
use crate::storage::{Result, Storage};
use crate::store::{ActivityState, Store, keys};

/// How many marks are read together at most.
pub const MOST_AT_ONCE: u32 = 4096;
/// How many of them for each session that is asked for: to read these together takes no longer than its own alone.
const FOR_EACH: usize = 8;

/// What is being done in sessions, by their ids.
pub type States = BTreeMap<String, ActivityState>;

/// What the rows of a page say is being done in their sessions, by id, where they say such things.
pub type SaidStates = Vec<(String, Option<ActivityState>)>;

/// What an agent has said is being done in sessions, by their ids.
pub type AgentsWords = BTreeMap<String, AgentsWord>;

/// What an agent has said is being done in a session. It counts before the marks as long as these tell of no work since: what has
/// been done then, it did not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsWord {
    /// What it has said.
    pub state: ActivityState,
    /// What the marks said.
    pub marked: MarkedState,
    /// How many prompts the session had got, where it says that something is being done in it: with another its word is over,
    /// though no mark may tell of that any more.
    pub prompts: Option<u64>,
}

/// What the marks of one session say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkedState {
    state: Option<ActivityState>,
    /// How far each of their connections has written, if it has.
    written: Vec<(String, Written)>,
}

impl MarkedState {
    fn take(&mut self, mark: &Mark, now: i64) {
        if let Some((written, state)) = mark.said_just_now(now) {
            self.state = self.state.max(state);
            self.written.extend(written.map(|written| (mark.connection.clone(), written)));
        }
    }

    /// Whether no work was done in the session since they said that, as far as they tell. A turn that was begun and has ended
    /// leaves them saying the same of what is being done, but not of what was written. A window that only opens or closes the
    /// session does no work and writes nothing: whether one has it open and does nothing, or none has, is the same.
    fn is_as(&self, before: &Self) -> bool {
        let [present, earlier] = [self, before].map(|said| said.state.unwrap_or_default());
        present == earlier && self.written.iter().all(|written| before.written.contains(written))
    }
}

/// What is being done in one session, as the marks say whose connections have just said that they are there.
pub fn state<S: Storage>(store: &Store<S>, id: &str, now: i64) -> Result<Option<ActivityState>> {
    Ok(Marked::nothing(now).read_one(store, id)?.state)
}

/// What marks say, as far as their connections have just said that they are there.
#[derive(Debug)]
pub struct Marked {
    now: i64,
    /// Between which keys all marks were read; to their end where there is no second one.
    from: String,
    until: Option<String>,
    /// What these say, by session.
    read: BTreeMap<String, MarkedState>,
    /// What was heard of connections.
    heard: RefCell<Heartbeats>,
}

impl Marked {
    /// Nothing is read yet.
    pub fn nothing(now: i64) -> Self {
        let from = keys::OPEN_MARKS.to_owned();
        Self { now, until: Some(from.clone()), from, read: BTreeMap::new(), heard: RefCell::default() }
    }

    /// Reads the marks from a place on, at the beginning where that is empty: about `most`.
    pub fn read<S: Storage>(store: &Store<S>, now: i64, place: &str, most: u32) -> Result<Self> {
        let mut marked = Self::nothing(now);
        if !place.is_empty() {
            place.clone_into(&mut marked.from);
        }
        marked.until = Some(marked.from.clone());
        for _ in 0..most.div_ceil(open_marks::BATCH.limit) {
            let Some(start) = marked.until.take() else { break };
            let part = open_marks::some(store, &start, marked.heard.get_mut())?;
            for (id, mark) in part.marks {
                marked.read.entry(id).or_default().take(&mark, now);
            }
            marked.until = part.next;
        }
        Ok(marked)
    }

    /// Reads the marks from the beginning on, as many as so many sessions need that are going to be asked for.
    pub fn read_for<S: Storage>(store: &Store<S>, now: i64, sessions: usize) -> Result<Self> {
        let most = u32::try_from(sessions.saturating_mul(FOR_EACH)).unwrap_or(MOST_AT_ONCE);
        Self::read(store, now, "", most.clamp(1, MOST_AT_ONCE))
    }

    /// Where those begin that were not read; `None` where these are all behind the place.
    pub fn until(&self) -> Option<&str> {
        self.until.as_deref()
    }

    /// Whether the marks of this session were read with the others.
    fn covers(&self, id: &str) -> bool {
        if self.until.is_none() && self.from == keys::OPEN_MARKS {
            return true;
        }
        let key = keys::open_marks(id);
        key >= self.from && self.until.as_ref().is_none_or(|until| key < *until)
    }

    /// What the marks of this session say, which were read with the others, or are now.
    pub fn of<S: Storage>(&self, store: &Store<S>, id: &str) -> Result<MarkedState> {
        if self.covers(id) { Ok(self.read.get(id).cloned().unwrap_or_default()) } else { self.read_one(store, id) }
    }

    /// What they say now.
    fn read_one<S: Storage>(&self, store: &Store<S>, id: &str) -> Result<MarkedState> {
        let mut said = MarkedState::default();
        for mark in open_marks::of_session(store, id, &mut self.heard.borrow_mut())? {
            said.take(&mark, self.now);
        }
        Ok(said)
    }
}

/// What was being done in sessions when the store had this revision or a later one.
#[derive(Debug)]
pub struct StatesSince<'a> {
    revision: u64,
    marked: Marked,
    words: &'a AgentsWords,
}

impl<'a> StatesSince<'a> {
    /// Reads what is being done in the sessions that are open, from a place on: see [`Marked::read`].
    pub fn read<S: Storage>(store: &Store<S>, now: i64, words: &'a AgentsWords, place: &str) -> Result<Self> {
        let revision = store.revision()?;
        Ok(Self { revision, marked: Marked::read(store, now, place, MOST_AT_ONCE)?, words })
    }

    /// Reads what is being done for so many sessions, where the store is known to have come to this revision: see
    /// [`Marked::read_for`].
    pub fn read_since<S: Storage>(
        store: &Store<S>,
        revision: u64,
        now: i64,
        words: &'a AgentsWords,
        sessions: usize,
    ) -> Result<Self> {
        Ok(Self { revision, marked: Marked::read_for(store, now, sessions)?, words })
    }

    /// Reads once more what is being done in them, as it is by now. Where there were more marks than that, each is read
    /// as it is asked for.
    pub fn read_again<S: Storage>(&self, store: &Store<S>, sessions: usize) -> Result<Self> {
        let (revision, now) = (store.revision()?, self.marked.now);
        let are_all = self.marked.until.is_none();
        let marked = if are_all { Marked::read_for(store, now, sessions)? } else { Marked::nothing(now) };
        Ok(Self { revision, marked, words: self.words })
    }

    /// The store's revision before they were read.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Where the marks begin that were not read, if there are more.
    pub fn until(&self) -> Option<&str> {
        self.marked.until()
    }

    /// All that is known of the sessions of which the marks were read.
    pub fn all(&self) -> States {
        let words = self.words.keys().filter(|id| self.covers(id));
        let ids: Vec<&String> = self.marked.read.keys().chain(words).collect();
        ids.into_iter().filter_map(|id| Some((id.clone(), self.state(id, self.marked.read.get(id))?))).collect()
    }

    /// Whether the marks of this session were read.
    pub fn covers(&self, id: &str) -> bool {
        self.marked.covers(id)
    }

    /// What was being done in a session when its record was the one of this revision, which was read behind the states. `None`
    /// also where that cannot be said, because the record has become another again.
    pub fn at<S: Storage>(&self, store: &Store<S>, id: &str, revision: u64) -> Result<Option<ActivityState>> {
        if revision <= self.revision && self.covers(id) {
            return Ok(self.state(id, self.marked.read.get(id)));
        }
        let state = self.state(id, Some(&self.marked.read_one(store, id)?));
        // Where nothing at all has changed, the record has not either.
        let is_still = revision <= self.revision && store.revision()? == self.revision;
        let is_same = is_still || store.session(id)?.is_some_and(|session| session.revision == revision);
        Ok(state.filter(|_| is_same))
    }

    /// What is being done where the marks say this.
    fn state(&self, id: &str, marked: Option<&MarkedState>) -> Option<ActivityState> {
        let nothing = MarkedState::default();
        let marked = marked.unwrap_or(&nothing);
        let word = self.words.get(id).filter(|word| marked.is_as(&word.marked));
        word.map(|word| word.state).or(marked.state)
    }
}
