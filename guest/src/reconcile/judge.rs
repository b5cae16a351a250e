//! Comparing a transcript with a replay.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::compare::align::align;
use super::compare::commands;
use super::compare::joint;
use super::compare::mingled;
use super::compare::on_the_whole;
use super::compare::recut::alike;
use super::compare::telling::is_held;
use super::compare::told_apart;
use super::draft::{Draft, KnownToAgent};
use super::plan::{HeardRange, Piece, Plan};
use super::turn::sum::Sum;
use super::turn::{Turn, Uncopied};

/// Compares a transcript, of which the agent has heard this much, with what it replays. `moved_on`: the agent's
/// own list says that the session has changed since the two last agreed.
pub fn plan(log: &[Turn], heard: impl Into<HeardRange>, replay: &[Turn], moved_on: bool) -> Plan {
    let heard = heard.into();
    let (log, replay) = told_apart::joined(log, replay);
    let (log, replay) = commands::joined(&log, &replay);
    let (log, replay) = mingled::joined(&log, &replay, mingled::Coverage::CutShort);
    drafted(Draft::new(heard, moved_on, &replay), &log, heard, &replay)
}

/// Compares the two; where they contradict each other, the evidence says what becomes of that.
fn plan_by(log: &[Turn], heard: HeardRange, replay: &[Turn], evidence: Evidence) -> Plan {
    let draft = Draft::new(heard, evidence.moved_on, replay);
    drafted(if evidence.in_use { draft.yielding() } else { draft }, log, heard, replay)
}

fn drafted(mut draft: Draft, log: &[Turn], heard: HeardRange, replay: &[Turn]) -> Plan {
    if replay.iter().all(Turn::is_silent) {
        draft.keep(log, KnownToAgent::Yes);
        return Plan { tells: false, heard: heard.until, ..draft.finish() };
    }
    let (log, pairs) = told_later(&mut draft, log, replay);
    let log = &*log;
    draft.note_windows(log);
    draft.tells(log, pairs.iter().map(|(at, _)| &log[*at]));
    draft.compare(pairs.iter().map(|(at, other)| (&log[*at], &replay[*other])));
    let (mut log_rest, mut replay_rest) = (0_usize, 0);
    let next = pairs.iter().skip(1).map(|(_, other)| *other).chain([replay.len()]);
    for ((at, other), next) in pairs.iter().copied().zip(next) {
        let before = log_rest.checked_sub(1).map(|before| &log[before]);
        let is_told_by_answer = log[at].user != replay[other].user;
        if is_told_by_answer {
            let (ours, theirs) = (&log[log_rest..=at], &replay[replay_rest..=other]);
            if let Some((first, others_first)) = draft.end_alike(ours, theirs) {
                draft.between(before, Some(&ours[first]), &ours[..first], &theirs[..others_first]);
                draft.keep_took_part(&ours[first..]);
                (log_rest, replay_rest) = (at + 1, other + 1);
                continue;
            }
            // Of turns that were put together it tells more than the one with this answer.
            let mut others = (replay_rest..next).filter(|place| *place != other);
            if others.any(|place| log[at].has_more_prompts(&replay[other], &replay[place])) {
                continue;
            }
        }
        let (rest, prompt) = draft.without_prompt(&log[log_rest..at]);
        draft.between(before, Some(&log[at]), rest, &replay[replay_rest..other]);
        draft.keep(prompt, KnownToAgent::Yes);
        (log_rest, replay_rest) = (at + 1, other + 1);
        let (turn, theirs) = (&log[at], &replay[other]);
        // Where more was said behind it, the agent has lost that as well.
        let is_last = log_rest == log.len();
        let has_lost_last = || turn.is_lost_in_part(theirs) || turn.is_finished_elsewhere(theirs);
        let has_lost = if is_last { has_lost_last() } else { turn.is_told_less_of(theirs) };
        if replay_rest == replay.len() && has_lost {
            draft.keep_lost(turn);
        } else {
            draft.pair(turn, theirs);
        }
    }
    if pairs.is_empty() && commands::are_all_untold(log, replay) {
        draft.between(None, None, log, &[]);
        log_rest = log.len();
    }
    let last = pairs.last().map(|(at, _)| &log[*at]);
    draft.at_end(last, &log[log_rest..], &replay[replay_rest..]);
    draft.finish()
}

