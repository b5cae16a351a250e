//! Which entries a turn is made of.

use std::ops::RangeInclusive;

/// The numbers of some entries. Those of a turn are mostly one run; of turns that were spoken at once, in several windows,
/// each has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    first: Run,
    /// Of most there is no more to say, which takes the room of a pointer.
    more: Option<Box<More>>,
}

/// What there is to say of the entries of some turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct More {
    /// The runs behind the first.
    runs: Box<[Run]>,
    late: u64,
    mended: u64,
}

/// Numbers without a gap, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    from: u64,
    until: u64,
}

impl Places {
    /// Those of what is not told.
    pub(in crate::reconcile) fn none() -> Self {
        Self { first: Run { from: 1, until: 0 }, more: None }
    }

    /// The first of them.
    pub fn start(&self) -> u64 {
        self.first.from
    }

    /// The last of them.
    pub fn end(&self) -> u64 {
        self.all().next_back().unwrap_or(&self.first).until
    }

    /// Where the first would stand, had it been written when it was made.
    pub(in crate::reconcile) fn begun_at(&self) -> u64 {
        self.start().saturating_sub(self.late())
    }

    /// Where the last stands that the window itself has written whose turn it is.
    pub(in crate::reconcile) fn ended_at(&self) -> u64 {
        self.end().saturating_sub(self.mended())
    }

    /// How many entries the first stands behind the place that it would have, had it been written when it was made: where several
    /// windows write, one that cannot write for a while does so behind what others said meanwhile.
    fn late(&self) -> u64 {
        self.more.as_ref().map_or(0, |more| more.late)
    }

    /// How many entries the last one that the turn's own window has written stands before the last: where that window was killed,
    /// another one has put an end to the turn, which may stand behind what was said meanwhile.
    fn mended(&self) -> u64 {
        self.more.as_ref().map_or(0, |more| more.mended)
    }

    /// These places, of a turn that was begun and has ended there.
    #[must_use]
    pub(in crate::reconcile) fn had_between(mut self, begun_at: u64, ended_at: u64) -> Self {
        let (late, mended) = (self.start().saturating_sub(begun_at), self.end().saturating_sub(ended_at));
        if (late, mended) != (self.late(), self.mended()) {
            let more = self.more.get_or_insert_default();
            (more.late, more.mended) = (late, mended);
        }
        self
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Run> {
        [&self.first].into_iter().chain(self.more.iter().flat_map(|more| &more.runs))
    }

    /// The runs, in order, with a gap after each.
    pub fn runs(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        self.all().map(|run| run.from..=run.until)
    }

    /// How many there are.
    pub fn length(&self) -> u64 {
        self.runs().map(|run| run.end() - run.start() + 1).sum()
    }

    /// These and those, which are as late as these.
    pub(in crate::reconcile) fn with(&self, more: RangeInclusive<u64>) -> Self {
        let mut gathered = Gathered::one(*more.start());
        gathered.0.extend(self.runs().chain([more]).map(|run| Run { from: *run.start(), until: *run.end() }));
        let all = gathered.places();
        let (begun_at, ended_at) = (all.start().saturating_sub(self.late()), all.end().saturating_sub(self.mended()));
        all.had_between(begun_at, ended_at)
    }
}

/// Numbers as they come; at least one.
#[derive(Debug)]
pub(in crate::reconcile) struct Gathered(Vec<Run>);

impl Gathered {
    pub(in crate::reconcile) fn one(number: u64) -> Self {
        Self(vec![Run { from: number, until: number }])
    }

    pub(in crate::reconcile) fn push(&mut self, number: u64) {
        match self.0.last_mut() {
            Some(last) if last.until == number => {}
            Some(last) if last.until + 1 == number => last.until = number,
            _ => self.0.push(Run { from: number, until: number }),
        }
    }

    /// Takes those from this one on out of them, if it is behind the first.
    pub(in crate::reconcile) fn split_off(&mut self, number: u64) -> Option<Self> {
        let halves =
            |run: &Run| [Run { until: run.until.min(number - 1), ..*run }, Run { from: run.from.max(number), ..*run }];
        let (before, behind): (Vec<Run>, Vec<Run>) =
            self.0.iter().flat_map(halves).filter(|run| run.from <= run.until).partition(|run| run.until < number);
        if before.is_empty() || behind.is_empty() {
            return None;
        }
        self.0 = before;
        Some(Self(behind))
    }

    /// The one that came first.
    pub(in crate::reconcile) fn start(&self) -> u64 {
        self.0.first().map_or(u64::MAX, |run| run.from)
    }

    /// Whether nothing but this was gathered.
    pub(in crate::reconcile) fn is_just(&self, number: u64) -> bool {
        matches!(self.0.as_slice(), [run] if *run == Run { from: number, until: number })
    }

    pub(in crate::reconcile) fn places(mut self) -> Places {
        self.0.sort_unstable();
        self.0.dedup_by(|run, before| {
            let joins = run.from <= before.until + 1;
            if joins {
                before.until = before.until.max(run.until);
            }
            joins
        });
        let first = self.0.first().copied().unwrap_or(Run { from: 1, until: 0 });
        let runs = self.0.split_off(1.min(self.0.len()));
        let more = (!runs.is_empty()).then(|| Box::new(More { runs: runs.into(), ..More::default() }));
        Places { first, more }
    }
}

/// The numbers up to this one that are in none of these.
pub(in crate::reconcile) fn gaps<'a>(all: impl Iterator<Item = &'a Places>, until: u64) -> Vec<RangeInclusive<u64>> {
    let mut runs: Vec<Run> = all.flat_map(Places::all).copied().collect();
    runs.sort_unstable();
    let mut next = 1;
    let mut gaps = Vec::new();
    for run in runs.into_iter().chain([Run { from: until + 1, until }]) {
        if run.from > next {
            gaps.push(next..=run.from - 1);
        }
        next = next.max(run.until + 1);
    }
    gaps
}
