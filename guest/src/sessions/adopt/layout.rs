//! The segments of a transcript after a plan.

use std::ops::RangeInclusive;

use crate::reconcile::{Piece, Plan};
use crate::store::{Segment, Session};

/// A transcript laid out anew.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) segments: Vec<Segment>,
    /// Where the rest of the session's own log begins, if that is as before or further on in what was read of it; `None`:
    /// all of it that was read is in the segments or aside.
    pub(super) tail: Option<u32>,
    /// What is newly set aside.
    pub(super) aside: Vec<Segment>,
    /// The last entry of the staging log that is used; 0 if none is.
    pub(super) used_until: u32,
    /// Whether entries of the transcript that was read have other positions now.
    pub(super) has_moved: bool,
}

impl Layout {
    /// Carries out a plan for this session's transcript, its own log read up to `own_end`. `None` if it is a plan for
    /// another transcript.
    pub(super) fn of(session: &Session, own_end: u32, staging: &str, plan: &Plan) -> Option<Self> {
        let own = Segment { log: session.id.clone(), from: session.tail, until: own_end };
        let has_own = own.length() > 0;
        let before: Vec<&Segment> = session.segments.iter().chain(Some(&own).filter(|_| has_own)).collect();
        let total: u64 = before.iter().map(|segment| segment.length()).sum();
        if plan.planned() != total {
            return None;
        }
        let mut segments = Vec::new();
        let mut used_until = 0;
        for piece in &plan.pieces {
            match piece {
                Piece::Keep(range) => cut(&before, range).for_each(|segment| append(&mut segments, segment)),
                Piece::Insert(range) => {
                    let from = u32::try_from(*range.start()).ok()?;
                    let until = u32::try_from(*range.end()).ok()?;
                    used_until = used_until.max(until);
                    append(&mut segments, Segment { log: staging.to_owned(), from, until });
                }
            }
        }
        let mut aside = Vec::new();
        for range in &plan.aside {
            cut(&before, range).for_each(|segment| append(&mut aside, segment));
        }
        let is_tail = |segment: &Segment| has_own && segment.log == session.id && segment.until == own_end;
        let tail = match segments.pop_if(|segment| is_tail(segment)) {
            Some(segment) => Some(segment.from),
            None => (!has_own).then_some(session.tail),
        };
        let keeps_places = match plan.pieces.as_slice() {
            [] | [Piece::Insert(_)] => true,
            [Piece::Keep(first), rest @ ..] => *first == (1..=total) && rest.len() <= 1,
            _ => false,
        };
        Some(Self { segments, tail, aside, used_until, has_moved: !(keeps_places && plan.aside.is_empty()) })
    }
}

/// The parts of these segments that hold the entries of this range, numbered from 1 over all of them.
fn cut<'a>(segments: &'a [&Segment], range: &'a RangeInclusive<u64>) -> impl Iterator<Item = Segment> + 'a {
    let mut before = 0;
    segments.iter().filter_map(move |segment| {
        let numbers = before + 1..=before + segment.length();
        before = *numbers.end();
        let first = *range.start().max(numbers.start());
        let last = *range.end().min(numbers.end());
        (first <= last).then(|| Segment {
            log: segment.log.clone(),
            from: segment.seq(first - numbers.start()),
            until: segment.seq(last - numbers.start()),
        })
    })
}

/// Appends a segment, joined with the one before it where the two are one.
pub(super) fn append(segments: &mut Vec<Segment>, segment: Segment) {
    match segments.last_mut() {
        Some(last) if last.log == segment.log && last.until + 1 == segment.from => last.until = segment.until,
        _ => segments.push(segment),
    }
}
