//! A prompt that the agent is working on.

use super::client_request::ClientRequest;
use super::requests::{TurnMemo, Unstored};
use super::told::Untold;
use crate::sessions::title;
use crate::transcript::{Echo, Entry};

/// A turn of the conversation under way.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) request: ClientRequest,
    /// What its entries in the log are marked with.
    pub(super) tag: String,
    /// Turns under way stand in the order in which their prompts came; see [`Turn::behind`].
    pub(super) order: u32,
    /// When; not known where its instance was lost.
    pub(super) began: Option<i64>,
    /// The client has taken it back.
    pub(super) cancelled: bool,
    /// What the agent may repeat of the prompt.
    pub(super) echo: Echo,
    /// The prompt was preceded by an account of what the agent had not heard: from where on.
    pub(super) account: Option<Untold>,
    /// A title made of the prompt, should the session need one.
    pub(super) title: Option<String>,
    /// The prompt's entry, where the store did not take it.
    pub(super) unstored: Option<Unstored>,
    /// The number of the prompt's entry in the session's own log, where it was taken.
    pub(super) place: Option<u32>,
    /// The agent has answered another prompt of the same turn well.
    pub(super) is_heard: bool,
}

impl Turn {
    /// The order of one whose prompt comes behind those of these.
    pub(super) fn behind(turns: &[Self]) -> u32 {
        turns.last().map_or(0, |last| last.order.saturating_add(1))
    }

    /// A turn that an instance began which was lost. `prompt`: its entry in the log, if that is known.
    pub(super) fn taken_up(request: ClientRequest, memo: TurnMemo, prompt: Option<Entry<'_>>) -> Self {
        let TurnMemo { tag, account, order, .. } = memo;
        let blocks = prompt.as_ref().and_then(Entry::prompt).unwrap_or("[]");
        Self {
            request,
            tag,
            order,
            began: prompt.map(|prompt| prompt.time),
            cancelled: false,
            echo: Echo::of_prompt(blocks),
            account,
            title: title::from_prompt(blocks),
            unstored: None,
            place: None,
            is_heard: false,
        }
    }

    /// What the host keeps of it.
    pub(super) fn memo(&self) -> TurnMemo {
        TurnMemo { tag: self.tag.clone(), account: self.account, order: self.order, unstored: self.unstored.clone() }
    }
}
