//! How a transcript is laid out, as a window knows it. Another window may take over what an agent has told, and then what
//! stands in the transcript stands in other places.

use serde::{Deserialize, Serialize};

use crate::store::{Origin, Segment, Session};

/// How a transcript was laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaidOut {
    /// The parts of logs that it begins with.
    segments: Vec<Segment>,
    /// From which entry on the session's own log follows.
    tail: u32,
    /// What was said before, if anything, only its agent had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lacks_beginning: bool,
    /// What was taken out of it, in the order in which it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aside: Vec<Segment>,
}

impl Default for LaidOut {
    /// All of the session's own log, and nothing else.
    fn default() -> Self {
        Self { segments: Vec::new(), tail: 1, lacks_beginning: false, aside: Vec::new() }
    }
}

impl LaidOut {
    /// As this record has it.
    pub fn of(session: &Session) -> Self {
        let lacks_beginning = session.origin == Origin::Agent;
        let (segments, aside) = (session.segments.clone(), session.aside.clone());
        Self { segments, tail: session.tail, lacks_beginning, aside }
    }

    /// This part of another log is a part of it as well, though it may stand elsewhere.
    pub fn note_part(&mut self, part: Segment) {
        if !self.segments.contains(&part) {
            self.segments.push(part);
        }
    }

    /// Whether it is so in this record.
    pub fn is_of(&self, session: &Session) -> bool {
        self.tail == session.tail
            && self.lacks_beginning == (session.origin == Origin::Agent)
            && self.segments == session.segments
    }

    /// Whether it is all of the session's own log and nothing else.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// The parts of other logs than the session's `own` that have come to the conversation since it was laid out like
    /// `before`. What only its agent had then is not new.
    pub fn new_since<'a>(&'a self, before: &'a Self, own: &'a str) -> impl Iterator<Item = &'a Segment> {
        let is_new = move |part: &Segment| part.log != own && before.segments.iter().all(|known| known.log != part.log);
        self.segments.iter().filter(move |part| !before.lacks_beginning && is_new(part))
    }

    /// What was taken out of the conversation since it was laid out like `before`: what has come to it may say that again, and
    /// more.
    pub fn taken_out_since(&self, before: &Self) -> Vec<Segment> {
        let mut known = before.aside.iter().map(Segment::length).sum::<u64>();
        let new = self.aside.iter().filter_map(|part| {
            let skipped = known.min(part.length());
            known -= skipped;
            (skipped < part.length()).then(|| Segment { from: part.seq(skipped), ..part.clone() })
        });
        new.collect()
    }

    /// Where somebody stands in the transcript as the record has it now who had heard so many entries of it as it was: behind
    /// the last of them before which nothing else stands.
    pub fn carried(&self, heard: u64, session: &Session) -> u64 {
        if self.is_of(session) || heard == u64::MAX {
            return heard;
        }
        let mut left = heard;
        let mut parts = Vec::new();
        for part in self.parts(&session.id, u32::MAX) {
            let taken = left.min(part.length());
            left -= taken;
            if taken > 0 {
                parts.push(Segment { until: part.seq(taken - 1), ..part });
            }
        }
        heard_now(&parts, session)
    }

    /// Where somebody stands in the transcript as the record has it now who had heard all of it as it was, the
    /// session's own log up to this entry.
    pub fn carried_up_to(&self, seq: u32, session: &Session) -> u64 {
        if self.is_of(session) {
            return session.length_up_to(seq);
        }
        let parts: Vec<Segment> = self.parts(&session.id, seq).collect();
        heard_now(&parts, session)
    }

    /// All of it, the session's own log up to this entry.
    fn parts<'a>(&'a self, own: &'a str, seq: u32) -> impl Iterator<Item = Segment> + 'a {
        let tail = Segment { log: own.to_owned(), from: self.tail, until: u32::MAX };
        let all = self.segments.iter().cloned().chain([tail]);
        all.map(move |part| if part.log == own { Segment { until: part.until.min(seq), ..part } } else { part })
    }
}

