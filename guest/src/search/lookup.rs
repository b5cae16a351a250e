//! Who holds the terms of a query, by the storage's index.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::index::Owner;
use crate::storage::{Bounds, Result, Storage, StorageError, TextHit, TextHits, TextScope, TextTerm};
use crate::store::{Holders, Ids, Removals, Store, keys};

/// How many hits are asked for at least, and at most: each has its price, and so has each call.
const BATCH: (u32, u32) = (64, 4096);

/// So many names of who holds a word cost about as much as to try one session.
const NAMES_PER_TRY: usize = 8;

/// How many may hold a word that is looked up instead of trying so many sessions.
pub fn names_worth(sessions: usize) -> usize {
    sessions.saturating_mul(NAMES_PER_TRY)
}

/// How often only what is being removed may be found before it is given up to name those who hold a word.
const MOST_IN_VAIN: usize = 64;

/// How many shared logs are read to know whether any of many logs is shared.
const SHARES: Bounds = Bounds { limit: 512, max_bytes: 64 * 1024 };

/// What becomes of half a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halves {
    /// All that begins like it is looked for.
    Gathered,
    /// Anybody may hold it.
    Left,
}

/// Which sessions can match.
#[derive(Debug)]
pub enum Few {
    /// Only these.
    Sessions(Ids),
    /// Too many to name them.
    Many,
    /// The storage has no text search: only titles and metadata are searched.
    Unsupported,
}

/// Looks up who holds the terms of a query. What it was told of a term it knows when it is asked for more.
#[derive(Debug)]
pub struct Lookup<'a, S> {
    store: &'a Store<S>,
    terms: &'a [TextTerm],
    removals: Option<Removals>,
    /// By the term's place in the query, and whether all that begins like it is meant.
    owners: BTreeMap<(usize, bool), Owners>,
}

impl<'a, S: Storage> Lookup<'a, S> {
    /// Nothing is known yet.
    pub fn new(store: &'a Store<S>, terms: &'a [TextTerm]) -> Self {
        Self { store, terms, removals: None, owners: BTreeMap::new() }
    }

    /// The sessions that may hold all of these terms, by those of the terms that no more than `most` hold.
    pub fn few(&mut self, terms: Range<usize>, most: usize) -> Result<Few> {
        self.few_by(terms, most, Halves::Gathered)
    }

    /// The sessions that may hold the first of the terms that no more than `most` hold, and the terms behind that one.
    pub fn few_of_one(&mut self, most: usize) -> Result<(Few, Range<usize>)> {
        let count = self.terms.len();
        for nth in 0..count {
            match self.few(nth..nth + 1, most)? {
                Few::Many => {}
                found => return Ok((found, nth + 1..count)),
            }
        }
        Ok((Few::Many, count..count))
    }

    /// The sessions that may hold all the terms, by words that stand in the index as they were typed: to gather what begins
    /// like half a word takes longer.
    pub fn few_by_whole_words(&mut self, most: usize) -> Result<Few> {
        self.few_by(0..self.terms.len(), most, Halves::Left)
    }

    /// For each scope the first part that holds a term, if any does: what [`Storage::find_text`] would say, where all who hold
    /// it are known. What has changed since they were asked for is not in it.
    pub fn first_parts(&self, nth: usize, scopes: &[TextScope]) -> Option<Vec<Option<u32>>> {
        let owners = self.owners.get(&(nth, self.terms.get(nth)?.prefix)).filter(|owners| owners.are_all)?;
        let names: Ids = scopes.iter().map(|scope| scope.owner.as_str()).collect();
        let mut firsts = vec![None; names.len()];
        for (owner, part) in owners.known.iter() {
            if let Some(at) = names.position(owner) {
                firsts[at] = Some(part);
            }
        }
        let first = |scope: &TextScope| firsts[names.position(&scope.owner)?].filter(|part| *part <= scope.until);
        Some(scopes.iter().map(first).collect())
    }

