//! A case as it runs: clients, agents, and the engines between them.

mod connections;
mod finish;
mod outside;
mod restart;

use std::collections::{BTreeSet, VecDeque};
use std::env;

use acp_sessions_corpus::Recorder;
use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::sessions::open_marks;
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;

use crate::agent::Agent;
use crate::case::{Case, Deed, How, Step};
use crate::checks;
use crate::client::Client;
use crate::faults::Faults;
use crate::ground::{Broke, Ground};
use crate::hand::Hand;
use crate::host::{Broken, Host, Sent};
use crate::kind::Kind;
use crate::world::World;

/// What all engines of a case share.
#[derive(Debug)]
pub(crate) struct Bench {
    memory: Memory,
    world: World,
    faults: Faults,
}

impl Bench {
    fn of(case: &Case, recorder: Recorder) -> Self {
        let memory = if case.texts { Memory::new() } else { Memory::without_text_search() };
        Self { memory, world: World::new(recorder, case.renews), faults: Faults::default() }
    }
}

/// How long a store that has failed may be left alone, in milliseconds.
const LONGEST_WAIT: i64 = 30_000;

/// For how long a connection that is given nothing to do, not even the time, is known to be there for sure, in milliseconds:
/// it vouches for itself so often, when it next writes.
const KNOWN_FOR: i64 = open_marks::BELIEVED_FOR - open_marks::BEAT_EVERY - 1000;

/// A connection.
struct Connection<'a> {
    host: Host<'a>,
    client: Client,
    agent: Agent,
    /// What is to arrive together, and how many lines are still to come.
    pile: Vec<Arrival>,
    pile_left: u8,
}

/// A case as it runs.
struct Machine<'a> {
    bench: &'a Bench,
    ground: Ground,
    lines: [Option<Connection<'a>>; 2],
    kinds: [Kind; 4],
    hand: Hand,
    /// The agents whose lists the layer may have read.
    lists_read: BTreeSet<&'static str>,
    retains: bool,
    starts: usize,
    /// How many calls of the store had gone wrong when that was last looked at, and when one last had.
    faults_seen: u32,
    failed_at: i64,
    /// When each connection was last given anything to do.
    woken_at: [i64; 2],
    /// The store has failed each connection since time last passed on it.
    has_failed: [bool; 2],
    lengths: checks::Lengths,
    /// Whether anybody cares that something does not hold.
    cares: &'a dyn Fn(&Broke) -> bool,
    /// What anybody cares for and does not hold.
    broken: Vec<Broke>,
    /// The lines that flowed, where somebody wants to see them.
    trace: Option<Vec<String>>,
}

/// How a case went.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) broken: Vec<Broke>,
    pub(crate) trace: Vec<String>,
}

/// Runs a case until something does not hold that anybody cares for. One that is traced is recorded for the conformance
/// corpus too, where that is asked for.
pub(crate) fn run(case: &Case, cares: &dyn Fn(&Broke) -> bool, traced: bool) -> Outcome {
    let is_recorded = traced && env::var_os("CORPUS_RECORD").is_some();
    let recorder =
        if is_recorded { Recorder::named("machine", &format!("seed_{}", case.seed)) } else { Recorder::off() };
    let bench = Bench::of(case, recorder);
    let mut machine = Machine {
        bench: &bench,
        ground: Ground::default(),
        lines: [None, None],
        kinds: case.kinds,
        hand: Hand::of(case.seed),
        lists_read: BTreeSet::new(),
        retains: case.retains,
        starts: 0,
        faults_seen: 0,
        failed_at: 0,
        woken_at: [0; 2],
        has_failed: [false; 2],
        lengths: checks::Lengths::default(),
        cares,
        broken: Vec::new(),
        trace: traced.then(Vec::new),
    };
    for step in &case.steps {
        machine.note(|| format!("-- {step:?}"));
        machine.step(*step);
        machine.look();
        if machine.is_broken() {
            break;
        }
    }
    if !machine.is_broken() {
        machine.note(|| "-- the end".to_owned());
        machine.finish(case.texts);
        machine.is_broken();
    }
    Outcome { broken: machine.broken, trace: machine.trace.unwrap_or_default() }
}

