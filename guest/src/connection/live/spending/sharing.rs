//! Whether the agents of several windows tell one sum of a session, whoever has spent it, or count for themselves.
//!
//! An agent that tells with a history what others were told, rather than what it was told itself, has added up what its
//! session has cost. A smaller sum than was told last, in whichever window, is that of a count of its own after all. Where neither
//! has shown in a session, its agent is taken to do what it has done in others.

use serde::{Deserialize, Serialize};

use crate::store::{Amount, Cost, Costs};

/// What is known of that.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sharing {
    /// What the store has as told last, in whichever window, as far as that was not counted ahead of this one.
    last: Costs,
    /// What the store has of that of the session.
    by_session: Option<bool>,
    /// The agent has told one sum of some session.
    by_agent: bool,
    /// What the store has not.
    news: Option<bool>,
    /// A sum was told that can only be that of a count of its own, and the store has not that it was.
    is_own: bool,
}

impl Sharing {
    /// Of an agent that has told one sum of some session, or has not.
    pub(super) fn of_agent(by_agent: bool) -> Self {
        Self { by_agent, ..Self::default() }
    }

    /// The store has that.
    pub(super) fn hears(&mut self, last: Costs, is_shared: Option<bool>) {
        self.last = last;
        self.by_session = is_shared;
    }

    /// Whether one sum is told.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared_by(self.by_session)
    }

    /// Whether one sum is told, where the store has that of the session.
    pub(super) fn is_shared_by(&self, session: Option<bool>) -> bool {
        self.news.or(session).unwrap_or(self.by_agent)
    }

    /// Whether a sum was told that can only be that of a count of its own.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    /// What the store has as told last.
    pub(super) fn last(&self) -> &Costs {
        &self.last
    }

    /// What the store has not of whether one sum is told.
    pub(super) fn news(&self) -> Option<bool> {
        self.news
    }

    /// This is told as it is spent, in a window that was told so much before.
    pub(super) fn told_now(&mut self, cost: &Cost, here: Option<Amount>) {
        let last = self.last.of(&cost.currency).max(here).unwrap_or_default();
        if cost.amount < last && here != Some(cost.amount) {
            self.shows(false);
        }
    }

    /// This was told with a history when the store had that as told last.
    pub(super) fn told_of_the_past(&mut self, cost: &Cost, here: Option<Amount>, last: &Costs) {
        let Some(last) = last.of(&cost.currency).filter(|last| !last.is_zero()) else { return };
        if here != Some(cost.amount) {
            self.shows(cost.amount >= last && here.is_none_or(|here| cost.amount > here));
        }
    }

    fn shows(&mut self, is_shared: bool) {
        self.is_own |= !is_shared;
        // That an agent counts for itself is not kept of a session in which nobody has taken it for another.
        if self.is_shared() != is_shared || is_shared && self.news.or(self.by_session).is_none() {
            self.news = Some(is_shared);
        }
    }

    /// The store has it.
    pub(super) fn noted(&mut self) {
        self.by_session = self.news.take().or(self.by_session);
        self.is_own = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(amount: &str) -> Cost {
        Cost { amount: Amount::parse(amount).unwrap(), currency: "USD".to_owned() }
    }

    /// What was told last, in whichever window.
    fn last(amount: Option<&str>) -> Costs {
        let mut costs = Costs::default();
        if let Some(amount) = amount {
            costs.set(&dollars(amount));
        }
        costs
    }

    #[test]
    fn one_sum_is_told_where_a_history_has_what_others_were_told() {
        // What was told last, what this window was told before, and what it is told with the history.
        for (told, here, history, is_shared) in [
            (Some("2"), None, "2", true),
            (Some("2"), None, "3", true),
            (Some("2"), None, "1", false),
            (Some("2"), Some("1"), "2", true),
            // That may be its own.
            (Some("2"), Some("2"), "2", false),
            (Some("2"), Some("3"), "3", false),
            (Some("2"), Some("3"), "2.5", false),
            // Nobody was told anything that it could have taken up.
            (None, None, "2", false),
            (Some("0"), None, "0", false),
        ] {
            let here = here.map(|here| dollars(here).amount);
            let mut sharing = Sharing::default();
            sharing.told_of_the_past(&dollars(history), here, &last(told));
            let news = is_shared.then_some(true);
            assert_eq!((sharing.is_shared(), sharing.news()), (is_shared, news), "{told:?} {here:?} {history}");
        }
    }

    #[test]
    fn a_smaller_sum_than_was_told_last_is_that_of_a_count_of_its_own() {
        for (here, told, is_shared) in [
            (Some("1"), "2", true),
            (Some("1"), "2.5", true),
            (Some("1"), "1.5", false),
            (Some("3"), "2.5", false),
            (None, "1.5", false),
            // The agent says it again.
            (Some("1"), "1", true),
        ] {
            let here = here.map(|here| dollars(here).amount);
            let mut sharing = Sharing::default();
            sharing.hears(last(Some("2")), Some(true));
            sharing.told_now(&dollars(told), here);
            assert_eq!(sharing.is_shared(), is_shared, "{here:?} {told}");
            // Nor is it told otherwise before the store has it.
            sharing.hears(last(Some("2")), Some(true));
            assert_eq!(sharing.is_shared(), is_shared, "{here:?} {told}");
        }
    }

    #[test]
    fn where_nothing_has_shown_in_a_session_its_agent_does_what_it_has_done_in_others() {
        for by_agent in [false, true] {
            let mut sharing = Sharing::of_agent(by_agent);
            sharing.hears(last(Some("2")), None);
            assert_eq!(sharing.is_shared(), by_agent);
            sharing.told_of_the_past(&dollars("2"), None, &last(Some("2")));
            assert_eq!((sharing.is_shared(), sharing.news()), (true, Some(true)), "it has shown in this one, too");
            sharing.noted();
            sharing.told_now(&dollars("1"), None);
            assert_eq!((sharing.is_shared(), sharing.news()), (false, Some(false)));
            for is_shared in [false, true] {
                let mut sharing = Sharing::of_agent(by_agent);
                sharing.hears(last(Some("2")), Some(is_shared));
                assert_eq!(sharing.is_shared(), is_shared);
            }
        }
    }
}