/// The turns without those that were cut off and that the replay tells whole behind what was said next, and what goes with what of
/// the replay. An agent that keeps a turn once it has ended goes on with it though its window was killed.
fn told_later<'a>(draft: &mut Draft, log: &'a [Turn], replay: &[Turn]) -> (Cow<'a, [Turn]>, Vec<(usize, usize)>) {
    let pairs = align(log, replay);
    if draft.yields() || pairs.len() == replay.len() {
        return (Cow::Borrowed(log), pairs);
    }
    let (ours, theirs): (BTreeSet<usize>, BTreeSet<usize>) = pairs.iter().copied().unzip();
    let mut told: Vec<&Turn> = unpaired(replay, &theirs).collect();
    let mut is_told_later = |turn: &Turn| {
        let place = told.iter().position(|theirs| theirs.tells_whole(turn));
        place.is_some_and(|place| told.drain(..=place).next_back().is_some())
    };
    let cut_off: Vec<&Turn> = unpaired(log, &ours).filter(|turn| is_told_later(turn)).collect();
    if cut_off.is_empty() {
        return (Cow::Borrowed(log), pairs);
    }
    draft.set_aside(&cut_off);
    let is_left = |turn: &&Turn| cut_off.iter().all(|cut_off| !std::ptr::eq(*turn, *cut_off));
    let left: Vec<Turn> = log.iter().filter(is_left).cloned().collect();
    let pairs = align(&left, replay);
    (Cow::Owned(left), pairs)
}

fn unpaired<'a>(turns: &'a [Turn], paired: &BTreeSet<usize>) -> impl Iterator<Item = &'a Turn> {
    turns.iter().enumerate().filter(|(at, _)| !paired.contains(at)).map(|(_, turn)| turn)
}

/// How many turns from its end a replay is searched for what was said through the layer.
const LOOKED_BACK: usize = 200;

/// What is known of the two besides what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// The agent's own list says that the session has changed since the two last agreed.
    pub moved_on: bool,
    /// The transcript held all of the conversation at that time; else its beginning is with the agent only.
    pub whole: bool,
    /// Others may go on with what stands in the transcript: what the replay contradicts stays.
    pub in_use: bool,
    /// The entries behind this one have been written since the agent was asked for its replay.
    pub asked_at: u64,
}

/// Plans what becomes of a log and a replay that may have nothing in common. What has begun since the agent was asked
/// it need not have told.
pub fn judge(log: &[Turn], heard: HeardRange, replay: &[Turn], evidence: Evidence) -> Plan {
    let (log, replay) = told_apart::joined(log, replay);
    let sides = commands::joined(&log, &replay);
    let as_told = Comparison::of(&sides.0, &sides.1, heard, evidence);
    let judged = as_told.judged();
    if judged.keeps_all() {
        return judged;
    }
    // Where the same command is called over and over, what seems to be told otherwise may be another call of it.
    let has_joined = matches!(sides, (Cow::Owned(_), _));
    let as_sent = || has_joined.then(|| Comparison::of(&log, &replay, heard, evidence))?.on_the_whole();
    as_told.on_the_whole().or_else(as_sent).unwrap_or(judged)
}

/// Both sides, and what is known of them.
struct Comparison<'a> {
    log: Cow<'a, [Turn]>,
    /// What has begun since the agent was asked.
    since: &'a [Turn],
    replay: &'a [Turn],
    heard: HeardRange,
    evidence: Evidence,
}

impl<'a> Comparison<'a> {
    fn of(log: &'a [Turn], replay: &'a [Turn], heard: HeardRange, evidence: Evidence) -> Self {
        let (before, since) = begun_since(log, replay, evidence.asked_at);
        Self { log: as_copied(before, replay), since, replay, heard, evidence }
    }

    fn judged(&self) -> Plan {
        self.judge(mingled::joined(&self.log, self.replay, mingled::Coverage::CutShort))
    }

    /// Plans where turns that were had at once are compared as one, if nothing is new or gone then.
    fn on_the_whole(&self) -> Option<Plan> {
        let sides = on_the_whole::joined(&self.log, self.replay);
        sides.into_iter().map(|sides| self.judge(sides)).find(Plan::keeps_all)
    }

    fn judge(&self, (log, replay): (Cow<'_, [Turn]>, Cow<'_, [Turn]>)) -> Plan {
        let mut judged = judge_all(&log, self.heard, &replay, self.evidence);
        let since = self.since.iter().flat_map(|turn| turn.at.runs());
        judged.pieces.extend(since.map(Piece::Keep));
        judged
    }
}

/// The same turns. Of those that were begun while the agent forked its session, the first ones are a part of the fork, as far as
/// it tells any; the others went to the other session alone.
fn as_copied<'a>(log: &'a [Turn], replay: &[Turn]) -> Cow<'a, [Turn]> {
    let is_uncopied = |turn: &Turn| turn.uncopied == Uncopied::All;
    if !log.iter().any(is_uncopied) {
        return Cow::Borrowed(log);
    }
    let mut log = log.to_vec();
    let stretches = log.chunk_by_mut(|one, other| one.uncopied == other.uncopied);
    for stretch in stretches.filter(|stretch| stretch.first().is_some_and(is_uncopied)) {
        let told = stretch.iter().rposition(|turn| is_told(turn, replay)).map_or(0, |last| last + 1);
        stretch[told..].iter_mut().for_each(|turn| turn.took_part = Some(false));
    }
    Cow::Owned(log)
}

/// Whether a replay has its prompt, its answer or a part of it.
fn is_told(turn: &Turn, replay: &[Turn]) -> bool {
    let (prompt, answer) = turn.said();
    let is_prompt = |theirs: &Turn| !prompt.is_empty() && theirs.user == prompt;
    let is_answer = |theirs: &Turn| !answer.is_empty() && theirs.agent.sum() == answer;
    is_held(turn, replay) || replay.iter().any(|theirs| is_prompt(theirs) || is_answer(theirs))
}

