//! Lists of clients' that are not answered yet.

use std::collections::VecDeque;

use crate::connection::client_request::ClientRequest;
use crate::connection::load::Share;

/// What a list is asked for with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// A page of it.
    Page,
    /// Its first page, and what changes from then on.
    Subscription,
}

/// A list that is not answered yet.
#[derive(Debug)]
pub(super) struct WaitingList {
    pub(super) request: ClientRequest,
    pub(super) params: Option<String>,
    pub(super) answer: Answer,
    pub(super) since: i64,
    pub(super) _share: Share,
}

/// All of them, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct WaitingLists {
    lists: VecDeque<WaitingList>,
    /// They wait for nothing any more but room for their answers.
    are_released: bool,
}

impl WaitingLists {
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    pub(super) fn push(&mut self, list: WaitingList) {
        self.lists.push_back(list);
    }

    /// Takes one back; says whether it waited here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> bool {
        let before = self.lists.len();
        self.lists.retain(|waiting| waiting.request != *request);
        self.are_released &= !self.lists.is_empty();
        self.lists.len() < before
    }

    /// Takes them all out.
    pub(super) fn take(&mut self) -> VecDeque<WaitingList> {
        std::mem::take(self).lists
    }

    /// They wait for the agent's list no more.
    pub(super) fn release(&mut self) {
        self.are_released = !self.lists.is_empty();
    }

    /// One that waits for nothing but room for its answer.
    pub(super) fn next_released(&mut self) -> Option<WaitingList> {
        let list = if self.are_released { self.lists.pop_front() } else { None };
        self.are_released &= !self.lists.is_empty();
        list
    }

    /// Whether there is one.
    pub(super) fn are_released(&self) -> bool {
        self.are_released
    }

    /// Whether there are some that the agent's list, or what the host finds out, is still to come for.
    pub(super) fn are_held(&self) -> bool {
        !self.lists.is_empty() && !self.are_released
    }

    /// Since when the first of these has waited.
    pub(super) fn since(&self) -> Option<i64> {
        self.lists.front().filter(|_| self.are_held()).map(|list| list.since)
    }
}
