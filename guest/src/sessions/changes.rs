//! What has changed in lists since somebody last looked (draft: session list extensions, `session/list/changes`).
//!
//! Nobody notes who follows: each session stands in the index under the revision that last changed it, and where one was
//! that is gone stands under the revision with which it left. Whoever follows knows up to which revision it has read, and
//! what was being done in sessions by then, of which open marks tell and no revision.

mod position;
mod progress;
mod scope;

use std::collections::{BTreeMap, BTreeSet};

pub use position::Position;
use progress::{MOST_OPEN, Progress};
pub use scope::{NewRow, News, Scope};

use super::open_marks::Cleaned;
use super::states::{AgentsWords, MOST_AT_ONCE, SaidStates, States, StatesSince};
use crate::storage::{Bounds, Durability, Entry, Result, Storage, StorageError, Write};
use crate::store::{ActivityState, Departure, Session, Store, keys};

/// Whoever is further behind reads the list anew: that costs a page, and to read on would cost the changes. Departures from
/// before are not kept.
pub const MOST_BEHIND: u64 = 65_536;
/// Behind every revision there will be.
const LAST: u64 = 9_999_999_999_999_998;
/// Of how many changes a step is that shall hold nobody up.
pub const STEP: u32 = 256;
/// How many bytes of the index are read at a time.
const READ_AT_ONCE: u32 = 64 * 1024;
/// How many records are read at a time: they may be large.
const RECORDS_AT_ONCE: usize = 32;
/// A step gives no more bytes of records than this, but for what comes with the last of them.
const MOST_BYTES: usize = 512 * 1024;

/// A session that is there, as it is now.
#[derive(Debug)]
pub struct Changed {
    /// Its record.
    pub session: Session,
    /// What is being done in it, if anybody knows.
    pub state: Option<ActivityState>,
}

/// A session that is not there any more, or is elsewhere now.
#[derive(Debug)]
pub struct Departed {
    /// Its id.
    pub id: String,
    /// Where it was.
    pub from: Departure,
    /// As it is now, if it is there.
    pub now: Option<Session>,
}

/// A part of what has changed.
#[derive(Debug, Default)]
pub struct SomeChanges {
    /// What may have left lists.
    pub departed: Vec<Departed>,
    /// What is to be shown anew.
    pub changed: Vec<Changed>,
    /// All that there was to be found has been given: the look is over.
    pub is_over: bool,
    /// So much has changed, or the store was put back to an earlier state of it, that the list is to be read anew; or it is in
    /// other directories now. Whatever changes from now on is given again.
    pub is_to_be_read_anew: bool,
}

/// How far somebody has followed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Follower {
    /// All that changed up to here has been given: where the look began that is under way, or the next one will.
    began: u64,
    /// How far it is with the list: a step that fails changes nothing of it.
    progress: Progress,
    /// Where the open marks begin that the look reads. Where there are more than are read together, each look reads those
    /// that come next, and begins anew behind the last.
    marks: String,
    /// What was given in this look and the one before, by the revision that had changed what is shown of it.
    given: BTreeMap<String, u64>,
    given_before: BTreeMap<String, u64>,
    /// The first change of what had been given in this look already: each session is given once in a look.
    again: Option<u64>,
    /// Up to here what has left is given, though the next look begins before it.
    departed: u64,
    /// A look is under way.
    is_looking: bool,
}

impl Follower {
    /// Follows from now on; `words`: what the agent has said is being done in sessions.
    pub fn begin<S: Storage>(store: &Store<S>, now: i64, words: &AgentsWords) -> Result<Self> {
        let revision = store.revision()?;
        let mut since = StatesSince::read(store, now, words, "")?;
        let mut states = since.all();
        // What is being done already is no news.
        for _ in 1..MOST_OPEN.div_ceil(MOST_AT_ONCE as usize) {
            let Some(place) = since.until().map(str::to_owned) else { break };
            since = StatesSince::read(store, now, words, &place)?;
            states.extend(since.all());
        }
        let progress = Progress { reached: revision, states, ..Progress::default() };
        Ok(Self { began: revision, progress, ..Self::default() })
    }

    /// The revision at which the look began that is under way, or the next one will.
    pub fn began(&self) -> u64 {
        self.began
    }

    /// A page says this of being done in sessions.
    pub fn note_page_given(&mut self, said: SaidStates) {
        self.progress.note_page_given(said);
    }

