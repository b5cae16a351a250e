//! Finding the sessions that a query matches.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use super::ids::Ids;
use super::parts::Parts;
use super::query::Query;
use super::snippet;
use crate::index::Owner;
use crate::storage::{Bounds, Result, Storage, StorageError, TextHit, TextScope, TextTerm};
use crate::store::{Holders, Removals, Segment, Session, Store, heading, keys};
use crate::transcript::text;

/// How many hits are asked for at first, and at most: each has its price, and so has each call.
const BATCHES: (u32, u32) = (64, 4096);

/// So many names of who holds a word cost about as much as to try one session.
const NAMES_PER_TRY: usize = 8;

/// How many may hold a word that is looked up instead of trying so many sessions.
pub fn names_worth(sessions: usize) -> usize {
    sessions.saturating_mul(NAMES_PER_TRY)
}

/// How often only what is being removed may be found before it is given up to name those who hold a word.
const MOST_IN_VAIN: usize = 64;

/// What becomes of half a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halves {
    /// All that begins like it is looked for.
    Gathered,
    /// Anybody may hold it.
    Left,
}

/// How many shared logs are read to know whether any of many logs is shared.
const SHARES: Bounds = Bounds { limit: 512, max_bytes: 64 * 1024 };

/// Which sessions can match.
#[derive(Debug, PartialEq, Eq)]
pub enum Few {
    /// Only these.
    Sessions(Ids),
    /// Too many to name them.
    Many,
    /// The storage has no text search: only titles and metadata are searched.
    Unsupported,
}

/// A session that may match.
#[derive(Debug, Clone, Copy)]
pub enum Tried<'a> {
    /// By its id: one whose transcript is all of its own log and nothing else.
    Plain(&'a str),
    /// Any other.
    Session(&'a Session),
}

impl<'a> Tried<'a> {
    fn parts(self) -> Vec<Parts<'a>> {
        match self {
            Self::Plain(id) => Parts::of_plain(id),
            Self::Session(session) => Parts::of(session),
        }
    }
}

/// Where a session matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// `title`, `metadata`, `conversation`, or `setAside` for what was taken out of that.
    pub place: &'static str,
    /// The text around it.
    pub snippet: String,
}

/// Where the first term of a query is in a session that holds them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hit {
    /// In the title or the metadata.
    Heading,
    /// In this entry of this log.
    Entry {
        /// The log.
        log: String,
        /// The entry's number.
        seq: u32,
    },
}

/// The sessions that may hold all of these terms, by those of the terms that no more than `most` hold.
pub fn few<S: Storage>(store: &Store<S>, terms: &[TextTerm], most: usize) -> Result<Few> {
    few_by(store, terms, most, Halves::Gathered)
}

/// The sessions that may hold the first of the terms that no more than `most` hold, and the terms behind that one.
pub fn few_of_one<'q, S: Storage>(
    store: &Store<S>,
    terms: &'q [TextTerm],
    most: usize,
) -> Result<(Few, &'q [TextTerm])> {
    let mut left = terms;
    while let [term, behind @ ..] = left {
        left = behind;
        match few(store, slice::from_ref(term), most)? {
            Few::Many => {}
            found => return Ok((found, left)),
        }
    }
    Ok((Few::Many, left))
}

/// The sessions that may hold all of these terms, by words that stand in the index as they were typed: to gather what begins
/// like half a word takes longer.
pub fn few_by_whole_words<S: Storage>(store: &Store<S>, terms: &[TextTerm], most: usize) -> Result<Few> {
    few_by(store, terms, most, Halves::Left)
}

fn few_by<S: Storage>(store: &Store<S>, terms: &[TextTerm], most: usize, halves: Halves) -> Result<Few> {
    if terms.is_empty() {
        return Ok(Few::Sessions(Ids::default()));
    }
    let mut few: Option<Ids> = None;
    let mut removals = Removals::read(store)?;
    for term in terms {
        // To know who else holds it is worth no more than to try those that are left.
        let worth = |few: &Ids| names_worth(few.len()).max(BATCHES.0 as usize);
        let most = few.as_ref().map_or(most, |few| most.min(worth(few)));
        let holding = match owners(store, term, most, halves, &mut removals) {
            Ok(Some(owners)) => sessions_of(store, owners)?,
            Ok(None) => continue,
            Err(StorageError::Unsupported) => return Ok(Few::Unsupported),
            Err(error) => return Err(error),
        };
        few = Some(match few {
            None => holding,
            Some(mut few) => {
                few.retain_common(&holding);
                few
            }
        });
    }
    Ok(few.map_or(Few::Many, Few::Sessions))
}

