//! Prompts that call slash commands. Agents record such a turn otherwise than it was had: with what the command stands for in the
//! place of the prompt, as the answer alone, as the prompt alone, or not at all; so its halves stand in the turns beside it.
//!
//! Where the rest is as it was, that is no change. What the log has is compared as one turn, and stays as it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::joining::{self, Same, is_apart, its_in};
use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;
use crate::rpc::{Object, elements};

/// How many commands that follow each other are looked at that are told with one turn.
const MOST: usize = 16;
/// In how many places of a replay a turn is looked for.
const MOST_PLACES: usize = 8;
/// How many sums are made of the answers of commands that follow each other, of which each may be told or not.
const MOST_SUMS: usize = 256;

/// How many bytes of an answer tell a command behind which the agent tells something new, though another prompt stands in front of
/// it. With fewer, it may be what the agent says to anything.
const TELLING: u64 = 12;

/// Whether the user calls a slash command with this: one word behind the slash. A path has more of them.
pub(in crate::reconcile) fn is_call(text: &str) -> bool {
    let Some(called) = text.trim_start().strip_prefix('/') else { return false };
    let name =
        called.split_whitespace().next().filter(|_| !called.starts_with(char::is_whitespace)).unwrap_or_default();
    let is_of_name = |character: char| character.is_alphanumeric() || "-_:.".contains(character);
    name.starts_with(char::is_alphabetic) && name.chars().all(is_of_name)
}

/// Whether a prompt (its content blocks, as JSON) calls a slash command.
pub fn is_command(prompt: &str) -> bool {
    let blocks = elements(prompt).unwrap_or_default();
    let text = blocks.first().and_then(|block| Object::parse(block)?.get_string("text"));
    text.is_some_and(|text| is_call(&text))
}

/// Both sides, in which what the agent tells otherwise of the log's commands is told as the log has it.
pub(in crate::reconcile) fn joined<'a>(log: &'a [Turn], replay: &'a [Turn]) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    let its = its_in(log, 0..log.len());
    let has_commands = its.iter().any(|at| log[*at].is_command);
    // Of one that tells no prompts at all, or no answers, messages are compared by themselves.
    let has_both =
        replay.iter().any(|turn| !turn.user.is_empty()) && replay.iter().any(|turn| !turn.agent.sum().is_empty());
    let same = if has_commands && has_both { Search::of(log, its, replay).all() } else { Vec::new() };
    joining::joined(log, replay, same, Vec::new())
}

/// Whether all that the agent took part in is commands of which it tells nothing: it need not have recorded them.
pub(in crate::reconcile) fn are_all_untold(log: &[Turn], replay: &[Turn]) -> bool {
    let its = || log.iter().filter(|turn| turn.took_part != Some(false) && !turn.is_silent());
    let is_told = |turn: &Turn| replay.iter().any(|theirs| theirs.is_begun_by(turn) || theirs.holds(turn));
    // What stands in front without a prompt is a summary rather.
    let begins_with_prompt = replay.first().is_some_and(|first| !first.user.is_empty());
    begins_with_prompt && its().next().is_some() && its().all(|turn| turn.is_command && !is_told(turn))
}

/// Whether what the agent does not tell of the turns that it took part in last begins with a command, or the last of them is one. It
/// need not have recorded a command; and with `/clear` some go on in another transcript.
pub fn are_untold_from_command(log: &[Turn], replay: &[Turn]) -> bool {
    let prompts: BTreeSet<Sum> = replay.iter().flat_map(Turn::pieces).filter(|prompt| !prompt.is_empty()).collect();
    let answers: BTreeSet<Sum> =
        replay.iter().map(|turn| turn.agent.sum()).filter(|answer| !answer.is_empty()).collect();
    let is_told = |turn: &Turn| prompts.contains(&turn.user) || answers.contains(&turn.agent.sum());
    let mut its = log.iter().rev().filter(|turn| turn.took_part != Some(false) && !turn.is_silent());
    let Some(last) = its.next() else { return false };
    let first = std::iter::once(last).chain(its).take_while(|turn| !is_told(turn)).last();
    last.is_command || first.is_some_and(|first| first.is_command)
}

/// What is looked through.
struct Search<'a> {
    log: &'a [Turn],
    /// The turns that the agent may have taken part in, in the order in which they were begun.
    its: Vec<usize>,
    replay: &'a [Turn],
    /// The turns of the replay by what the user says in them.
    places: BTreeMap<Sum, Vec<usize>>,
    /// Which turn of the replay tells each of `its`, as far as it is found.
    told: Vec<Option<usize>>,
    /// Whether each turn of the replay was found to tell one of them.
    is_taken: Vec<bool>,
    same: Vec<Same>,
}

impl<'a> Search<'a> {
    fn of(log: &'a [Turn], its: Vec<usize>, replay: &'a [Turn]) -> Self {
        let mut places: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
        for (place, turn) in replay.iter().enumerate() {
            places.entry(turn.user).or_default().push(place);
        }
        let (told, is_taken) = (vec![None; its.len()], vec![false; replay.len()]);
        Self { log, its, replay, places, told, is_taken, same: Vec::new() }
    }

    fn all(mut self) -> Vec<Same> {
        let (mut first, mut free) = (0, 0);
        while first < self.its.len() {
            match self.as_asked(first, free) {
                Some((end, place)) => {
                    self.take(first, end, place);
                    (first, free) = (end, place + 1);
                }
                None => first += 1,
            }
        }
        for first in 0..self.its.len() {
            if let Some((end, place)) = self.behind_same(first) {
                self.take(first, end, place);
            }
        }
        for first in (0..self.its.len()).rev() {
            if let Some((end, place)) = self.before_same(first) {
                self.take(first, end, place);
            }
        }
        self.same
    }

