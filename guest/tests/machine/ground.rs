//! What lies outside of both connections: what was said, the agents' own sessions, and what was found to be wrong.

use crate::disk::Disk;
use crate::kind::{Kind, Trait};
use crate::talk::Talk;

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broke {
    /// Which check found it.
    pub(crate) check: &'static str,
    pub(crate) text: String,
}

impl Broke {
    pub(crate) fn new(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, text: text.into() }
    }
}

/// What lies outside.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    pub(crate) talk: Talk,
    disks: [Disk; 3],
    /// So that the ids of agents that forget are told apart.
    pub(crate) processes: u32,
    broken: Vec<Broke>,
}

impl Ground {
    /// Where agents of this kind keep their sessions.
    pub(crate) fn disk(&mut self, kind: Kind) -> &mut Disk {
        let at = match kind.name() {
            None => 2,
            Some(_) => usize::from(kind.is(Trait::Other)),
        };
        &mut self.disks[at]
    }

    pub(crate) fn broke(&mut self, check: &'static str, text: impl Into<String>) {
        self.broken.push(Broke::new(check, text));
    }

    pub(crate) fn extend(&mut self, broken: impl IntoIterator<Item = Broke>) {
        self.broken.extend(broken);
    }

    pub(crate) fn take_broken(&mut self) -> Vec<Broke> {
        std::mem::take(&mut self.broken)
    }
}