impl<'a> Machine<'a> {
    fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(text());
        }
    }

    /// Whether something does not hold; then there is no use in going on.
    fn is_broken(&mut self) -> bool {
        let cares = self.cares;
        self.broken.extend(self.ground.take_broken().into_iter().filter(|broke| cares(broke)));
        !self.broken.is_empty()
    }

    /// Looks whether the store is as it must be at all times.
    fn look(&mut self) {
        let broken = checks::steady(&self.ground.talk, &self.bench.memory, &mut self.lengths);
        self.ground.extend(broken);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Clock(seconds) => {
                self.ground.talk.was_set_back |= seconds < 0;
                self.bench.world.pass(i64::from(seconds) * 1000);
                if self.retains {
                    self.ground.talk.age(&Store::new(&self.bench.memory));
                }
            }
            Step::Fault(fault, after, times) => self.bench.faults.arm(fault, after, times),
            Step::Client(line, ask) => {
                self.started(line);
                let Some(open) = &mut self.lines[usize::from(line)] else { return };
                let contents = open.client.ask(ask, line, open.agent.kind, &mut self.ground);
                self.deliver(line, Peer::Client, contents);
            }
            Step::Agent(line, deed) => {
                self.started(line);
                self.act(line, deed);
            }
            Step::Outside(line, at, change) => self.outside(line, at, change),
            Step::FirstList(line) => self.first_list(line),
            Step::Turn(line, pick, chunks) => {
                self.started(line);
                self.turn(line, crate::case::Ask::Prompt(pick, 3), chunks);
            }
            Step::Tick(line) => {
                self.started(line);
                self.tick(line, 250);
            }
            Step::Room(line, kilobytes) => {
                self.started(line);
                let Some(open) = &mut self.lines[usize::from(line)] else { return };
                open.host.room = if kilobytes == u8::MAX { u32::MAX } else { u32::from(kilobytes) * 1024 };
                self.with_host(line, Host::pump);
            }
            Step::Pile(line, lines) => {
                self.started(line);
                if let Some(open) = &mut self.lines[usize::from(line)] {
                    open.pile_left = lines;
                }
            }
            Step::Trap(line) => {
                self.started(line);
                self.flush_pile(line);
                self.with_host(line, Host::lose);
            }
            Step::Restart(line) => {
                self.started(line);
                self.restart(line);
            }
            Step::End(line, end) => self.end(line, end),
            Step::Settle(line) => {
                self.started(line);
                self.settle(line);
            }
        }
    }

    fn act(&mut self, line: u8, deed: Deed) {
        let now = self.bench.world.now();
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        self.ground.talk.is_crossing = !open.pile.is_empty();
        let (first, loads) = (self.ground.talk.said.len(), open.agent.loads());
        let said = open.agent.act(deed, now, &mut self.ground);
        self.ground.talk.is_crossing = false;
        for said in &mut self.ground.talk.said[first..] {
            said.unwritten = Some(line);
        }
        if open.agent.loads() < loads {
            self.ground.talk.cross(line);
        }
        self.deliver(line, Peer::Agent, said.into_iter().map(Content::Line).collect());
    }

    /// A prompt, chunks of an answer, its end.
    fn turn(&mut self, line: u8, ask: crate::case::Ask, chunks: u8) {
        let before = self.prompts(line);
        self.step(Step::Client(line, ask));
        if self.prompts(line) == before {
            return;
        }
        for _ in 0..chunks {
            let Some(open) = &self.lines[usize::from(line)] else { return };
            let at = open.agent.place_of_last_prompt();
            self.act(line, Deed::Say(at));
        }
        let Some(open) = &self.lines[usize::from(line)] else { return };
        let prompt = open.agent.requests.iter().rposition(|request| request.method == "session/prompt");
        if let Some(at) = prompt.and_then(|at| u8::try_from(at).ok()) {
            self.act(line, Deed::Answer(at, How::Well));
        }
    }

    fn prompts(&self, line: u8) -> usize {
        let Some(open) = &self.lines[usize::from(line)] else { return 0 };
        open.agent.requests.iter().filter(|request| request.method == "session/prompt").count()
    }

    /// Time passes, and the engine is told.
    fn tick(&mut self, line: u8, millis: i64) {
        self.flush_pile(line);
        self.note_faults();
        self.bench.world.pass(millis);
        let losses = self.lines[usize::from(line)].as_ref().map(|open| open.host.losses);
        let met = self.bench.faults.met();
        self.with_host(line, Host::idle);
        self.has_failed[usize::from(line)] &= self.bench.faults.met() != met;
        self.woken(line);
        self.note_faults();
        // What the layer may still hold back is written by now: a store that has failed is asked again within a while.
        let is_asked_again = self.bench.world.now() - self.failed_at >= LONGEST_WAIT;
        let Some(open) = &self.lines[usize::from(line)] else { return };
        if is_asked_again && losses == Some(open.host.losses) {
            self.ground.talk.firm_up(line);
            self.ground.talk.write_out(line);
        }
    }

    /// A connection has been given something to do.
    fn woken(&mut self, line: u8) {
        let (now, other) = (self.bench.world.now(), 1 - line);
        self.woken_at[usize::from(line)] = now;
        let is_known = (0..KNOWN_FOR).contains(&(now - self.woken_at[usize::from(other)]));
        let Some(open) = &self.lines[usize::from(line)] else { return };
        let store = Store::new(&self.bench.memory);
        for session in open.client.opens() {
            // Where the store did not take its mark either, nobody can know, until time passes on it.
            let lacks_mark = || {
                self.has_failed[usize::from(other)]
                    && open_marks::is_open(&store, session, now).is_ok_and(|is_open| !is_open)
            };
            if !is_known || lacks_mark() {
                self.ground.talk.give_up(other, session);
            }
        }
    }

    /// Notes when something went wrong last.
    fn note_faults(&mut self) {
        if std::mem::replace(&mut self.faults_seen, self.bench.faults.met()) != self.bench.faults.met() {
            self.failed_at = self.bench.world.now();
        }
    }

    fn deliver(&mut self, line: u8, peer: Peer, contents: Vec<Content>) {
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        let hand = &self.hand;
        let arrivals = contents.into_iter().map(|content| match content {
            Content::Line(line) if peer == Peer::Agent => Content::Line(hand.of_agent(line)),
            Content::Line(line) => Content::Line(hand.of_client(line)),
            content => content,
        });
        let arrivals = arrivals.map(|content| Arrival { peer, content });
        open.pile.extend(arrivals);
        open.pile_left = open.pile_left.saturating_sub(1);
        if open.pile_left == 0 {
            self.flush_pile(line);
        }
    }

    fn flush_pile(&mut self, line: u8) {
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        open.pile_left = 0;
        let pile = std::mem::take(&mut open.pile);
        if pile.is_empty() {
            return;
        }
        let is_mixed = pile.iter().any(|arrival| arrival.peer == Peer::Agent) && pile.len() > 1;
        for window in open.client.windows.iter_mut().filter(|window| !window.done && is_mixed) {
            window.blurred = true;
        }
        for arrival in &pile {
            let name = if arrival.peer == Peer::Client { "client" } else { "agent" };
            let text = || format!("{line} {name}: {:?}", arrival.content);
            if let Some(trace) = &mut self.trace {
                trace.push(text());
            }
        }
        self.woken(line);
        self.with_host(line, |host| host.receive(pile));
    }

    /// Calls the host, and hands out what comes of it; what the agent says to that at once goes back in.
    fn with_host(&mut self, line: u8, call: impl FnOnce(&mut Host<'a>) -> Result<Vec<Sent>, Broken>) {
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        let losses = open.host.losses;
        let windows = open.client.windows.iter().filter(|window| window.done).count();
        let met = self.bench.faults.met();
        let sent = call(&mut open.host);
        self.ground.talk.had_faults |= self.bench.faults.met() > 0;
        if self.bench.faults.met() != met {
            self.has_failed[usize::from(line)] = true;
            self.ground.talk.fail(line);
        }
        if open.host.losses > losses {
            self.ground.talk.shake(line);
            self.note(|| format!("{line} -- the instance was lost"));
        }
        let mut said: VecDeque<String> = VecDeque::new();
        match sent {
            Ok(sent) => self.hand_out(line, sent, &mut said),
            Err(Broken::NotOpened | Broken::Killed) => {
                self.lines[usize::from(line)] = None;
                self.ground.talk.cut_off(line);
            }
            Err(Broken::Panicked(text)) => {
                self.ground.broke("panic", text);
                self.lines[usize::from(line)] = None;
            }
        }
        if let Some(open) = &self.lines[usize::from(line)]
            && open.client.windows.iter().filter(|window| window.done).count() > windows
        {
            self.ground.extend(checks::locked(&self.ground.talk, &open.client, &open.agent));
            self.ground.extend(checks::replaced(&open.client, &open.agent));
        }
        if !said.is_empty() {
            self.deliver(line, Peer::Agent, said.into_iter().map(Content::Line).collect());
        }
    }

    fn hand_out(&mut self, line: u8, sent: Vec<Sent>, said: &mut VecDeque<String>) {
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        for sent in sent {
            if let Some(trace) = &mut self.trace {
                trace.push(format!("{line}   {sent:?}"));
            }
            match sent {
                Sent::Client(text) => open.client.hear(&text, &mut self.ground),
                Sent::Agent(text) => said.extend(open.agent.hear(&text, &mut self.ground)),
            }
        }
    }
}
