//! A store that does not take what is recorded: it is asked less and less often, and the client learns of it.

/// How often an attempt follows the one before as soon as it may.
const PROMPT_ATTEMPTS: u32 = 3;
/// The longest time between two attempts, in milliseconds.
const LONGEST: i64 = 30_000;

/// What was recorded could not be written.
#[derive(Debug)]
pub(super) struct Failing {
    attempts: u32,
    /// When it failed last, and when it is to be tried again.
    last: i64,
    next: i64,
}

impl Failing {
    /// An attempt has failed, after these; `soon`: the shortest time between two attempts.
    pub(super) fn again(before: Option<&Self>, now: i64, soon: u32) -> Self {
        let attempts = before.map_or(0, |before| before.attempts).saturating_add(1);
        let doublings = attempts.saturating_sub(PROMPT_ATTEMPTS).min(20);
        let wait = (i64::from(soon) << doublings).min(LONGEST);
        Self { attempts, last: now, next: now + wait }
    }

    /// Whether it is to be tried again. A clock that was set back says nothing of how long ago the last time was.
    pub(super) fn is_due(&self, now: i64) -> bool {
        !(self.last..self.next).contains(&now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_come_less_and_less_often() {
        let (mut failing, mut now) = (Failing::again(None, 0, 100), 0);
        let mut waits = Vec::new();
        for _ in 0..20 {
            waits.push(failing.next - now);
            assert!(!failing.is_due(now) && !failing.is_due(failing.next - 1) && failing.is_due(failing.next));
            assert!(failing.is_due(now - 1), "the clock was set back");
            now = failing.next;
            failing = Failing::again(Some(&failing), now, 100);
        }
        assert_eq!(waits[..6], [100, 100, 100, 200, 400, 800]);
        assert_eq!(waits[18..], [LONGEST; 2]);
        let forever = Failing { attempts: u32::MAX, last: 0, next: 0 };
        assert_eq!(Failing::again(Some(&forever), 0, 200).next, LONGEST);
    }
}
