//! Where the lines of both sides wait for the engine.
//!
//! One thread reads from each side and one thread runs the engine. A reader waits while the engine has a good deal of
//! its lines before it, so that a side that sends faster than the engine works is slowed down and not stored.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::component::connection::{Arrival, Content, Peer};

/// A reader waits once this many bytes of its lines are here.
const HIGH_WATER: usize = 1 << 20;

/// If nothing was taken for this long, a reader looks whether there is still somebody at the other end.
const PATIENCE: Duration = Duration::from_millis(300);

/// What happened.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// Lines came from one side.
    Arrived(Vec<Arrival>),
    /// That side has ended, after all that came from it.
    Ended(Peer),
    /// That side takes no more lines, though it may still send some.
    Deaf(Peer),
    /// The program was asked to stop.
    Stop,
    /// A writer has made room.
    Room,
    /// The time was reached.
    Time,
}

/// From which sides lines are wanted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// From the client.
    pub client: bool,
    /// From the agent.
    pub agent: bool,
}

/// Collects what the threads around the engine have for it.
#[derive(Debug, Default, Clone)]
pub struct Inbox {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// For the engine: something has come.
    filled: Condvar,
    /// For the readers: something was taken.
    taken: Condvar,
}

#[derive(Debug, Default)]
struct State {
    client: Side,
    agent: Side,
    /// Whose lines were taken last.
    last: Option<Peer>,
    stop: bool,
    room: bool,
    /// The engine's thread waits for any of these.
    waiting: bool,
}

#[derive(Debug, Default)]
struct Side {
    lines: VecDeque<Content>,
    bytes: usize,
    /// How often lines were put in.
    pushes: u64,
    /// Nothing more comes; still to be reported.
    ended: bool,
    /// It takes no more lines; still to be reported.
    deaf: bool,
    /// Lines are no longer wanted.
    refused: bool,
}

