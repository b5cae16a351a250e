//! Forks and deletes in any order: every transcript stays what it was, and what nobody needs is gone.

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::storage::{Bounds, Durability, Memory, Storage, Write};
use acp_sessions_guest::store::{Holders, Segment, Store, heading, keys};
use proptest::prelude::*;

use crate::shop::{NOW, entry, fork_of, is_mark, log, prompted, put, remove_all, say, transcript};

/// Something that happens; sessions are meant by their index, modulo their number.
#[derive(Debug, Clone)]
enum Step {
    Create,
    Say(usize, usize),
    /// The last entry is written again, longer, as the recorder does with what is still being said.
    Grow(usize),
    Fork(usize),
    Delete(usize),
    /// A history is taken over from an agent, before all there is.
    Adopt(usize, usize),
    /// What follows this part is taken out of the conversation.
    TakeOut(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Create),
        6 => (0..64_usize, prop_oneof![4 => 1..6_usize, 1 => 30..90_usize, 1 => Just(260_usize)])
            .prop_map(|(which, count)| Step::Say(which, count)),
        4 => (0..64_usize).prop_map(Step::Grow),
        8 => (0..64_usize).prop_map(Step::Fork),
        4 => (0..64_usize).prop_map(Step::Delete),
        1 => (0..64_usize, 1..5_usize).prop_map(|(which, count)| Step::Adopt(which, count)),
        1 => (0..64_usize, 0..4_usize).prop_map(|(which, parts)| Step::TakeOut(which, parts)),
    ]
}

/// The store, and what each session's transcript is.
struct Model {
    store: Store<Memory>,
    transcripts: BTreeMap<String, Vec<String>>,
    serial: usize,
}

impl Model {
    fn serial(&mut self) -> usize {
        self.serial += 1;
        self.serial
    }

    fn which(&self, which: usize) -> Option<String> {
        let at = which.checked_rem(self.transcripts.len())?;
        self.transcripts.keys().nth(at).cloned()
    }

    fn apply(&mut self, step: &Step) -> Option<()> {
        match *step {
            Step::Create => {
                let id = format!("s{}", self.serial());
                put(&self.store, &prompted(&id, NOW));
                self.transcripts.insert(id, Vec::new());
            }
            Step::Say(which, count) => {
                let id = self.which(which)?;
                for _ in 0..count {
                    let text = format!("word {}", self.serial());
                    say(&self.store, &id, NOW, &text);
                    self.transcripts.get_mut(&id)?.push(entry(NOW, &text));
                }
            }
            Step::Grow(which) => self.grow(which)?,
            Step::Fork(which) => {
                let parent = self.which(which)?;
                // Any order of names: who comes first among the holders must not matter.
                let serial = self.serial();
                let id = format!("{}{serial}", if serial.is_multiple_of(2) { "a" } else { "z" });
                fork_of(&self.store, &parent, &id);
                let before = self.transcripts[&parent].clone();
                assert_eq!(transcript(&self.store, &id), before);
                let mut after = transcript(&self.store, &parent);
                if after.len() > before.len() && after.last().is_some_and(|last| is_mark(last)) {
                    let mark = after.pop()?;
                    self.transcripts.get_mut(&parent)?.push(mark);
                }
                assert_eq!(after, before);
                self.transcripts.insert(id, before);
            }
            Step::Delete(which) => {
                let id = self.which(which)?;
                assert_eq!(delete(&self.store, &id, NOW).unwrap().len(), 1);
                self.transcripts.remove(&id);
            }
            Step::Adopt(which, count) => self.adopt(which, count)?,
            Step::TakeOut(which, parts) => self.take_out(which, parts)?,
        }
        Some(())
    }

    fn grow(&mut self, which: usize) -> Option<()> {
        let id = self.which(which)?;
        let session = self.store.session(&id).unwrap()?;
        let seq = self.store.storage().log_end(&id).unwrap();
        let last = log(&self.store, &id).pop().filter(|last| !is_mark(last) && seq >= session.tail)?;
        let longer = last.replace("word", "word word");
        let amend = Write::Amend { log: id.clone(), seq, value: longer.clone() };
        self.store.commit(&[], vec![amend], Durability::Relaxed).unwrap();
        *self.transcripts.get_mut(&id)?.last_mut()? = longer;
        Some(())
    }