    /// Looks whether anything has changed, or goes on with the look that is under way; gives some of what it finds, of at
    /// most so many changes.
    ///
    /// A session that changes again meanwhile moves on in the index, past what has been read of it. So a look is over when
    /// nothing stands behind that, and all that is read until then is compared with where the look began.
    pub fn step<S: Storage>(
        &mut self,
        store: &Store<S>,
        now: i64,
        words: &AgentsWords,
        most: u32,
    ) -> Result<SomeChanges> {
        let before = self.progress.clone();
        let mut step = SomeChanges::default();
        let result = self.take_step(store, now, words, most, &mut step);
        if result.is_err() {
            // What nobody gets was not given.
            for changed in &step.changed {
                self.given.remove(&changed.session.id);
            }
            self.progress = before;
        }
        result.map(|()| step)
    }

    fn take_step<S: Storage>(
        &mut self,
        store: &Store<S>,
        now: i64,
        words: &AgentsWords,
        most: u32,
        step: &mut SomeChanges,
    ) -> Result<()> {
        // What has this revision or an earlier one stands in the indexes that are read now.
        let states = StatesSince::read(store, now, words, &self.marks)?;
        let present = states.revision();
        if present < self.progress.reached || present - self.progress.reached > MOST_BEHIND {
            *self = Self::begin(store, now, words)?;
            (step.is_over, step.is_to_be_read_anew) = (true, true);
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_looking, true) {
            self.given_before = std::mem::take(&mut self.given);
        }
        let mut is_at_end = true;
        if present > self.progress.reached {
            let (changed, rest) = self.entries(store, keys::CHANGES, LAST, most)?;
            let (departed, more) = self.entries(store, keys::DEPARTURES, rest.unwrap_or(LAST), most)?;
            let rest = more.or(rest);
            let changed: Vec<_> = changed.iter().filter_map(|entry| keys::changed_place(&entry.key)).collect();
            let last = changed.last().map_or(0, |(revision, _)| *revision);
            let until = rest.unwrap_or_else(|| present.max(last));
            is_at_end = self.read(store, &changed, until, &states, step)? && rest.is_none();
            for entry in departed {
                let is_due =
                    |revision: u64| revision > self.departed && (is_at_end || revision <= self.progress.reached);
                let place = keys::departed_place(&entry.key).filter(|(revision, _)| is_due(*revision));
                if let (Some((_, id)), Some(from)) = (place, Departure::parse(&entry.value)) {
                    let now = sessions(store, std::iter::once(&id))?.pop();
                    step.departed.push(Departed { id, from, now });
                }
            }
        }
        if is_at_end {
            self.changed_states(store, &states, step)?;
            self.marks = states.until().unwrap_or_default().to_owned();
            if let Some(again) = self.again.take() {
                self.departed = self.progress.reached;
                self.progress.reached = again - 1;
            }
            self.began = self.progress.reached;
            self.is_looking = false;
            step.is_over = true;
        }
        Ok(())
    }

    /// The entries that come next in such an index, up to a revision; and up to where these are all, unless no more follow.
    fn entries<S: Storage>(
        &self,
        store: &Store<S>,
        prefix: &str,
        until: u64,
        most: u32,
    ) -> Result<(Vec<Entry>, Option<u64>)> {
        let start = format!("{prefix}{:016}", self.progress.reached + 1);
        let end = format!("{prefix}{:016}", until + 1);
        let bounds = Bounds { limit: most, max_bytes: READ_AT_ONCE };
        let page = store.storage().scan(&start, &end, false, bounds)?;
        let revision_of = |key: &str| key.strip_prefix(prefix)?.split_once('/')?.0.parse().ok();
        let last = page.entries.last().filter(|_| page.more).and_then(|entry| revision_of(&entry.key));
        Ok((page.entries, last))
    }

    /// Reads those of these sessions that stand up to a revision, as far as a step goes, and notes how far that was; says
    /// whether that was all.
    fn read<S: Storage>(
        &mut self,
        store: &Store<S>,
        changed: &[(u64, String)],
        until: u64,
        states: &StatesSince<'_>,
        step: &mut SomeChanges,
    ) -> Result<bool> {
        let end = changed.partition_point(|(revision, _)| *revision <= until);
        for (nth, some) in changed[..end].chunks(RECORDS_AT_ONCE).enumerate() {
            for session in sessions(store, some.iter().map(|(_, id)| id))? {
                let shown = session.shown_revision();
                if shown <= self.began || self.given_before.get(&session.id) == Some(&shown) {
                    continue;
                }
                match self.given.get(&session.id) {
                    None => self.give(store, session, states, step)?,
                    Some(given) if *given == shown => {}
                    Some(_) => self.again = Some(self.again.map_or(shown, |again| again.min(shown))),
                }
            }
            let bytes: usize = step.changed.iter().map(|changed| size_of(&changed.session)).sum();
            let is_last = (nth + 1) * RECORDS_AT_ONCE >= end;
            if bytes > MOST_BYTES
                && !is_last
                && let Some((revision, _)) = some.last()
            {
                self.progress.reached = *revision;
                return Ok(false);
            }
        }
        self.progress.reached = until;
        Ok(true)
    }

