//! Being asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How a program ends that was interrupted: 128 and the number of SIGINT.
pub(super) const INTERRUPTED: u8 = 130;

/// Is set when the program is asked to stop: it does so after the step that it is at.
#[derive(Debug)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted)).context("signals cannot be received")?;
        }
        Ok(Self(interrupted))
    }

    /// What says for as long as it is kept whether to go on.
    pub(super) fn goes_on(&self) -> impl Fn() -> bool + Clone + Send + 'static {
        let interrupted = Arc::clone(&self.0);
        move || !interrupted.load(Ordering::SeqCst)
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