    fn few_by(&mut self, terms: Range<usize>, most: usize, halves: Halves) -> Result<Few> {
        if terms.is_empty() {
            return Ok(Few::Sessions(Ids::default()));
        }
        let store = self.store;
        let mut few: Option<Ids> = None;
        for nth in terms {
            // To know who else holds it is worth no more than to try those that are left.
            let worth = |few: &Ids| names_worth(few.len()).max(BATCH.0 as usize);
            let most = few.as_ref().map_or(most, |few| most.min(worth(few)));
            let owners = match self.owners(nth, most, halves) {
                Ok(Some(owners)) => owners,
                Ok(None) => continue,
                Err(StorageError::Unsupported) => return Ok(Few::Unsupported),
                Err(error) => return Err(error),
            };
            let holding = sessions_of(store, owners)?;
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

    /// The first text of each owner that has any which hold the term; `None` if more than `most` owners have.
    fn owners(&mut self, nth: usize, most: usize, halves: Halves) -> Result<Option<&TextHits>> {
        let prefix = self.terms[nth].prefix;
        // A whole word is found at once, while all that begins like it may have to be gathered first.
        if prefix && halves == Halves::Left && self.gather(nth, false, most)?.is_none_or(TextHits::is_empty) {
            return Ok(None);
        }
        self.gather(nth, prefix, most)
    }

    fn gather(&mut self, nth: usize, prefix: bool, most: usize) -> Result<Option<&TextHits>> {
        let removals = match &mut self.removals {
            Some(removals) => removals,
            none => none.insert(Removals::read(self.store)?),
        };
        let term = TextTerm { prefix, ..self.terms[nth].clone() };
        let owners = self.owners.entry((nth, prefix)).or_default();
        owners.gather(self.store, &term, most, removals)?;
        Ok((owners.are_all && owners.known.len() <= most).then_some(&owners.known))
    }
}

/// Whose texts hold a term, as far as it was asked for.
#[derive(Debug, Default)]
struct Owners {
    /// The first text of each, as far as it was asked for.
    known: TextHits,
    /// Behind which text the others are.
    after: Option<TextHit>,
    are_all: bool,
    /// How often there was nothing but what is being removed.
    in_vain: usize,
}

impl Owners {
    /// Asks for the others, until these are all or more than `most`.
    fn gather<S: Storage>(
        &mut self,
        store: &Store<S>,
        term: &TextTerm,
        most: usize,
        removals: &mut Removals,
    ) -> Result<()> {
        while !self.are_all && self.known.len() <= most && self.in_vain <= MOST_IN_VAIN {
            // So many more would be too many.
            let left = u32::try_from(most + 1 - self.known.len()).unwrap_or(u32::MAX);
            let batch = left.clamp(BATCH.0, BATCH.1);
            let hits = store.storage().search_text(term, self.after.as_ref(), batch)?;
            removals.learn(store, hits.iter().map(|(owner, _)| owner))?;
            let known = self.known.len();
            let mut behind = 0;
            for (owner, part) in hits.iter() {
                // What is being removed is nobody's, but what others share of the same log is before it.
                let dead = removals.start(owner).filter(|start| part >= *start);
                // The rest of this owner's texts can add nothing.
                behind = dead.filter(|start| *start > 1).unwrap_or(0);
                match (dead, self.known.is_last(owner)) {
                    (None, false) => self.known.push(owner, part)?,
                    // An owner's last part comes first.
                    (None, true) => self.known.replace_last(part),
                    (Some(_), _) => {}
                }
            }
            self.in_vain += usize::from(self.known.len() == known);
            self.are_all = hits.len() < batch as usize;
            self.after = hits.last().map(|last| TextHit { part: behind, ..last }).or(self.after.take());
        }
        Ok(())
    }
}

/// The sessions whose texts these are.
fn sessions_of<S: Storage>(store: &Store<S>, texts: &TextHits) -> Result<Ids> {
    let mut shared = Vec::new();
    for holders in shares(store, texts)? {
        shared.extend(Holders::parse(Some(&holders))?.holders.into_keys());
    }
    let own = texts.iter().filter_map(|(owner, _)| Some(Owner::of_name(owner)?.id()));
    Ok(own.chain(shared.iter().map(String::as_str)).collect())
}

/// Those of the records of who shares a log of these texts that there are.
fn shares<S: Storage>(store: &Store<S>, texts: &TextHits) -> Result<Vec<String>> {
    let owners = || texts.iter().filter_map(|(owner, _)| Owner::of_name(owner));
    let logs = || owners().filter(|of| matches!(of, Owner::Log(_)));
    // Few logs are shared. Where one look shows all that are, there is no need to ask for so many that are not.
    if texts.len() > SHARES.limit as usize / 4 {
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