/// How many entries the transcript has before the first that is in none of these parts.
fn heard_now(parts: &[Segment], session: &Session) -> u64 {
    let tail = Segment { log: session.id.clone(), from: session.tail, until: u32::MAX };
    let mut heard = 0;
    for segment in session.segments.iter().chain([&tail]) {
        let mut next = segment.from;
        while next <= segment.until {
            let is_in = |part: &&Segment| part.log == segment.log && (part.from..=part.until).contains(&next);
            let Some(part) = parts.iter().find(is_in) else { return heard };
            let until = part.until.min(segment.until);
            heard += u64::from(until - next) + 1;
            let Some(behind) = until.checked_add(1) else { break };
            next = behind;
        }
    }
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(log: &str, from: u32, until: u32) -> Segment {
        Segment { log: log.to_owned(), from, until }
    }

    fn session(segments: &[Segment], tail: u32) -> Session {
        let mut session = Session::new("s".to_owned(), "/w".to_owned(), 1);
        session.segments = segments.to_vec();
        session.tail = tail;
        session
    }

    #[test]
    fn who_has_heard_something_stands_before_the_first_that_is_new() {
        let plain = LaidOut::of(&session(&[], 1));
        assert!(plain.is_plain() && plain.is_of(&session(&[], 1)));
        // Four entries of its own log, behind which two were taken over, and a mark.
        let behind = session(&[part("s", 1, 4), part("t", 1, 2)], 6);
        assert_eq!([0, 2, 4, 9].map(|heard| plain.carried(heard, &behind)), [0, 2, 4, 4]);
        assert_eq!([3, 4, 5].map(|seq| plain.carried_up_to(seq, &behind)), [3, 4, 4]);
        // The same two in the midst.
        let amid = session(&[part("s", 1, 2), part("t", 1, 2)], 3);
        assert_eq!([1, 2, 4].map(|heard| plain.carried(heard, &amid)), [1, 2, 2]);
        assert_eq!(plain.carried_up_to(4, &amid), 2);
        // What was set aside is not counted.
        let aside = session(&[part("s", 1, 1), part("s", 3, 4)], 6);
        assert_eq!([1, 2, 3, 4].map(|heard| plain.carried(heard, &aside)), [1, 1, 2, 3]);
        assert_eq!(LaidOut::of(&amid).carried(5, &amid), 5);
        assert_eq!(LaidOut::of(&amid).carried_up_to(4, &amid), 6);
        assert_eq!(plain.carried(u64::MAX, &amid), u64::MAX);
    }

    #[test]
    fn what_is_of_another_log_is_new_once() {
        let plain = LaidOut::default();
        let first = LaidOut::of(&session(&[part("s", 1, 2), part("t", 1, 2)], 3));
        let second = LaidOut::of(&session(&[part("u", 1, 1), part("s", 1, 2), part("t", 1, 1)], 3));
        let new = |now: &LaidOut, before: &LaidOut| now.new_since(before, "s").cloned().collect::<Vec<_>>();
        assert_eq!(new(&first, &plain), [part("t", 1, 2)]);
        assert_eq!(new(&second, &first), [part("u", 1, 1)]);
        assert_eq!(new(&second, &second), []);
        let mut agents = session(&[], 1);
        agents.origin = Origin::Agent;
        assert_eq!(new(&first, &LaidOut::of(&agents)), [], "its agent has it from before");
    }

    #[test]
    fn what_was_taken_out_is_told_from_what_had_been_before() {
        let with = |aside: &[Segment]| {
            let mut session = session(&[], 9);
            session.aside = aside.to_vec();
            LaidOut::of(&session)
        };
        let (none, first) = (with(&[]), with(&[part("s", 1, 2)]));
        let second = with(&[part("s", 1, 4), part("t", 3, 3)]);
        assert_eq!(first.taken_out_since(&none), [part("s", 1, 2)]);
        assert_eq!(second.taken_out_since(&first), [part("s", 3, 4), part("t", 3, 3)]);
        assert_eq!(second.taken_out_since(&second), []);
    }
}
