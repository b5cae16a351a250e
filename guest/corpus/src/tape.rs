//! What is recorded of one storage: a case in the making.

use std::collections::BTreeMap;

use acp_sessions_guest::storage::Storage;
use serde_json::Value;

use crate::case::{Call, Case, Connect, Fault, Flaw, Step};
use crate::content::Content;

/// The steps that a case may have, and the bytes of its lines and of what is in its storage.
const MOST_STEPS: usize = 600;
const MOST_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Tape {
    case: Case,
    /// What the storage held after the last step.
    known: Content,
    now: Option<i64>,
    memos: BTreeMap<u32, BTreeMap<String, String>>,
    open: Option<Open>,
    bytes: usize,
    /// Why there is no case of it.
    spoilt: Option<&'static str>,
}

/// A step that has not returned yet.
#[derive(Debug)]
struct Open {
    step: Step,
    counts: BTreeMap<&'static str, u32>,
}

impl Tape {
    pub(crate) fn begin<S: Storage>(about: &str, storage: &S) -> Self {
        let start = Content::of(storage).unwrap_or_default();
        let without_text_search = storage.text_owners(None, 1).is_err();
        let (known, end) = (start.clone(), Content::default());
        let case = Case { about: about.to_owned(), without_text_search, start, steps: Vec::new(), end };
        Self { case, known, now: None, memos: BTreeMap::new(), open: None, bytes: 0, spoilt: None }
    }

    fn spoil(&mut self, why: &'static str) {
        self.spoilt = self.spoilt.or(Some(why));
        (self.open, self.known) = (None, Content::default());
        self.case.steps.clear();
    }

    /// Whether there is no case to be made of it.
    pub(crate) fn is_spoilt(&self) -> bool {
        self.spoilt.is_some()
    }

    /// Something is called, and will return.
    pub(crate) fn call<S: Storage>(&mut self, storage: &S, instance: Option<u32>, mut call: Call) {
        match self.open.take() {
            // Nothing came of it.
            Some(open) if !open.step.has_returned() => self.push(open.step),
            Some(_) => self.spoil("what followed from what was received was not pulled at once"),
            None => {}
        }
        if self.spoilt.is_some() {
            return;
        }
        let Ok(found) = Content::of(storage) else { return self.spoil("the storage cannot be read") };
        if found != self.known {
            let call = Call::Commit { writes: self.known.until(&found) };
            self.push(Step::new(None, call));
            self.known = found;
        }
        if let (Some(instance), Call::Connect(connect)) = (instance, &mut call) {
            self.connected(instance, connect);
        }
        self.open = Some(Open { step: Step::new(instance, call), counts: BTreeMap::new() });
    }

    fn push(&mut self, mut step: Step) {
        self.bytes += serde_json::to_string(&step).map_or(0, |text| text.len());
        match self.case.steps.last_mut() {
            Some(last) if last.instance == step.instance && last.has_returned() && step.is_plain_pull() => {
                last.pulls.extend(step.returns.take());
            }
            _ => self.case.steps.push(step),
        }
    }

    /// Says of an instance that carries on which one it follows, instead of all that it is given.
    fn connected(&mut self, instance: u32, connect: &mut Connect) {
        let kept: BTreeMap<_, _> = connect.kept.iter().cloned().collect();
        let same = |(_, memos): &(&u32, &BTreeMap<_, _>)| **memos == kept;
        if !kept.is_empty()
            && let Some((before, _)) = self.memos.iter().rev().find(same)
        {
            connect.after = Some(*before);
            connect.kept.clear();
        }
        self.memos.insert(instance, kept);
    }

    /// Whether this instance has received something and what follows is to be pulled; if so, with this room.
    pub(crate) fn is_received_by(&mut self, instance: u32, room: u32) -> bool {
        match &mut self.open {
            Some(Open { step: Step { instance: by, call: Call::Receive { client_room, .. }, .. }, .. })
                if *by == Some(instance) =>
            {
                *client_room = room;
                true
            }
            _ => false,
        }
    }

    /// The open instance asked for the time.
    pub(crate) fn note_now(&mut self, now: i64) {
        if let Some(open) = &mut self.open
            && self.now != Some(now)
        {
            (open.step.now, self.now) = (Some(now), Some(now));
        }
    }

    /// A function of the storage is called; which time in this step.
    pub(crate) fn count(&mut self, function: &'static str) -> u32 {
        let Some(open) = &mut self.open else { return 0 };
        let count = open.counts.entry(function).or_default();
        *count += 1;
        *count
    }

    /// The nth call of a function went wrong.
    pub(crate) fn note_fault(&mut self, function: &'static str, nth: u32, flaw: Flaw) {
        if let Some(open) = &mut self.open {
            open.step.faults.push(Fault { function: function.to_owned(), nth, flaw });
        }
    }

    /// An instance wants something kept.
    pub(crate) fn keep(&mut self, instance: u32, key: &str, value: Option<&str>) {
        let memos = self.memos.entry(instance).or_default();
        match value {
            Some(value) => memos.insert(key.to_owned(), value.to_owned()),
            None => memos.remove(key),
        };
    }

    /// What was called returns this.
    pub(crate) fn returned<S: Storage>(&mut self, storage: &S, returns: Option<Value>) {
        let Some(mut open) = self.open.take() else { return };
        open.step.returns = returns;
        self.push(open.step);
        match Content::of(storage) {
            Ok(content) => self.known = content,
            Err(_) => self.spoil("the storage cannot be read"),
        }
        let stored: usize = self.known.records.iter().map(|(key, value)| key.len() + value.len()).sum();
        if self.bytes + stored > MOST_BYTES || self.case.steps.len() > MOST_STEPS {
            self.spoil("it is too large");
        }
    }

    /// The case, if there is one to be made of it.
    pub(crate) fn finish(mut self) -> Result<Case, &'static str> {
        match self.open.take() {
            Some(open) if !open.step.has_returned() => self.push(open.step),
            Some(_) => self.spoil("what followed from what was received was not pulled at once"),
            None => {}
        }
        if let Some(why) = self.spoilt {
            return Err(why);
        }
        self.case.end = self.known;
        Ok(self.case)
    }
}