    /// Those in which something else is being done than was given, or of which a page has said something else, of those whose
    /// marks this look reads and which it has not given yet.
    fn changed_states<S: Storage>(
        &mut self,
        store: &Store<S>,
        since: &StatesSince<'_>,
        step: &mut SomeChanges,
    ) -> Result<()> {
        let states = since.all();
        let progress = &self.progress;
        let given = progress.states.keys().chain(&progress.doubtful).filter(|id| since.covers(id));
        let all: BTreeSet<&String> = states.keys().chain(given).collect();
        let is_given = |id: &String| self.given.contains_key(id) || !progress.has_room_for(id);
        let is_changed = |id: &&String| progress.is_other(id, states.get(*id).copied()) && !is_given(id);
        let ids: Vec<String> = all.into_iter().filter(is_changed).cloned().collect();
        for some in ids.chunks(RECORDS_AT_ONCE) {
            for session in sessions(store, some.iter())? {
                self.give(store, session, since, step)?;
            }
            // Of one that is not there nobody needs to be told.
            for id in some.iter().filter(|id| !self.given.contains_key(*id)).cloned().collect::<Vec<_>>() {
                self.progress.note_state(&id, states.get(&id).copied());
            }
        }
        Ok(())
    }

    fn give<S: Storage>(
        &mut self,
        store: &Store<S>,
        session: Session,
        states: &StatesSince<'_>,
        step: &mut SomeChanges,
    ) -> Result<()> {
        let state = states.at(store, &session.id, session.revision)?;
        self.progress.note_state(&session.id, state);
        self.given.insert(session.id.clone(), session.shown_revision());
        step.changed.push(Changed { session, state });
        Ok(())
    }

    /// What [`Self::read_from`] reads. What was given is not in it: it may be given again.
    pub fn to_text(&self) -> String {
        let reached = self.again.map_or(self.progress.reached, |again| again - 1);
        let mut text = format!("{}.{reached}", self.began);
        if !self.marks.is_empty() {
            text.extend([".", &keys::encode(&self.marks)]);
        }
        for (id, state) in &self.progress.states {
            text.extend(["/", &keys::encode(id), "=", state.letter()]);
        }
        text
    }

    /// Goes on from there; `None` for what is no such place.
    pub fn read_from(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let mut place = parts.next()?.splitn(3, '.');
        let (began, reached) = (place.next()?.parse().ok()?, place.next()?.parse().ok()?);
        let marks = place.next().map_or(Some(String::new()), keys::decode)?;
        let state = |part: &str| {
            let (id, letter) = part.split_once('=')?;
            Some((keys::decode(id)?, ActivityState::of_letter(letter)?))
        };
        let states = parts.map(state).collect::<Option<States>>()?;
        let is_looking = began < reached;
        (began <= reached && reached < LAST).then(|| Self {
            began,
            progress: Progress { reached, states, ..Progress::default() },
            marks,
            is_looking,
            ..Self::default()
        })
    }
}

/// Removes departures that nobody can be told of any more, of up to `limit` behind this key.
pub(super) fn forget_departures<S: Storage>(store: &Store<S>, behind: &str, limit: u32) -> Result<Cleaned> {
    let kept = store.revision()?.saturating_sub(MOST_BEHIND);
    let start = if behind.is_empty() { keys::DEPARTURES.to_owned() } else { format!("{behind}\u{0}") };
    let bounds = Bounds { limit, max_bytes: READ_AT_ONCE };
    let page = store.storage().scan(&start, &keys::departed(kept, ""), false, bounds)?;
    let last = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
    let cleaned = Cleaned { looked: page.entries.len(), last };
    if cleaned.looked > 0 {
        let writes = page.entries.into_iter().map(|entry| Write::Remove { key: entry.key });
        store.commit(&[], writes.collect(), Durability::Relaxed)?;
    }
    Ok(cleaned)
}

/// About how large a session's row is.
fn size_of(session: &Session) -> usize {
    let meta: usize = session.meta.iter().map(|(key, value)| key.len() + value.get().len()).sum();
    512 + meta + session.title.text().map_or(0, str::len) + session.cwd.len() + session.id.len()
}

/// Those of these sessions that are there. What cannot be read is not shown by lists either.
fn sessions<'i, S: Storage>(store: &Store<S>, ids: impl Iterator<Item = &'i String>) -> Result<Vec<Session>> {
    let keys: Vec<String> = ids.map(|id| keys::session(id)).collect();
    let mut sessions = Vec::with_capacity(keys.len());
    for text in store.storage().get(&keys)?.iter().flatten() {
        match Session::parse(text) {
            Ok(session) => sessions.push(session),
            Err(StorageError::Corrupt(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sessions)
}
