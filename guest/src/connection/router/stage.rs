//! How far the connection is, and what waits for it to get on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::running::RunningAt;
use crate::rpc::Id;

/// How far the connection is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) enum Stage {
    /// Nothing but `initialize` may come.
    #[default]
    New,
    /// The agent has not answered `initialize` yet; what the client sent after it waits.
    Starting {
        #[serde(skip)]
        held: VecDeque<Waiting>,
    },
    /// Everything may come, but for what waits until the client has read the answers to what it asked before.
    Ready {
        #[serde(skip)]
        queue: VecDeque<Waiting>,
        order: Order,
    },
    /// The agent was started again, and has not agreed to `initialize` yet; what the client sends waits.
    Again {
        #[serde(skip)]
        asked: Option<Introduction>,
        #[serde(skip)]
        held: VecDeque<Waiting>,
    },
}

/// In what order lines that wait are handled.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) enum Order {
    /// As they came.
    #[default]
    AsTheyCame,
    /// So came what is behind `initialize`: each request is handled when the one before has been answered.
    OneByOne {
        #[serde(skip)]
        last: Option<ClientRequest>,
    },
}

/// The request to an agent that was started again to be initialized as the one before.
#[derive(Debug)]
pub(super) struct Introduction {
    /// As the agent knows it.
    pub(super) id: Id,
    /// Since when somebody waits for it.
    pub(super) since: RunningAt,
}

impl Stage {
    /// Ready, with nothing waiting.
    pub(super) fn ready() -> Self {
        Self::Ready { queue: VecDeque::new(), order: Order::default() }
    }

    /// Ready, with what waited behind `initialize`.
    pub(super) fn ready_with(queue: VecDeque<Waiting>) -> Self {
        Self::Ready { queue, order: Order::OneByOne { last: None } }
    }

    /// Whether everything may come, and nothing waits. In which order that will be handled which has to wait is to be known then.
    pub(super) fn is_at_rest(&self) -> bool {
        matches!(self, Self::Ready { queue, order: _ } if queue.is_empty())
    }

    /// Whether everything may come.
    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready { .. })
    }

    /// Whether `initialize` is answered.
    pub(super) fn is_initialized(&self) -> bool {
        matches!(self, Self::Ready { .. } | Self::Again { .. })
    }

    /// Whether the agent was started again, and cannot be asked for anything yet.
    pub(super) fn is_again(&self) -> bool {
        matches!(self, Self::Again { .. })
    }

    /// The request to be initialized that an agent has not answered that was started again.
    pub(super) fn introduction(&self) -> Option<&Introduction> {
        match self {
            Self::Again { asked, .. } => asked.as_ref(),
            Self::New | Self::Starting { .. } | Self::Ready { .. } => None,
        }
    }

    /// Whether the agent has yet to answer this as such a request.
    pub(super) fn is_introduction(&self, id: &Id) -> bool {
        self.introduction().is_some_and(|asked| asked.id == *id)
    }

    /// The agent was started again: where it was initialized, it has to be once more. Returns what waited.
    pub(super) fn begin_again(&mut self) -> VecDeque<Waiting> {
        match self {
            Self::New | Self::Starting { .. } => VecDeque::new(),
            Self::Ready { queue: held, .. } | Self::Again { held, .. } => {
                let held = std::mem::take(held);
                *self = Self::Again { asked: None, held: VecDeque::new() };
                held
            }
        }
    }

    fn held_mut(&mut self) -> Option<&mut VecDeque<Waiting>> {
        match self {
            Self::New => None,
            Self::Starting { held } | Self::Ready { queue: held, .. } | Self::Again { held, .. } => Some(held),
        }
    }

    /// Whether a line that comes now has to wait.
    pub(super) fn holds_lines(&self) -> bool {
        match self {
            Self::New => false,
            Self::Starting { .. } | Self::Again { .. } => true,
            Self::Ready { queue, .. } => !queue.is_empty(),
        }
    }

    /// Whether lines wait.
    pub(super) fn has_held(&self) -> bool {
        match self {
            Self::New => false,
            Self::Starting { held } | Self::Ready { queue: held, .. } | Self::Again { held, .. } => !held.is_empty(),
        }
    }

    pub(super) fn hold(&mut self, line: Waiting) {
        if let Some(held) = self.held_mut() {
            held.push_back(line);
        }
    }

    /// Takes a waiting request back, if it waits here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> Option<Waiting> {
        Waiting::take(self.held_mut()?, request)
    }

    /// The sessions that requests are to close which wait.
    pub(super) fn closed_next(&self) -> Vec<String> {
        let held = match self {
            Self::New => return Vec::new(),
            Self::Starting { held } | Self::Ready { queue: held, .. } | Self::Again { held, .. } => held,
        };
        held.iter().filter(|waiting| waiting.closes()).filter_map(Waiting::session).collect()
    }

    pub(super) fn take_held(&mut self) -> VecDeque<Waiting> {
        self.held_mut().map(std::mem::take).unwrap_or_default()
    }
}
