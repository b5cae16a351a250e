//! Where lines wait for one side to take them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Lines for one side, in order. Filled by the engine's thread, which never waits here; emptied by the thread that
/// owns the pipe.
#[derive(Debug, Default, Clone)]
pub struct Outbox {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Bytes that were taken and are being written.
    taken: usize,
    /// The writer waits for lines.
    waiting: bool,
    closed: bool,
    broken: bool,
    /// Somebody wants to know when fewer bytes than this are left.
    watched: Option<usize>,
}

/// What one writing has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// So few bytes are left that the one who asked is to be told.
    pub below_mark: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox {
    /// Adds lines. Dropped if nobody takes lines any more.
    pub fn extend<'a>(&self, lines: impl IntoIterator<Item = &'a str>) {
        let mut state = self.shared.lock();
        if state.closed || state.broken {
            return;
        }
        for line in lines {
            state.lines.extend_from_slice(line.as_bytes());
            state.lines.push(b'\n');
        }
        if !state.lines.is_empty() && std::mem::take(&mut state.waiting) {
            drop(state);
            self.shared.filled.notify_one();
        }
    }

    /// How many bytes wait, with those that are being written.
    pub fn queued(&self) -> usize {
        let state = self.shared.lock();
        state.lines.len() + state.taken
    }

    /// Asks for `below_mark` once fewer than `mark` bytes are left. Returns whether that is so already.
    pub fn watch(&self, mark: usize) -> bool {
        let mut state = self.shared.lock();
        if state.broken || state.lines.len() + state.taken < mark {
            state.watched = None;
            return true;
        }
        state.watched = Some(mark);
        false
    }

    /// No more lines come; those that wait are still written.
    pub fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.filled.notify_all();
        self.shared.emptied.notify_all();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().closed
    }

    /// For the writer: waits for lines and takes all of them. `buffer` is handed back to be filled again; returns
    /// false once the outbox is closed and empty.
    pub fn take(&self, buffer: &mut Vec<u8>) -> bool {
        buffer.clear();
        let mut state = self.shared.lock();
        while state.lines.is_empty() {
            if state.closed {
                return false;
            }
            state.waiting = true;
            state = self.shared.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut state.lines, buffer);
        state.taken = buffer.len();
        true
    }

    /// For the writer: this many of the bytes taken are written.
    pub fn written(&self, bytes: usize) -> Written {
        let mut state = self.shared.lock();
        state.taken -= bytes;
        let left = state.taken + state.lines.len();
        let below_mark = state.watched.is_some_and(|mark| left < mark);
        if below_mark {
            state.watched = None;
        }
        if left == 0 {
            self.shared.emptied.notify_all();
        }
        Written { below_mark }
    }

    /// For the writer: the other end is gone. What waits is dropped.
    pub fn fail(&self) {
        let mut state = self.shared.lock();
        state.broken = true;
        state.lines = Vec::new();
        state.taken = 0;
        self.shared.emptied.notify_all();
    }

    /// Waits until everything is written, at most until `deadline`. Returns whether it is.
    pub fn wait_empty(&self, deadline: Instant) -> bool {
        let mut state = self.shared.lock();
        while state.lines.len() + state.taken > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.emptied.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_together() {
        let outbox = Outbox::default();
        outbox.extend(["a", "b"]);
        outbox.extend(["c"]);
        let mut buffer = b"of before".to_vec();
        assert!(outbox.take(&mut buffer));
        assert_eq!(buffer, b"a\nb\nc\n");
        assert_eq!(outbox.queued(), 6);
        outbox.written(4);
        assert_eq!(outbox.queued(), 2);
    }

    #[test]
    fn what_waits_is_written_after_the_close() {
        let outbox = Outbox::default();
        outbox.extend(["a"]);
        assert!(!outbox.is_closed());
        outbox.close();
        assert!(outbox.is_closed());
        outbox.extend(["late"]);
        let mut buffer = Vec::new();
        assert!(outbox.take(&mut buffer));
        assert_eq!(buffer, b"a\n");
        assert!(!outbox.wait_empty(Instant::now()));
        outbox.written(2);
        assert!(outbox.wait_empty(Instant::now()));
        assert!(!outbox.take(&mut buffer));
    }

    #[test]
    fn whoever_watches_is_told_once() {
        let outbox = Outbox::default();
        assert!(outbox.watch(4));
        outbox.extend(["aa", "bb"]);
        assert!(!outbox.watch(4));
        outbox.take(&mut Vec::new());
        assert!(!outbox.written(2).below_mark);
        assert!(outbox.written(1).below_mark);
        assert!(!outbox.written(1).below_mark);
    }

    #[test]
    fn nothing_waits_for_one_who_is_gone() {
        let outbox = Outbox::default();
        outbox.extend(["a"]);
        outbox.fail();
        outbox.extend(["b"]);
        assert_eq!(outbox.queued(), 0);
        assert!(outbox.wait_empty(Instant::now()));
        assert!(outbox.watch(1));
    }
}