/// The sessions whose texts are these owners'.
fn sessions_of<S: Storage>(store: &Store<S>, owners: Vec<String>) -> Result<Ids> {
    let mut shared = Vec::new();
    for holders in shares(store, &owners)? {
        shared.extend(Holders::parse(Some(&holders))?.holders.into_keys());
    }
    let id_of = |owner: String| Owner::of_name(&owner).map(|of| of.id().len()).map(|length| last(owner, length));
    Ok(owners.into_iter().filter_map(id_of).chain(shared).collect())
}

/// The last bytes of a text, in its own memory: there may be thousands.
fn last(mut text: String, length: usize) -> String {
    text.drain(..text.len() - length);
    text
}

/// Those of the records of who shares one of these owners' logs that there are.
fn shares<S: Storage>(store: &Store<S>, owners: &[String]) -> Result<Vec<String>> {
    let logs = || owners.iter().filter_map(|owner| Owner::of_name(owner)).filter(|of| matches!(of, Owner::Log(_)));
    // Few logs are shared. Where one look shows all that are, there is no need to ask for so many that are not.
    if owners.len() > SHARES.limit as usize / 4 {
        let page = store.storage().scan(keys::SHARES, &keys::range_end(keys::SHARES), false, SHARES)?;
        if !page.more {
            let shared: BTreeMap<String, String> =
                page.entries.into_iter().map(|entry| (entry.key, entry.value)).collect();
            if shared.is_empty() {
                return Ok(Vec::new());
            }
            let wanted: BTreeSet<String> = logs().map(|log| keys::log_holders(log.id())).collect();
            return Ok(shared.into_iter().filter(|(key, _)| wanted.contains(key)).map(|(_, value)| value).collect());
        }
    }
    let keys: Vec<String> = logs().map(|log| keys::log_holders(log.id())).collect();
    Ok(store.storage().get(&keys)?.into_iter().flatten().collect())
}

/// Whose texts hold the term; `None` if more than `most` do.
fn owners<S: Storage>(
    store: &Store<S>,
    term: &TextTerm,
    most: usize,
    halves: Halves,
    removals: &mut Removals,
) -> Result<Option<Vec<String>>> {
    // A whole word is found at once, while all that begins like it may have to be gathered first.
    if term.prefix && halves == Halves::Left {
        let whole = owners_of(store, &TextTerm { prefix: false, ..term.clone() }, most, removals)?;
        if whole.is_none_or(|owners| owners.is_empty()) {
            return Ok(None);
        }
    }
    owners_of(store, term, most, removals)
}

fn owners_of<S: Storage>(
    store: &Store<S>,
    term: &TextTerm,
    most: usize,
    removals: &mut Removals,
) -> Result<Option<Vec<String>>> {
    let mut owners: Vec<String> = Vec::new();
    let mut after: Option<TextHit> = None;
    let mut in_vain = 0;
    let (first, largest) = BATCHES;
    let mut batch = first;
    loop {
        let hits = store.storage().search_text(term, after.as_ref(), batch)?;
        let complete = hits.len() < batch as usize;
        removals.learn(store, hits.iter().map(|hit| hit.owner.as_str()))?;
        let known = owners.len();
        let (last, mut behind) = (hits.last().cloned(), 0);
        for TextHit { owner, part } in hits {
            // What is being removed is nobody's, but what others share of the same log is before it.
            let dead = removals.start(&owner).filter(|start| part >= *start);
            // The rest of this owner's texts can add nothing.
            behind = dead.filter(|start| *start > 1).unwrap_or(0);
            if dead.is_none() && owners.last() != Some(&owner) {
                owners.push(owner);
            }
        }
        in_vain += usize::from(owners.len() == known);
        if owners.len() > most || in_vain > MOST_IN_VAIN {
            return Ok(None);
        }
        // So many more would be too many.
        let left = u32::try_from(most + 1 - owners.len()).unwrap_or(u32::MAX);
        match last {
            Some(last) if !complete => after = Some(TextHit { part: behind, ..last }),
            _ => return Ok(Some(owners)),
        }
        batch = (batch * 4).min(largest).min(left.max(first));
    }
}

