//! Turns that were had while others were under way in another window.

use crate::reconcile::turn::Turn;

/// From where to where some turns went on, to be asked of each of many others. Conversations are long, so they are not looked through.
pub(in crate::reconcile) struct Spans(Vec<BegunUpTo>);

/// Of all turns that were begun up to here.
struct BegunUpTo {
    at: u64,
    /// The one that went on furthest, and the one of the other windows that did.
    furthest: [Span; 2],
}

/// How far a turn of a window went on.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    /// 0 where there is none.
    window: u16,
    /// All of what comes, where it has not come to its end: its window may not have written all of it yet.
    until: u64,
}

impl Spans {
    pub(in crate::reconcile) fn of<'a>(turns: impl Iterator<Item = &'a Turn>) -> Self {
        let span = |turn: &Turn| {
            let until = if turn.is_finished() { turn.ended_at() } else { u64::MAX };
            (turn.begun_at(), Span { window: turn.window, until })
        };
        let mut spans: Vec<(u64, Span)> = turns.filter(|turn| turn.window != 0).map(span).collect();
        spans.sort_unstable_by_key(|(at, _)| *at);
        let mut furthest = [Span::default(); 2];
        let begun = spans.into_iter().map(|(at, span)| {
            furthest = with(furthest, span);
            BegunUpTo { at, furthest }
        });
        Self(begun.collect())
    }

    /// Whether a turn was had while one of these was under way in another window.
    pub(in crate::reconcile) fn are_beside(&self, turn: &Turn) -> bool {
        let before_end = self.0.partition_point(|begun| begun.at < turn.ended_at());
        let furthest = before_end.checked_sub(1).map_or([Span::default(); 2], |last| self.0[last].furthest);
        let is_beside = |span: &Span| span.window != turn.window && turn.begun_at() < span.until;
        turn.window != 0 && furthest.iter().any(is_beside)
    }
}

/// Which went on furthest, and which of the other windows, with this one.
fn with([first, second]: [Span; 2], span: Span) -> [Span; 2] {
    let is_of_another = span.window != first.window;
    if span.until > first.until {
        [span, if is_of_another { first } else { second }]
    } else if is_of_another && span.until > second.until {
        [first, span]
    } else {
        [first, second]
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::reconcile::Fold;
    use crate::transcript::{Entry, Kind};

    /// Turns of five windows, whose entries lie between each other as these numbers say. Some have no end.
    fn turns(numbers: impl Iterator<Item = usize>) -> Vec<Turn> {
        let (mut turns, mut at_work): (Vec<Vec<(u64, String)>>, _) = (Vec::new(), [None; 5]);
        for (place, number) in (1..).zip(numbers) {
            let (window, step) = (number % 5, number / 5 % 4);
            let turn = at_work[window].unwrap_or(turns.len());
            let (kind, json) = match (at_work[window], step) {
                (None, _) => {
                    turns.push(Vec::new());
                    (Kind::Prompt, r#"{"prompt":[{"type":"text","text":"ask"}]}"#)
                }
                (Some(_), 0) => (Kind::TurnEnd, r#"{"stopReason":"end_turn"}"#),
                (Some(_), _) => (Kind::Update, r#"{"update":{"sessionUpdate":"tool_call","toolCallId":"1"}}"#),
            };
            let is_left = kind == Kind::TurnEnd || step == 3 && number / 20 % 8 == 0;
            at_work[window] = (!is_left).then_some(turn);
            turns[turn].push((place, Entry::tagged(kind, 1, Some(&format!("wind{window}{turn}")), json)));
        }
        let (mut fold, entries) = (Fold::new(|text| Cow::Borrowed(text)), turns.into_iter().flatten());
        entries.for_each(|(place, entry)| fold.push(place, &entry));
        fold.finish(60)
    }

    fn is_beside(turn: &Turn, other: &Turn) -> bool {
        let in_two_windows = turn.window != 0 && other.window != 0 && turn.window != other.window;
        let may_be_before_end = !other.is_finished() || turn.is_begun_before_end_of(other);
        in_two_windows && other.is_begun_before_end_of(turn) && may_be_before_end
    }

    #[test]
    fn what_was_had_beside_others_is_found_as_by_comparing_each_with_each() {
        let mut found = [0, 0];
        for seed in 0..300 {
            let mut state: usize = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 33
            };
            let turns = turns((0..60).map(|_| next()));
            let told: Vec<&Turn> = turns.iter().filter(|_| next() % 3 == 0).collect();
            let spans = Spans::of(told.iter().copied());
            for turn in &turns {
                let expected = told.iter().any(|told| is_beside(turn, told));
                assert_eq!(spans.are_beside(turn), expected, "{turn:?} {told:?}");
                found[usize::from(expected)] += 1;
            }
        }
        assert!(found.iter().all(|count| *count > 300), "{found:?}");
    }
}
