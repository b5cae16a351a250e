//! What has come to a conversation beside what has come in the place of something else.

use std::collections::HashSet;

use super::sum::Sum;
use super::turn::{Half, Strip, Turn};
use super::turns;
use crate::storage::{Result, Storage};
use crate::store::Segment;

/// Of these parts, which have come to a conversation as those others were taken out of it, the turns that the user begins
/// with other words than any that was taken out: nothing of them was in it before.
pub fn said_anew<S: Storage>(storage: &S, new: &[Segment], aside: &[Segment], strip: Strip) -> Result<Vec<Segment>> {
    let gone = turns::of_parts(storage, aside, strip)?;
    let gone: HashSet<Sum> = gone.iter().flat_map(prompts).collect();
    let mut anew: Vec<Segment> = Vec::new();
    for part in new {
        for turn in turns::of_parts(storage, std::slice::from_ref(part), strip)? {
            let mut prompts = prompts(&turn).peekable();
            if prompts.peek().is_none() || prompts.any(|prompt| gone.contains(&prompt)) {
                continue;
            }
            for run in turn.at.runs() {
                let (from, until) = (part.seq(run.start() - 1), part.seq(run.end() - 1));
                match anew.last_mut().filter(|last| last.log == part.log && last.until.checked_add(1) == Some(from)) {
                    Some(last) => last.until = until,
                    None => anew.push(Segment { log: part.log.clone(), from, until }),
                }
            }
        }
    }
    Ok(anew)
}

/// What the user says in a turn, or in each that it was put together of.
fn prompts(turn: &Turn) -> impl Iterator<Item = Sum> {
    let prompts = turn.prompts().into_iter().filter_map(|half| match half {
        Half::Prompt(prompt) => Some(prompt),
        Half::Answer(_) => None,
    });
    prompts.filter(|prompt| !prompt.is_empty())
}
