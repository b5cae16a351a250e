//! What keeps a session that is open from what is asked next.

use crate::connection::client_request::ClientRequest;
use crate::connection::running::RunningAt;
use crate::connection::showing::Showing;

/// Why what is asked next waits.
#[derive(Debug)]
pub(super) enum Busy {
    /// Its history is being shown once more, for this request.
    Showing(ClientRequest, Box<Showing>),
    /// The client is being shown what was said in other windows.
    CatchingUp,
    /// The agent was asked for the history by an instance that was lost, and may be telling it, which could not be told from
    /// what it says in a turn.
    ToldInVain {
        /// When the agent last gave a sign of life.
        alive: RunningAt,
    },
}

impl Busy {
    /// The request that is answered at the end of it.
    pub(super) fn request(&self) -> Option<&ClientRequest> {
        match self {
            Self::Showing(request, _) => Some(request),
            Self::CatchingUp | Self::ToldInVain { .. } => None,
        }
    }
}
