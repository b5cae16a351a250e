//! Whoever has a session open is shown what is said in other windows on it.

use super::gaps::{is_compared_in_vain, may_stand_twice};
use crate::client::{Client, Heard};
use crate::ground::Broke;
use crate::talk::{Cut, Life, Mark, Talk, Turn};

/// What was said elsewhere and may have been shown to the client before is not shown again.
pub(crate) fn shown_once(talk: &Talk, session: &str, mark: Mark) -> Result<(), Broke> {
    if is_compared_in_vain(talk) || talk.said[mark].crossed || may_stand_twice(talk, mark) {
        return Ok(());
    }
    Err(Broke::new("step-doubled", format!("m{mark}x of `{session}` is shown again as said elsewhere")))
}

/// When all is quiet, the client of this line was shown each turn that was had elsewhere since it opened the session.
pub(crate) fn in_step(talk: &Talk, client: &Client, line: u8) -> Vec<Broke> {
    if talk.had_faults || is_compared_in_vain(talk) {
        return Vec::new();
    }
    let is_here = |id: &str| talk.sessions.get(id).is_some_and(|session| session.life == Life::Here);
    let open = client.heard.iter().filter(|(id, _)| client.open.contains(*id) && is_here(id));
    // Between its own turns only.
    let is_in_turn =
        |id: &str| talk.turns.iter().any(|turn| turn.line == line && turn.session == id && turn.ended.is_none());
    let open = open.filter(|(id, _)| !is_in_turn(id));
    // Who loads it once more is shown all of it by that.
    let open = open.filter(|(id, _)| client.opens().all(|loaded| loaded != *id));
    // One that was killed is believed to be there for a while, with all that is one turn with what it was at.
    let is_cut_off =
        |id: &str| talk.turns.iter().any(|turn| turn.line != line && turn.session == id && turn.unanswered);
    let open = open.filter(|(id, _)| !is_cut_off(id));
    let has_ended = |turn: &Turn| talk.span(turn, Cut::Nowhere, |_| true).1 < u64::MAX;
    let lacks = |(id, heard): (&String, &Heard)| {
        let required = talk.required(id).into_iter().filter(|(turn, _)| {
            let turn = &talk.turns[*turn];
            turn.line != line && turn.began > heard.since && has_ended(turn)
        });
        let marks = required.flat_map(|(_, marks)| marks);
        let missing: Vec<Mark> =
            marks.filter(|mark| !heard.marks.contains(mark) && !talk.said[*mark].rewound).collect();
        let text = format!("`{id}` is open on {line}, which was never shown {missing:?}, only {:?}", heard.marks);
        (!missing.is_empty()).then(|| Broke::new("step-lost", text))
    };
    open.filter_map(lacks).collect()
}
