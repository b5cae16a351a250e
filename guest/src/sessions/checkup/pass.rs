//! What all steps of a checkup do: note what is wrong, and put right what is to be, if nobody has changed it meanwhile.

use super::fault::{Fault, Finding, Mending};
use crate::storage::{Bounds, Durability, Expectation, RecordPage, Result, Storage, StorageError, Write};
use crate::store::{Store, keys};

/// How many bytes of logs are compared in one call, or a little more.
const AT_ONCE: usize = 1024 * 1024;
/// How often something is tried again after another process changed it.
const ATTEMPTS: usize = 1000;

/// The least key after this one.
pub(super) fn after(key: &str, least: &str) -> String {
    if key.is_empty() { least.to_owned() } else { format!("{key}\u{0}") }
}

/// One call of a checkup.
#[derive(Debug)]
pub(super) struct Pass<'a, S> {
    pub(super) store: &'a Store<S>,
    pub(super) mending: Mending,
    pub(super) now: i64,
    pub(super) budget: Budget,
    pub(super) done: u32,
    pub(super) findings: Vec<Finding>,
}

/// What may be compared in a call, and what was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Bytes that are left.
    pub(super) left: usize,
    /// Entries that were compared.
    pub(super) entries: u32,
}

/// Something wrong that one commit puts right.
#[derive(Debug, Default)]
pub(super) struct Wrong {
    /// What, and of what.
    pub(super) faults: Vec<(Fault, String)>,
    /// What was read to find that out.
    pub(super) expected: Vec<Expectation>,
    /// What puts it right.
    pub(super) writes: Vec<Write>,
}

impl Wrong {
    /// Nothing yet, found out by these records.
    pub(super) fn by(expected: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let expected = expected.into_iter().map(|(key, value)| Expectation { key, value }).collect();
        Self { expected, ..Self::default() }
    }

    pub(super) fn add(&mut self, fault: Fault, subject: &str, writes: impl IntoIterator<Item = Write>) {
        self.faults.push((fault, subject.to_owned()));
        self.writes.extend(writes);
    }
}

impl<'a, S: Storage> Pass<'a, S> {
    pub(super) fn new(store: &'a Store<S>, mending: Mending, now: i64) -> Self {
        let budget = Budget { left: AT_ONCE, entries: 0 };
        Self { store, mending, now, budget, done: 0, findings: Vec::new() }
    }

    /// Some of the records whose keys begin so, behind this key, or from the first on where that is empty.
    pub(super) fn behind(&self, key: &str, prefix: &str, bounds: Bounds) -> Result<RecordPage> {
        self.store.storage().scan(&after(key, prefix), &keys::range_end(prefix), false, bounds)
    }

    /// Whether this is put right.
    pub(super) fn mends(&self, fault: Fault) -> bool {
        self.mending >= fault.remedy()
    }

    pub(super) fn note(&mut self, fault: Fault, subject: &str, is_mended: bool) {
        let finding = Finding { fault, subject: subject.to_owned(), is_mended };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Notes what is wrong, and puts it right as far as that is wanted. A conflict where something has changed since it was
    /// read: then nothing is noted.
    pub(super) fn put_right(&mut self, wrong: Wrong) -> Result<()> {
        self.is_put_right(wrong).map(drop)
    }

    /// Notes what is wrong, and puts it right as far as that is wanted; says whether anything was put right.
    pub(super) fn is_put_right(&mut self, wrong: Wrong) -> Result<bool> {
        let Wrong { faults, expected, writes } = wrong;
        if faults.is_empty() {
            return Ok(false);
        }
        let is_wanted = faults.iter().all(|(fault, _)| self.mends(*fault));
        let is_mended = if is_wanted {
            match self.store.commit(&expected, writes, Durability::Relaxed) {
                // The storage does not put entries into the midst of logs.
                Err(StorageError::Unsupported) => false,
                result => {
                    result?;
                    true
                }
            }
        } else {
            self.expect(&expected)?;
            false
        };
        for (fault, subject) in faults {
            self.note(fault, &subject, is_mended);
        }
        Ok(is_mended)
    }

    /// A conflict unless this still holds.
    pub(super) fn expect(&self, expected: &[Expectation]) -> Result<()> {
        let keys: Vec<String> = expected.iter().map(|expectation| expectation.key.clone()).collect();
        let values = self.store.storage().get(&keys)?;
        let holds = expected.iter().zip(&values).all(|(expectation, value)| expectation.value == *value);
        if holds { Ok(()) } else { Err(StorageError::Conflict) }
    }

    /// Does something again as long as others change what it looks at.
    pub(super) fn again<T>(&mut self, mut attempt: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        for _ in 0..ATTEMPTS {
            match attempt(self) {
                Err(StorageError::Conflict) => {}
                result => return result,
            }
        }
        Err(StorageError::Unavailable("other processes keep changing what is compared".to_owned()))
    }

    /// What came of a session; it is noted where what belongs to it cannot be read.
    pub(super) fn unless_unreadable<T>(&mut self, result: Result<T>, key: &str) -> Result<Option<T>> {
        match result {
            Err(StorageError::Corrupt(_)) => {
                self.note(Fault::Conversation, key, false);
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// These records, and what stands under them.
    pub(super) fn read(&self, keys: Vec<String>) -> Result<Vec<(String, Option<String>)>> {
        let values = self.store.storage().get(&keys)?;
        Ok(keys.into_iter().zip(values).collect())
    }
}