    fn turn(&self, first: usize) -> &'a Turn {
        &self.log[self.its[first]]
    }

    fn take(&mut self, first: usize, end: usize, place: usize) {
        self.told[first..end].fill(Some(place));
        self.is_taken[place] = true;
        if end - first > 1 || self.turn(first).said() != self.replay[place].said() {
            self.same.push(Same { turns: self.its[first..end].to_vec(), told: place..place + 1 });
        }
    }

    /// The end of the turns from this one on that the agent tells as one, and where: with what the user said in the first, or in
    /// several of which it tells the prompts of commands alone, and with the answers of commands behind that.
    fn as_asked(&self, first: usize, free: usize) -> Option<(usize, usize)> {
        let mut prompt = Sum::default();
        let mut found: Option<(usize, usize)> = None;
        for head in (first..self.its.len()).take(MOST) {
            let turn = self.turn(head);
            prompt = prompt.followed_by(turn.user);
            let places = self.places.get(&prompt).map_or(&[][..], |places| places);
            let places = &places[places.partition_point(|place| *place < free)..];
            let same =
                places.iter().take(MOST_PLACES).find_map(|place| Some((self.answered(first, head, *place)?, *place)));
            found = found.into_iter().chain(same).min_by_key(|(_, place)| *place);
            if !turn.is_command || turn.agent.sum().is_empty() {
                break;
            }
        }
        found
    }

    /// The end of the turns that this one of the replay tells the answers of: the one of `head`, and of commands behind it.
    fn answered(&self, first: usize, head: usize, place: usize) -> Option<usize> {
        let told = self.replay[place].agent.sum();
        let mut sums = vec![self.turn(head).agent.sum()];
        let mut end = head + 1;
        while !sums.contains(&told) {
            let more =
                (end < self.its.len() && end - head < MOST).then(|| self.turn(end)).filter(|turn| turn.is_command)?;
            let with = sums.iter().map(|sum| sum.followed_by(more.agent.sum()));
            let with: Vec<Sum> = with.filter(|sum| sum.length() <= told.length()).collect();
            sums.extend(with);
            sums.truncate(MOST_SUMS);
            end += 1;
        }
        let is_whole = end - first == 1 || is_apart(&self.its[first..end], self.log);
        is_whole.then_some(end)
    }

    /// The end of the turns that tell a command behind what is told as it was: whatever the agent tells as its prompt.
    fn behind_same(&self, first: usize) -> Option<(usize, usize)> {
        let place = self.place_behind(first)?;
        self.told_otherwise(first, place, |end, is_telling| is_telling || self.told_behind(end) == Some(place + 1))
    }

    /// The end of the turns that tell a command before what is told as it was.
    fn before_same(&self, first: usize) -> Option<(usize, usize)> {
        let place = (first..self.its.len()).find_map(|at| self.told[at])?.checked_sub(1)?;
        let is_free = self.told[..first].iter().rev().find_map(|told| *told).is_none_or(|before| before < place);
        self.told_otherwise(first, place, |end, is_telling| {
            is_free && is_telling && self.told_behind(end) == Some(place + 1)
        })
    }

    fn told_otherwise(
        &self,
        first: usize,
        place: usize,
        is_sure: impl Fn(usize, bool) -> bool,
    ) -> Option<(usize, usize)> {
        let theirs = self.replay.get(place)?;
        if !self.turn(first).is_command || self.told[first].is_some() || self.is_taken[place] {
            return None;
        }
        if theirs.agent.sum().is_empty() {
            // What it stands for may be all that the agent has kept.
            let turn = self.turn(first);
            let may_be_alone = turn.agent.sum().is_empty() || !turn.is_finished();
            return (may_be_alone && self.is_with_next(first + 1, place + 1)).then_some((first + 1, place));
        }
        let end = self.answered(first, first, place)?;
        let is_free = self.told[first..end].iter().all(Option::is_none);
        // Without a prompt the agent tells nothing that the user has said instead.
        let is_telling = theirs.user.is_empty() || theirs.agent.sum().length() >= TELLING;
        (is_free && is_sure(end, is_telling)).then_some((end, place))
    }

    /// Whether the turn from here on, but for commands that are not told, is told in this place, or nothing is left of either side.
    fn is_with_next(&self, end: usize, place: usize) -> bool {
        self.told_behind(end).map_or(end == self.its.len() && place == self.replay.len(), |told| told == place)
    }

    /// The place behind the one where the turn before this one is told, but for commands that are not told.
    fn place_behind(&self, first: usize) -> Option<usize> {
        let before = (0..first).rev().find(|at| self.told[*at].is_some() || !self.turn(*at).is_command);
        before.map_or(Some(0), |at| self.told[at].map(|place| place + 1))
    }

    /// Where the turn from here on is told, but for commands that are not told.
    fn told_behind(&self, end: usize) -> Option<usize> {
        let behind = (end..self.its.len()).find(|at| self.told[*at].is_some() || !self.turn(*at).is_command);
        behind.and_then(|at| self.told[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_behind_a_slash_calls_a_command() {
        for (text, expected) in [
            ("/init", true),
            ("/review 12", true),
            ("/my-command\nwith more", true),
            ("/mcp__server__prompt a/b", true),
            ("/plugin:skill", true),
            ("/usr/bin is empty", false),
            ("/", false),
            ("/ init", false),
            ("//init", false),
            ("/1", false),
            ("say /init", false),
            ("", false),
        ] {
            assert_eq!(is_call(text), expected, "{text}");
        }
    }
}
