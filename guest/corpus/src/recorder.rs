//! Where the engines of a story are recorded, one case for each storage that they use.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::{env, thread};

use acp_sessions_guest::storage::{Expectation, Memory, Result, Storage, StorageError, Write};
use acp_sessions_guest::store::Store;
use serde_json::Value;

use crate::case::{Call, Flaw};
use crate::content::Content;
use crate::tape::Tape;
use crate::watched::{Hook, Watched, error_value};
use crate::{file, typed};

/// How many cases each story has made.
static MADE: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Records. When it is dropped, unless the story fails, the cases are held against those in the corpus or, where
/// `CORPUS_RECORD` is set, written there.
#[derive(Debug)]
pub struct Recorder {
    suite: &'static str,
    story: String,
    instances: Cell<u32>,
    /// With where the storage lies, in the order in which they were used. None: nothing is recorded.
    tapes: Option<RefCell<Vec<(usize, Tape)>>>,
}

impl Recorder {
    /// For the stories of this suite: its cases are in the folder of this name, each under the name of the test that runs.
    /// Records nothing where tests run one after the other, in a thread that bears no test's name.
    pub fn new(suite: &'static str) -> Self {
        match thread::current().name() {
            Some(story) if story.contains("::") => Self::named(suite, story),
            _ => Self::off(),
        }
    }

    /// The same for a story of this name, its parts separated by `::`.
    pub fn named(suite: &'static str, story: &str) -> Self {
        Self { suite, story: story.to_owned(), instances: Cell::new(0), tapes: Some(RefCell::default()) }
    }

    /// Records nothing.
    pub fn off() -> Self {
        Self { suite: "", story: String::new(), instances: Cell::new(0), tapes: None }
    }

    /// The number of the next instance.
    pub(crate) fn next_instance(&self) -> u32 {
        self.instances.replace(self.instances.get() + 1)
    }

    /// Does something with what is recorded of a storage, if anything is.
    pub(crate) fn with<S: Storage, T>(&self, storage: &S, run: impl FnOnce(&mut Tape) -> T) -> Option<T> {
        let mut tapes = self.tapes.as_ref()?.borrow_mut();
        let place = std::ptr::from_ref(storage).addr();
        let at = tapes.iter().position(|(of, _)| *of == place).unwrap_or_else(|| {
            tapes.push((place, Tape::begin(&self.story.replace("::", ": ").replace('_', " "), storage)));
            tapes.len() - 1
        });
        let (_, tape) = &mut tapes[at];
        (!tape.is_spoilt()).then(|| run(tape))
    }

    /// A call of the typed interface.
    pub fn typed<S: Storage>(&self, storage: &S, now: i64, call: Call) -> Value {
        self.with(storage, |tape| {
            tape.call(storage, None, call.clone());
            tape.note_now(now);
        });
        let watched = Watched { storage, hook: Noting { recorder: self, plain: storage } };
        let answer = typed::answer(&Store::new(watched), now, call);
        self.with(storage, |tape| tape.returned(storage, Some(answer.clone())));
        answer
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        for (_, tape) in self.tapes.take().into_iter().flat_map(RefCell::into_inner) {
            let story = &self.story;
            let nth = {
                let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let nth = made.entry(format!("{}::{story}", self.suite)).or_default();
                *nth += 1;
                *nth
            };
            if nth > 1 {
                continue; // A story that goes through variants gives its first one.
            }
            let name = format!("{}/{}", self.suite, story.replace("::", "/"));
            let path = file::folder().join(format!("{name}.json"));
            let case = tape.finish().and_then(|case| file::text(&case).ok_or("its file would be too large"));
            if env::var_os("CORPUS_RECORD").is_some() {
                case.as_ref().err().iter().for_each(|why| eprintln!("no case of {name}: {why}"));
                file::put(&path, case.ok()).expect("the case can be written");
            } else {
                let is_kept = file::kept(&path).expect("the case can be read") == case.ok();
                assert!(
                    is_kept,
                    "{name}: the corpus has another case, or none where there is one; see tests/corpus/README.md"
                );
            }
        }
    }
}

/// Notes what goes wrong in a storage. `plain` is the same without what goes wrong.
#[derive(Debug)]
pub(crate) struct Noting<'a, P> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) plain: &'a P,
}

impl<P: Storage> Noting<'_, P> {
    fn fault(&self, function: &'static str, nth: u32, flaw: Flaw) {
        self.recorder.with(self.plain, |tape| tape.note_fault(function, nth, flaw));
    }

    /// Whether the storage would answer so by itself.
    fn is_genuine(&self, expected: &[Expectation], writes: Vec<Write>, error: &StorageError) -> bool {
        let Ok(content) = Content::of(self.plain) else { return false };
        let copy = Memory::new();
        content.write(&copy).is_ok()
            && copy.commit(expected, writes, acp_sessions_guest::storage::Durability::Relaxed).as_ref() == Err(error)
    }
}

/// Notes that the instance was lost in a call.
struct Struck<'s, 'a, P: Storage> {
    noting: &'s Noting<'a, P>,
    function: &'static str,
    nth: u32,
    before: Option<Content>,
}

impl<P: Storage> Drop for Struck<'_, '_, P> {
    fn drop(&mut self) {
        if thread::panicking() {
            let has_happened = self.before.is_some() && Content::of(self.noting.plain).ok() != self.before;
            let flaw = if has_happened { Flaw::LostAfter } else { Flaw::LostBefore };
            self.noting.fault(self.function, self.nth, flaw);
        }
    }
}

impl<P: Storage> Hook for Noting<'_, P> {
    fn read<T>(&self, function: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(nth) = self.recorder.with(self.plain, |tape| tape.count(function)) else { return call() };
        let result = {
            let _struck = Struck { noting: self, function, nth, before: None };
            call()
        };
        if let Err(error) = &result
            && *error != StorageError::Unsupported
        {
            self.fault(function, nth, Flaw::Error(error_value(error)));
        }
        result
    }

    fn commit(
        &self,
        expected: &[Expectation],
        writes: Vec<Write>,
        call: impl FnOnce(Vec<Write>) -> Result<()>,
    ) -> Result<()> {
        let Some(nth) = self.recorder.with(self.plain, |tape| tape.count("commit")) else { return call(writes) };
        let copy = writes.clone();
        let result = {
            let before = Content::of(self.plain).ok();
            let _struck = Struck { noting: self, function: "commit", nth, before };
            call(writes)
        };
        if let Err(error) = &result
            && !self.is_genuine(expected, copy, error)
        {
            self.fault("commit", nth, Flaw::Error(error_value(error)));
        }
        result
    }
}
