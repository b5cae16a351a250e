//! Which turns of a replay tell a turn of a log.

use crate::reconcile::turn::Turn;

/// Whether a turn of a replay has this turn of a log, or half a turn, and more. What went to another agent is that one's.
pub(in crate::reconcile) fn is_held(turn: &Turn, replay: &[Turn]) -> bool {
    turn.took_part != Some(false) && replay.iter().any(|theirs| theirs.holds(turn))
}

/// Whether a replay has its prompt, or its answer, or may have them with something else.
pub(in crate::reconcile) fn is_any_told(turn: &Turn, replay: &[Turn]) -> bool {
    let answer = turn.agent.sum();
    let tells = |theirs: &Turn| {
        let is_prompt = theirs.is_begun_by(turn) || turn.is_begun_by(theirs) || theirs.holds(turn);
        is_prompt || !answer.is_empty() && theirs.agent.sum() == answer
    };
    replay.iter().any(tells)
}

/// Which turn of the replay has it, or tells otherwise what came of its prompt.
pub(in crate::reconcile) fn told_by(turn: &Turn, replay: &[Turn]) -> Option<usize> {
    let tells = |theirs: &Turn| theirs.holds(turn) || turn.is_begun_by(theirs);
    (turn.took_part != Some(false)).then(|| replay.iter().position(tells)).flatten()
}
