//! A replay that begins with a summary: the agent has compacted what was said before. That it has said so all the same, so what the
//! transcript has of it stays.

use std::collections::BTreeSet;

use super::align::align;
use super::draft::is_held;
use super::places::Places;
use super::sum::Sum;
use super::turn::Turn;

/// The replay, with the turns of the log that its summary stands for before it. `ends_with`: whether the answer of a turn of the log
/// ends with this; a turn may be compacted while it is under way.
pub(super) fn with_summed_up<E>(
    log: &[Turn],
    mut replay: Vec<Turn>,
    ends_with: impl FnOnce(&Turn, Sum) -> Result<bool, E>,
) -> Result<Vec<Turn>, E> {
    let first = align(log, &replay).first().copied();
    let until = summed_up_until(log, first.map(|(at, _)| at), &replay);
    let rest = replay.first().filter(|rest| rest.user.is_empty() && first.is_none_or(|(_, told)| told > 0));
    let rest = rest.map(|rest| rest.agent.sum());
    let is_its = |turn: &&Turn| turn.took_part != Some(false) && !turn.refused;
    let summed_up: Vec<Turn> = log[..until].iter().filter(is_its).map(untold).collect();
    let last = log[..until].iter().rfind(is_its);
    if let (Some(rest), Some(last)) = (rest, last) {
        // The summary by itself, or what is known of the turn that it was made in.
        if rest.is_empty() || ends_with(last, rest)? {
            replay.remove(0);
        }
    }
    Ok(summed_up.into_iter().chain(replay).collect())
}

/// How many turns of the log the summary stands for: those before the first that is told behind it. Of turns with no answer between,
/// or that are told with what was said next, the prompts are found by themselves.
fn summed_up_until(log: &[Turn], paired: Option<usize>, replay: &[Turn]) -> usize {
    let told: BTreeSet<Sum> = replay.iter().flat_map(Turn::pieces).collect();
    let is_told = |turn: &Turn| {
        let has_prompt = !turn.user.is_empty() && turn.took_part != Some(false) && told.contains(&turn.user);
        has_prompt || is_held(turn, replay)
    };
    let behind_last = || log.iter().rposition(is_told).map_or(log.len(), |last| last + 1);
    let end = paired.unwrap_or_else(behind_last);
    end - log[..end].iter().rev().take_while(|turn| is_told(turn)).count()
}

/// A turn that the agent does not tell.
fn untold(turn: &Turn) -> Turn {
    let mut untold = Turn { at: Places::none(), ..turn.clone() };
    untold.parts.set_halves(Vec::new());
    untold
}