    fn adopt(&mut self, which: usize, count: usize) -> Option<()> {
        let id = self.which(which)?;
        let taken = format!("log {}", self.serial());
        let texts: Vec<String> = (0..count).map(|_| format!("word {}", self.serial())).collect();
        for text in &texts {
            say(&self.store, &taken, NOW, text);
        }
        let mut session = self.store.session(&id).unwrap()?;
        let until = u32::try_from(count).unwrap();
        session.segments.insert(0, Segment { log: taken.clone(), from: 1, until });
        put(&self.store, &session);
        let holders = Holders { holders: BTreeMap::from([(id.clone(), until)]), orphaned: true };
        let write = Write::Put { key: keys::log_holders(&taken), value: holders.to_text() };
        self.store.commit(&[], vec![write], Durability::Relaxed).unwrap();
        self.transcripts.get_mut(&id)?.splice(0..0, texts.iter().map(|text| entry(NOW, text)));
        Some(())
    }

    fn take_out(&mut self, which: usize, parts: usize) -> Option<()> {
        let id = self.which(which)?;
        let mut session = self.store.session(&id).unwrap()?;
        let end = self.store.storage().log_end(&id).unwrap();
        session.segments.push(Segment { log: id.clone(), from: session.tail, until: end });
        session.segments.retain(|segment| segment.length() > 0);
        let out = session.segments.split_off(parts.min(session.segments.len()));
        session.aside.extend(out);
        session.tail = end + 1;
        let kept: u64 = session.segments.iter().map(Segment::length).sum();
        put(&self.store, &session);
        self.transcripts.get_mut(&id)?.truncate(usize::try_from(kept).unwrap());
        Some(())
    }

    fn check(&self) {
        for (id, expected) in &self.transcripts {
            assert_eq!(&transcript(&self.store, id), expected, "{id}");
        }
        let sessions: Vec<_> = self.transcripts.keys().map(|id| self.store.session(id).unwrap().unwrap()).collect();
        let mut needed: BTreeMap<&str, u32> = BTreeMap::new();
        for segment in sessions.iter().flat_map(|session| session.segments.iter().chain(&session.aside)) {
            let until = needed.entry(&segment.log).or_default();
            *until = segment.until.max(*until);
        }
        remove_all(&self.store);
        let own: BTreeSet<&str> = self.transcripts.keys().map(String::as_str).collect();
        let (mut entries, mut texts) = (0, sessions.iter().filter(|one| !heading::tokens(one).is_empty()).count());
        for log_name in needed.keys().copied().chain(own.iter().copied()).collect::<BTreeSet<_>>() {
            let values = log(&self.store, log_name);
            let there = u32::try_from(values.len()).unwrap();
            match needed.get(log_name) {
                Some(until) if own.contains(log_name) => assert!(there >= *until),
                Some(until) => assert_eq!(there, *until, "of the log {log_name}, whose session is gone"),
                None => {}
            }
            entries += values.len();
            texts += values.iter().filter(|value| !is_mark(value)).count();
        }
        let (_, has_entries, has_texts) = self.store.storage().counts();
        assert_eq!((has_entries, has_texts), (entries, texts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transcript_stays_and_nothing_else(steps in prop::collection::vec(step(), 1..60)) {
        let mut model = Model { store: Store::new(Memory::new()), transcripts: BTreeMap::new(), serial: 0 };
        model.apply(&Step::Create);
        for (nth, step) in steps.iter().enumerate() {
            model.apply(step);
            if nth % 8 == 7 {
                model.check();
            }
        }
        model.check();
        while model.apply(&Step::Delete(steps.len())).is_some() {}
        model.check();
        for prefix in ["a/", "e/", "g/", "i/", "l/", "p/", "s/", "t/", "u/"] {
            let bounds = Bounds { limit: 10, max_bytes: 1000 };
            let left = model.store.storage().scan(prefix, &keys::range_end(prefix), false, bounds).unwrap();
            prop_assert_eq!(left.entries, vec![]);
        }
    }
}
