//! Plays a case with native engines over a storage in memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use acp_sessions_guest::engine::{Engine, Output};
use acp_sessions_guest::environment::Environment;
use acp_sessions_guest::storage::{Durability, Expectation, Memory, Result, Storage as _, Write};
use acp_sessions_guest::store::Store;
use serde_json::Value;

use crate::case::{ANY_ROOM, Call, Case, Connect, Fault, Flaw, Step};
use crate::content::Content;
use crate::recorded::{refusal_value, step_value};
use crate::watched::{Hook, Watched, value_error};
use crate::{Numbers, typed};

/// What an instance unwinds with when it is lost.
struct Lost;

/// Makes calls of the storage go wrong as a step says.
#[derive(Debug, Default)]
struct Striking {
    faults: RefCell<Vec<Fault>>,
    counts: RefCell<BTreeMap<&'static str, u32>>,
}

impl Striking {
    fn arm(&self, faults: &[Fault]) {
        self.faults.replace(faults.to_vec());
        self.counts.take();
    }

    fn strike<T>(&self, function: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let nth = {
            let mut counts = self.counts.borrow_mut();
            let count = counts.entry(function).or_default();
            *count += 1;
            *count
        };
        let faults = self.faults.borrow();
        let fault = faults.iter().find(|fault| fault.function == function && fault.nth == nth);
        match fault.map(|fault| &fault.flaw) {
            None => call(),
            Some(Flaw::Error(error)) => Err(value_error(error).expect("an error of the storage")),
            Some(flaw) => {
                if *flaw == Flaw::LostAfter {
                    let _ = call();
                }
                drop(faults);
                // Does not reach the panic hook, so nothing is printed.
                resume_unwind(Box::new(Lost));
            }
        }
    }
}

impl Hook for &Striking {
    fn read<T>(&self, function: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.strike(function, call)
    }

    fn commit(
        &self,
        _expected: &[Expectation],
        writes: Vec<Write>,
        call: impl FnOnce(Vec<Write>) -> Result<()>,
    ) -> Result<()> {
        self.strike("commit", || call(writes))
    }
}

/// The time of the case, and the numbers of an instance.
struct Seat<'p> {
    numbers: Numbers,
    now: &'p Cell<i64>,
}

impl Environment for Seat<'_> {
    fn now(&self) -> i64 {
        self.now.get()
    }

    fn random(&self) -> u64 {
        self.numbers.draw()
    }
}

type Lent<'p> = Watched<&'p Memory, &'p Striking>;

struct Player<'p> {
    memory: &'p Memory,
    striking: &'p Striking,
    now: &'p Cell<i64>,
    engines: BTreeMap<u32, Engine<Lent<'p>, Seat<'p>>>,
    memos: BTreeMap<u32, BTreeMap<String, String>>,
}

/// The case as it comes out: the same steps with what they return now, and what the storage holds in the end.
///
/// # Panics
/// Where the case itself is wrong (a commit of somebody else's that is refused, a call of an instance that is not connected),
/// and where the engine does.
pub fn play(case: &Case) -> Case {
    let memory = if case.without_text_search { Memory::without_text_search() } else { Memory::new() };
    case.start.write(&memory).expect("the storage is as the case says");
    let (striking, now) = (Striking::default(), Cell::new(0));
    let mut host =
        Player { memory: &memory, striking: &striking, now: &now, engines: BTreeMap::new(), memos: BTreeMap::new() };
    let mut played = case.clone();
    for step in &mut played.steps {
        now.set(step.now.unwrap_or(now.get()));
        striking.arm(&step.faults);
        step.returns = match catch_unwind(AssertUnwindSafe(|| host.call(step))) {
            Ok(returns) => returns,
            Err(payload) if payload.is::<Lost>() => None,
            Err(payload) => resume_unwind(payload),
        };
        for pulled in &mut step.pulls {
            let pull = Step::new(step.instance, Call::Pull { client_room: ANY_ROOM });
            *pulled = host.call(&pull).unwrap_or_default();
        }
    }
    striking.arm(&[]);
    played.end = Content::of(&memory).expect("what is in memory can be read");
    played
}

impl Player<'_> {
    fn call(&mut self, step: &Step) -> Option<Value> {
        let lent = || Watched { storage: self.memory, hook: self.striking };
        match (step.call.clone(), step.instance) {
            (Call::Commit { writes }, _) => {
                let writes = writes.into_iter().map(Write::from).collect();
                self.memory.commit(&[], writes, Durability::Durable).expect("somebody else can write");
                None
            }
            (Call::Connect(connect), Some(instance)) => self.connect(instance, connect),
            (call, Some(instance)) => self.connection(instance, call),
            (call, None) => Some(typed::answer(&Store::new(lent()), self.now.get(), call)),
        }
    }

    fn connect(&mut self, instance: u32, connect: Connect) -> Option<Value> {
        let kept: BTreeMap<_, _> = match connect.after {
            Some(before) => self.memos[&before].clone(),
            None => connect.kept.into_iter().collect(),
        };
        self.memos.insert(instance, kept.clone());
        let seat = Seat { numbers: Numbers::of(instance), now: self.now };
        let lent = Watched { storage: self.memory, hook: self.striking };
        let lost = connect.lost.into_iter().map(Into::into).collect();
        match Engine::connect(lent, seat, connect.settings, kept.into_iter().collect(), lost) {
            Ok(engine) => {
                self.engines.insert(instance, engine);
                None
            }
            Err(error) => Some(refusal_value(&error)),
        }
    }

    fn connection(&mut self, instance: u32, call: Call) -> Option<Value> {
        let engine = self.engines.get_mut(&instance).expect("the instance is connected");
        let room = match call {
            Call::Receive { arrivals, client_room } => {
                engine.receive(arrivals.into_iter().map(Into::into));
                client_room
            }
            Call::Pull { client_room } => client_room,
            Call::Idle => return engine.idle().map(Value::from),
            Call::PeerClosed { peer } => {
                engine.peer_closed(peer.into());
                return None;
            }
            Call::AgentRestarted { how } => {
                engine.agent_restarted(&how);
                return None;
            }
            call => return Some(typed::answer(&Store::new(self.memory), self.now.get(), call)),
        };
        let outputs = engine.pull(room);
        let memos = self.memos.entry(instance).or_default();
        for output in &outputs {
            match output {
                Output::Keep { key, value: Some(value) } => memos.insert(key.clone(), value.clone()),
                Output::Keep { key, value: None } => memos.remove(key),
                _ => None,
            };
        }
        Some(step_value(&outputs, engine.has_more(), engine.has_held(), engine.is_full()))
    }
}
