//! The clock that stops calls which do not end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// One tick, the unit of a call's deadline.
const TICK: Duration = Duration::from_secs(1);

/// The deadline of a call that may take so many seconds, in ticks. The tick under way began before the call: its end takes
/// nothing from the call's time.
pub(super) fn ticks(seconds: u64) -> u64 {
    seconds.saturating_add(1)
}

/// A thread that advances the epoch every second while a call runs, and sleeps while none does.
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

#[derive(Default)]
struct Shared {
    running: AtomicU32,
    parked: AtomicBool,
    stopped: AtomicBool,
}

/// A call in progress.
pub(super) struct Running<'t>(&'t Shared);

impl Ticker {
    pub(super) fn start(engine: Engine) -> Self {
        let shared = Arc::new(Shared::default());
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.tick(&engine)).thread().clone()
        };
        Self { shared, thread }
    }

    /// A call begins; it ends when the returned value is dropped.
    pub(super) fn begin(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.parked.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Running(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    fn tick(&self, engine: &Engine) {
        while !self.stopped.load(Ordering::SeqCst) {
            self.wait_for_a_tick();
            engine.increment_epoch();
            // Announce the sleep before looking again: a call that begins in between sees the one or is seen.
            self.parked.store(true, Ordering::SeqCst);
            while self.running.load(Ordering::SeqCst) == 0 && !self.stopped.load(Ordering::SeqCst) {
                thread::park();
            }
            self.parked.store(false, Ordering::SeqCst);
        }
    }

    /// A whole tick, also where more than one call woke the thread.
    fn wait_for_a_tick(&self) {
        let begun = Instant::now();
        while let Some(rest) = TICK.checked_sub(begun.elapsed()).filter(|rest| !rest.is_zero()) {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            thread::park_timeout(rest);
        }
    }
}
