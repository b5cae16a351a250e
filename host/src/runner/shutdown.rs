//! How a connection ends in time.
//!
//! If this program is itself killed meanwhile, the agent's input is at an end already: it ends by itself as it was about
//! to. Only one that would not is left behind, as at any other moment.

use std::time::{Duration, Instant};

use crate::downstream::Agent;

/// After the client has gone, what it may still read is waited for this long. Then its pipe is closed, however long the
/// agent takes to end.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// Where somebody waits for the end, the agent has this long to end by itself after its input was closed.
const HASTE: Duration = Duration::from_millis(500);
/// It is killed this long after it was asked to terminate.
const KILL_AFTER: Duration = Duration::from_millis(500);
/// Nothing more is waited for this long after it was killed.
const GIVE_UP_AFTER: Duration = Duration::from_millis(300);

/// After its output has ended, an agent has this long to end before it is asked to, and again before it is killed.
const GRACE: Duration = Duration::from_millis(150);

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The client has had its time: its pipe is to be closed.
    LeaveClient,
    /// The agent is to be asked to terminate.
    Terminate,
    /// The agent is to be killed.
    Kill,
    /// There is nothing more to wait for.
    GiveUp,
}

/// The end of an agent, step by step, while its last lines are still taken.
#[derive(Debug)]
pub(super) struct Shutdown {
    begun: Instant,
    /// When the client's pipe is to be closed; none where it stays open until the agent has ended.
    leave_client: Option<Instant>,
    /// What comes next for the agent, and when.
    next: (Step, Instant),
}

impl Shutdown {
    /// The client has gone and waits for nothing, so the agent may take its time.
    pub(super) fn unhurried(now: Instant, grace: Duration) -> Self {
        Self { begun: now, leave_client: Some(now + LAST_ANSWERS), next: (Step::Terminate, now + grace) }
    }

    /// Somebody waits for the end.
    pub(super) fn hasty(now: Instant, grace: Duration) -> Self {
        Self { begun: now, leave_client: None, next: (Step::Terminate, now + grace.min(HASTE)) }
    }

    /// From now on somebody waits for the end. One who has to ask has no patience left to wait for the agent's own.
    pub(super) fn hurry(&mut self) {
        if let (Step::Terminate, due) = &mut self.next {
            *due = (*due).min(self.begun + HASTE);
        }
    }

    /// When the next step is due.
    pub(super) fn next_step(&self) -> Instant {
        self.leave_client.map_or(self.next.1, |leave| leave.min(self.next.1))
    }

    /// The step that is due, if one is.
    pub(super) fn step(&mut self, now: Instant) -> Option<Step> {
        if self.leave_client.is_some_and(|leave| leave <= now) {
            self.leave_client = None;
            return Some(Step::LeaveClient);
        }
        let (step, due) = self.next;
        if now < due {
            return None;
        }
        self.next = match step {
            Step::Terminate => (Step::Kill, now + KILL_AFTER),
            _ => (Step::GiveUp, now + GIVE_UP_AFTER),
        };
        Some(step)
    }
}

/// Whether an agent whose output has ended has ended as well, or does so in a moment.
pub(super) fn has_ended(agent: &dyn Agent) -> bool {
    agent.ended(GRACE).is_some()
}

/// Ends an agent whose output is of no more interest. Returns how it ended by itself, if it did.
pub(super) fn finish(agent: &dyn Agent) -> Option<String> {
    if let Some(ended) = agent.ended(GRACE) {
        return Some(ended);
    }
    agent.terminate();
    if agent.ended(GRACE).is_none() {
        agent.kill();
        agent.ended(GRACE);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    /// All steps in their order, with the milliseconds after the beginning at which each is taken.
    fn steps(mut shutdown: Shutdown, begun: Instant) -> Vec<(Step, u128)> {
        let mut taken = Vec::new();
        while taken.last().is_none_or(|(step, _)| *step != Step::GiveUp) {
            let due = shutdown.next_step();
            assert_eq!(due.checked_sub(Duration::from_millis(1)).and_then(|early| shutdown.step(early)), None);
            taken.push((shutdown.step(due).expect("it is due"), (due - begun).as_millis()));
        }
        taken
    }

    #[test]
    fn the_agent_has_its_grace_and_the_client_is_left_before() {
        let now = Instant::now();
        let expected =
            [(Step::LeaveClient, 500), (Step::Terminate, 10_000), (Step::Kill, 10_500), (Step::GiveUp, 10_800)];
        assert_eq!(steps(Shutdown::unhurried(now, GRACE), now), expected);
    }

    #[test]
    fn a_grace_of_nothing_is_none() {
        let now = Instant::now();
        let expected = [(Step::Terminate, 0), (Step::LeaveClient, 500), (Step::Kill, 500), (Step::GiveUp, 800)];
        assert_eq!(steps(Shutdown::unhurried(now, Duration::ZERO), now), expected);
        assert_eq!(steps(Shutdown::hasty(now, Duration::ZERO), now)[0], (Step::Terminate, 0));
    }

    #[test]
    fn where_somebody_waits_it_is_soon_over() {
        let now = Instant::now();
        let expected = [(Step::Terminate, 500), (Step::Kill, 1000), (Step::GiveUp, 1300)];
        assert_eq!(steps(Shutdown::hasty(now, GRACE), now), expected);
        let mut hurried = Shutdown::unhurried(now, GRACE);
        hurried.hurry();
        assert_eq!(steps(hurried, now)[1], (Step::Terminate, 500));
    }

    #[test]
    fn hurry_takes_no_step_twice() {
        let now = Instant::now();
        let mut shutdown = Shutdown::hasty(now, GRACE);
        assert_eq!(shutdown.step(now + HASTE), Some(Step::Terminate));
        shutdown.hurry();
        assert_eq!(shutdown.step(now + HASTE), None);
        assert_eq!(shutdown.step(now + HASTE + KILL_AFTER), Some(Step::Kill));
    }
}