impl State {
    fn side(&mut self, peer: Peer) -> &mut Side {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    /// What a client sends (a cancel, say) goes before what has gathered from the agent. While both sides have lines they
    /// take turns, so that neither can keep the other from being heard.
    fn order(&self) -> [Peer; 2] {
        if self.last == Some(Peer::Client) { [Peer::Agent, Peer::Client] } else { [Peer::Client, Peer::Agent] }
    }

    fn take(&mut self, wanted: Wanted) -> Option<Event> {
        if std::mem::take(&mut self.stop) {
            return Some(Event::Stop);
        }
        if std::mem::take(&mut self.room) {
            return Some(Event::Room);
        }
        for peer in self.order() {
            let wanted = match peer {
                Peer::Client => wanted.client,
                Peer::Agent => wanted.agent,
            };
            let side = self.side(peer);
            if std::mem::take(&mut side.deaf) {
                return Some(Event::Deaf(peer));
            }
            if !side.lines.is_empty() {
                // What is left of a side that has ended is no more than this, and its end must be seen.
                if wanted || side.ended {
                    side.bytes = 0;
                    let lines = side.lines.drain(..).map(|content| Arrival { from: peer, content }).collect();
                    self.last = Some(peer);
                    return Some(Event::Arrived(lines));
                }
            } else if std::mem::take(&mut side.ended) {
                return Some(Event::Ended(peer));
            }
        }
        None
    }
}

impl Shared {
    /// Wakes the engine's thread if it waits.
    fn wake(&self, state: &mut State) {
        if std::mem::take(&mut state.waiting) {
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked leaves the queues as good as they were.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    /// The end at which a side's lines are put in.
    pub fn source(&self, peer: Peer) -> Source {
        Source { shared: Arc::clone(&self.shared), peer }
    }

    /// Waits for the next event, until `deadline` if there is one.
    pub fn next(&self, wanted: Wanted, deadline: Option<Instant>) -> Event {
        let mut state = self.shared.lock();
        loop {
            if let Some(event) = state.take(wanted) {
                state.waiting = false;
                drop(state);
                if matches!(event, Event::Arrived(_)) {
                    self.shared.taken.notify_all();
                }
                return event;
            }
            state.waiting = true;
            state = match deadline {
                None => self.shared.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        state.waiting = false;
                        return Event::Time;
                    }
                    self.shared.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Asks the engine's thread to stop.
    pub fn stop(&self) {
        let mut state = self.shared.lock();
        state.stop = true;
        self.shared.wake(&mut state);
    }

    /// Tells the engine's thread that a writer has made room.
    pub fn room(&self) {
        let mut state = self.shared.lock();
        state.room = true;
        self.shared.wake(&mut state);
    }

    /// From now on this side's lines are dropped; its reader is not held up.
    pub fn refuse(&self, peer: Peer) {
        let mut state = self.shared.lock();
        let side = state.side(peer);
        side.refused = true;
        side.lines.clear();
        side.bytes = 0;
        drop(state);
        self.shared.taken.notify_all();
    }
}

/// Puts in the lines of one side.
#[derive(Debug, Clone)]
pub struct Source {
    shared: Arc<Shared>,
    peer: Peer,
}

impl Source {
    /// Puts lines in, all of them, and then waits while there are too many. Returns false if reading on is of no use:
    /// nothing is taken any more, and `is_hung_up` says that nobody is left who would notice.
    pub fn push(&self, lines: &mut Vec<Content>, is_hung_up: impl Fn() -> bool) -> bool {
        if lines.is_empty() {
            return true;
        }
        let mut state = self.shared.lock();
        let side = state.side(self.peer);
        if side.refused {
            lines.clear();
            return true;
        }
        side.pushes += 1;
        side.bytes += lines.iter().map(size).sum::<usize>();
        side.lines.extend(lines.drain(..));
        self.shared.wake(&mut state);
        while state.side(self.peer).bytes > HIGH_WATER {
            let waited = self.shared.taken.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            if waited.1.timed_out() && state.side(self.peer).bytes > HIGH_WATER && is_hung_up() {
                return false;
            }
        }
        true
    }

    /// This side takes no more lines.
    pub fn deaf(&self) {
        let mut state = self.shared.lock();
        state.side(self.peer).deaf = true;
        self.shared.wake(&mut state);
    }

    /// Nothing more can come from this side but what is on its way: waits until no lines have come for this long and
    /// none wait here, and takes that for the end.
    pub fn end_when_quiet(&self, quiet: Duration) {
        let mut pushes = None;
        loop {
            let now = {
                let mut state = self.shared.lock();
                let side = state.side(self.peer);
                (side.pushes, side.lines.is_empty())
            };
            if pushes == Some(now.0) && now.1 {
                return self.end();
            }
            pushes = Some(now.0);
            thread::sleep(quiet);
        }
    }

    /// Nothing more comes from this side.
    pub fn end(&self) {
        let mut state = self.shared.lock();
        state.side(self.peer).ended = true;
        self.shared.wake(&mut state);
    }
}

fn size(content: &Content) -> usize {
    match content {
        Content::Line(text) | Content::TooLong(text) => text.len(),
        Content::NotText => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Wanted = Wanted { client: true, agent: true };

    fn lines(texts: &[&str]) -> Vec<Content> {
        texts.iter().map(|text| Content::Line((*text).to_owned())).collect()
    }

    fn arrived(from: Peer, texts: &[&str]) -> Event {
        Event::Arrived(lines(texts).into_iter().map(|content| Arrival { from, content }).collect())
    }

    #[test]
    fn an_end_comes_after_all_lines() {
        let inbox = Inbox::default();
        let source = inbox.source(Peer::Client);
        source.push(&mut lines(&["a"]), || false);
        source.push(&mut lines(&["b", "c"]), || false);
        source.end();
        assert_eq!(inbox.next(BOTH, None), arrived(Peer::Client, &["a", "b", "c"]));
        assert_eq!(inbox.next(BOTH, None), Event::Ended(Peer::Client));
        assert_eq!(inbox.next(BOTH, Some(Instant::now())), Event::Time);
    }

    #[test]
    fn lines_that_are_not_wanted_wait() {
        let inbox = Inbox::default();
        inbox.source(Peer::Client).push(&mut lines(&["c"]), || false);
        inbox.source(Peer::Agent).push(&mut lines(&["a"]), || false);
        let wanted = Wanted { client: true, agent: false };
        assert_eq!(inbox.next(wanted, None), arrived(Peer::Client, &["c"]));
        assert_eq!(inbox.next(wanted, Some(Instant::now())), Event::Time);
        assert_eq!(inbox.next(BOTH, None), arrived(Peer::Agent, &["a"]));
    }

    #[test]
    fn the_client_goes_first() {
        let inbox = Inbox::default();
        inbox.source(Peer::Agent).push(&mut lines(&["a"]), || false);
        inbox.source(Peer::Client).push(&mut lines(&["c"]), || false);
        assert_eq!(inbox.next(BOTH, None), arrived(Peer::Client, &["c"]));
        assert_eq!(inbox.next(BOTH, None), arrived(Peer::Agent, &["a"]));
    }

    #[test]
    fn sides_that_never_fall_silent_take_turns() {
        let inbox = Inbox::default();
        let (client, agent) = (inbox.source(Peer::Client), inbox.source(Peer::Agent));
        let mut heard = Vec::new();
        for _ in 0..6 {
            client.push(&mut lines(&["c"]), || false);
            agent.push(&mut lines(&["a"]), || false);
            let Event::Arrived(arrivals) = inbox.next(BOTH, None) else { panic!("there are lines of both") };
            heard.push(arrivals[0].from);
        }
        assert_eq!(heard, [Peer::Client, Peer::Agent, Peer::Client, Peer::Agent, Peer::Client, Peer::Agent]);
    }

    #[test]
    fn the_last_lines_of_a_side_that_has_ended_are_always_wanted() {
        let inbox = Inbox::default();
        let source = inbox.source(Peer::Client);
        source.push(&mut lines(&["last"]), || false);
        source.end();
        let wanted = Wanted { client: false, agent: false };
        assert_eq!(inbox.next(wanted, None), arrived(Peer::Client, &["last"]));
        assert_eq!(inbox.next(wanted, None), Event::Ended(Peer::Client));
    }

    #[test]
    fn a_reader_waits_while_there_is_much() {
        let inbox = Inbox::default();
        let source = inbox.source(Peer::Agent);
        let pushed = Arc::new(Mutex::new(0));
        let count = Arc::clone(&pushed);
        let reader = thread::spawn(move || {
            for _ in 0..10 {
                source.push(&mut vec![Content::Line("x".repeat(HIGH_WATER))], || false);
                *count.lock().expect("a count") += 1;
            }
            source.end();
        });
        let mut taken = 0;
        while let Event::Arrived(lines) = inbox.next(BOTH, None) {
            taken += lines.len();
            // One that was counted may be followed by one that is being put in.
            assert!(*pushed.lock().expect("a count") <= taken + 2);
        }
        assert_eq!(taken, 10);
        reader.join().expect("ended");
    }

    #[test]
    fn a_reader_gives_up_if_nobody_is_left() {
        let source = Inbox::default().source(Peer::Client);
        assert!(!source.push(&mut vec![Content::Line("x".repeat(HIGH_WATER + 1))], || true));
    }

    #[test]
    fn lines_that_are_refused_hold_nobody_up() {
        let inbox = Inbox::default();
        let source = inbox.source(Peer::Client);
        inbox.refuse(Peer::Client);
        for _ in 0..3 {
            assert!(source.push(&mut vec![Content::Line("x".repeat(HIGH_WATER))], || false));
        }
        inbox.stop();
        assert_eq!(inbox.next(BOTH, None), Event::Stop);
    }
}
