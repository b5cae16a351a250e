//! An agent that ends and is started again, while its connection goes on.

use super::Machine;
use crate::case::{Deed, How};
use crate::host::Host;
use crate::kind::Trait;

impl Machine<'_> {
    /// All that it has said has come before it ends; the new one answers `initialize` as it does when a connection begins.
    pub(super) fn restart(&mut self, line: u8) {
        self.flush_pile(line);
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        open.agent = open.agent.started_again(&mut self.ground);
        let kind = open.agent.kind;
        self.note(|| format!("-- the agent of connection {line} is started again"));
        self.with_host(line, Host::agent_restarted);
        if !kind.is(Trait::StartsSlowly) {
            self.act(line, Deed::Answer(0, How::Well));
        }
    }
}