/// For each session whether its title and metadata hold all terms.
pub fn heading_hits<'a>(query: &Query, sessions: impl IntoIterator<Item = &'a Session>) -> Vec<Option<Hit>> {
    sessions.into_iter().map(|session| heading_holds(query, session).then_some(Hit::Heading)).collect()
}

/// For each session whether it holds all terms, and where the first of them is.
pub fn hits<S: Storage>(store: &Store<S>, query: &Query, sessions: &[Tried<'_>]) -> Result<Vec<Option<Hit>>> {
    let parts: Vec<Vec<Parts<'_>>> = sessions.iter().map(|session| session.parts()).collect();
    let mut found: Vec<Option<Hit>> = vec![None; sessions.len()];
    let mut alive: Vec<usize> = (0..sessions.len()).collect();
    for (nth, term) in query.terms.iter().enumerate() {
        let asked: Vec<(usize, &Parts<'_>)> =
            alive.iter().flat_map(|at| parts[*at].iter().map(|parts| (*at, parts))).collect();
        let scopes: Vec<TextScope> = asked.iter().map(|(_, parts)| parts.scope()).collect();
        let firsts = store.storage().find_text(term, &scopes)?;
        let mut holds = BTreeSet::new();
        for ((at, parts), first) in asked.into_iter().zip(firsts) {
            let Some(first) = first.filter(|_| !holds.contains(&at)) else { continue };
            let Some(part) = parts.first(store.storage(), term, first)? else { continue };
            holds.insert(at);
            if nth == 0 {
                found[at] = Some(match parts.owner {
                    Owner::Log(log) => Hit::Entry { log: log.to_owned(), seq: part },
                    Owner::Heading(_) => Hit::Heading,
                });
            }
        }
        alive.retain(|at| holds.contains(at));
    }
    let alive: BTreeSet<usize> = alive.into_iter().collect();
    Ok(found.into_iter().enumerate().map(|(at, hit)| hit.filter(|_| alive.contains(&at))).collect())
}

/// What the row of a session says about its match.
pub fn describe<S: Storage>(store: &Store<S>, query: &Query, session: &Session, hit: &Hit) -> Result<Match> {
    let Hit::Entry { log, seq } = hit else { return Ok(heading_place(&query.terms[0], session)) };
    let is_aside = |part: &Segment| part.log == *log && (part.from..=part.until).contains(seq);
    let place = if session.aside.iter().any(is_aside) { "setAside" } else { "conversation" };
    Ok(Match { place, snippet: said(store, query, log, *seq)? })
}

/// The same of a session nothing was set aside of, where an entry of a log matches.
pub fn describe_entry<S: Storage>(store: &Store<S>, query: &Query, log: &str, seq: u32) -> Result<Match> {
    Ok(Match { place: "conversation", snippet: said(store, query, log, seq)? })
}

fn said<S: Storage>(store: &Store<S>, query: &Query, log: &str, seq: u32) -> Result<String> {
    let page = store.storage().read_log(log, seq, Bounds { limit: 1, max_bytes: 1 })?;
    let text = page.entries.first().map(|entry| text::of_entry(&entry.value)).unwrap_or_default();
    Ok(snippet::snippet(&text, &query.terms[0]).unwrap_or_default())
}

fn heading_place(term: &TextTerm, session: &Session) -> Match {
    if let Some(snippet) = session.title.text().and_then(|title| snippet::snippet(title, term)) {
        return Match { place: "title", snippet };
    }
    let snippet = snippet::snippet(&heading::text(session), term).unwrap_or_default();
    Match { place: "metadata", snippet }
}

fn heading_holds(query: &Query, session: &Session) -> bool {
    let text = heading::text(session);
    query.terms.iter().all(|term| snippet::snippet(&text, term).is_some())
}