/// The turns of a log before those that have begun behind this entry and are not told, and these.
fn begun_since<'a>(log: &'a [Turn], replay: &[Turn], behind: u64) -> (&'a [Turn], &'a [Turn]) {
    let begun = log.iter().position(|turn| turn.at.start() > behind).unwrap_or(log.len());
    let asked: BTreeSet<u32> = log.iter().filter(|turn| !turn.user.is_empty()).map(|turn| turn.one_with).collect();
    // What nobody asked for is hard to tell.
    let may_be_told = |turn: &Turn| !asked.contains(&turn.one_with) || is_told(turn, replay);
    let told = log[begun..].iter().rposition(may_be_told).map_or(begun, |last| begun + last + 1);
    // The agent may cut it into other turns.
    let all: Vec<&Turn> = log.iter().collect();
    let (alike, _) = alike(&all, replay).unwrap_or_default();
    let (before, since) = log.split_at(told.max(alike));
    let end = before.iter().map(|turn| turn.at.end()).max().unwrap_or(0);
    let is_in_order = since.is_sorted_by(|one, other| one.at.end() < other.at.start());
    let is_one_with = |turn: &Turn| before.iter().any(|other| other.one_with == turn.one_with);
    let is_apart = |turn: &Turn| turn.at.start() > end.max(behind) && !is_one_with(turn);
    if is_in_order && since.iter().all(is_apart) { (before, since) } else { (log, &log[..0]) }
}

/// Plans for a replay that was told of all that is in the log. Turns that are one to readers stay together, or are
/// taken out of the conversation together.
fn judge_all(log: &[Turn], heard: HeardRange, replay: &[Turn], evidence: Evidence) -> Plan {
    let mut judged = by_evidence(log, heard, replay, evidence);
    let mut log = Cow::Borrowed(log);
    loop {
        let torn = joint::torn(&judged, &log);
        if torn.is_empty() {
            return judged;
        }
        // What would be put in between them is the agent's, which so is believed.
        log = Cow::Owned(joint::joined(&log, &torn));
        judged = plan_by(&log, heard, replay, evidence);
    }
}

/// Whether the replay has all prompts of the log, in whatever order, and others behind them. The conversation has gone on without the
/// layer then, though the agent tells all that was answered before in other words.
fn has_more_prompts(log: &[Turn], replay: &[Turn]) -> bool {
    let mut asked: Vec<Sum> = log.iter().filter(|turn| turn.took_part != Some(false)).map(|turn| turn.user).collect();
    asked.retain(|prompt| !prompt.is_empty());
    let told: Vec<Sum> = replay.iter().map(|turn| turn.user).filter(|prompt| !prompt.is_empty()).collect();
    let Some((same, _)) = told.split_at_checked(asked.len()).filter(|(_, more)| !more.is_empty()) else { return false };
    let mut same = same.to_vec();
    same.sort_unstable();
    asked.sort_unstable();
    !asked.is_empty() && asked == same
}

/// An agent that tells something else altogether, though nobody has
/// heard of a change, is not believed: some replay a summary, or only what they said last. And what only the agent has
/// of a session comes before what was said through the layer.
fn by_evidence(log: &[Turn], heard: HeardRange, replay: &[Turn], evidence: Evidence) -> Plan {
    let mut draft = Draft::new(0.into(), false, replay);
    let is_same = draft.is_same(log, replay, false);
    let is_related = is_same
        || log.iter().all(Turn::is_silent)
        || log.iter().any(|turn| is_held(turn, replay))
        || !align(log, replay).is_empty()
        || has_more_prompts(log, replay);
    // Where nothing has come to its end, the agent need not have kept any of it, and tells what was said elsewhere.
    let mut its = log.iter().filter(|turn| turn.took_part != Some(false) && !turn.is_silent()).peekable();
    let is_unfinished = its.peek().is_some() && its.all(|turn| turn.window != 0 && !turn.is_finished());
    let is_related = is_related || evidence.whole && is_unfinished && replay.iter().any(Turn::has_both);
    // Commands that the agent does not record contradict nothing.
    let may_differ = if commands::are_all_untold(log, replay) { evidence.whole } else { evidence.moved_on };
    if is_related || may_differ {
        return plan_by(log, heard, replay, evidence);
    }
    if evidence.whole {
        return plan(log, heard, &[], false);
    }
    // The agent may have told what was said through the layer as well, in other turns than ours.
    let ours = (0..replay.len()).rev().take(LOOKED_BACK).find(|at| draft.is_same(log, &replay[*at..], false));
    if let Some(ours) = ours {
        draft.insert(&replay[..ours]);
        draft.keep_same(log, &replay[ours..]);
        return draft.finish();
    }
    draft.insert(replay);
    draft.keep(log, KnownToAgent::No);
    draft.finish()
}
