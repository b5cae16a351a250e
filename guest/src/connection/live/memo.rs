//! What the host keeps of an open session for a lost instance: derived from the session, here and nowhere else.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::closing::Closing;
use super::in_step::KeptInStep;
use super::late_replay::LateReplay;
use super::question::MOST_QUESTIONS;
use super::{AgentsCopy, Completeness, Folder, LiveSession, OpenedWith, Phase, Question, StandsIn};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::requests::TurnMemo;
use crate::connection::told::Untold;
use crate::connection::turn::Turn;
use crate::environment::Environment;
use crate::sessions::open_marks::Written;
use crate::storage::Storage;
use crate::transcript::{BegunTurn, Entry, Kind, Whereabouts, begun_by};

/// What a fresh instance needs to carry on with an open session, besides what is in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::connection) struct Memo {
    pub(in crate::connection) agent_id: String,
    /// From where on there is something that the agent was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) untold: Option<Untold>,
    /// The session on behalf of which its agent started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) parent: Option<String>,
    /// The connection whose open mark says how far it is written; where the store has not taken that yet, whose it will be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) mark: Option<String>,
    /// What that said when the memo was given: see [`Written::times`].
    #[serde(default)]
    pub(in crate::connection) writes: u64,
    /// Up to where the log was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) seen: Option<u32>,
    #[serde(flatten)]
    pub(in crate::connection) in_step: KeptInStep,
    /// Where it only stands in for the agent's own: how many entries the transcript had when it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) stands_in_since: Option<u64>,
    #[serde(default, skip_serializing_if = "StandsIn::is_until")]
    stands_in: StandsIn,
    /// It was opened in a folder that its record does not have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::connection) stands_apart: bool,
    /// Whether its agent has it open with what its client has given last.
    #[serde(default, skip_serializing_if = "OpenedWith::is_given")]
    opened_with: OpenedWith,
    /// Something that was said is neither in the store yet nor kept by the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::connection) unwritten: bool,
    /// So it was with an instance that was lost in the turns under way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::connection) missing: bool,
    /// What the agent has asked its user and waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::connection) questions: Vec<Question>,
    /// What the agent tells, or may tell, of what it had as it opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) late_replay: Option<Whereabouts>,
    /// Where prompts are kept that have waited, and that the agent has had since without the log having taken them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sent: Vec<String>,
}

/// Why something is missing in a log after an instance was lost.
const LOST: &str = "the session engine failed and was started anew; what it had not written yet is lost";
/// How the turn of a prompt has ended that was lost with its instance.
const LOST_PROMPT: &str = "the session engine failed and was started anew before the agent had the prompt";
/// What the client is told of a turn of which something is missing.
pub(super) const MISSING: &str = "part of what was said in this turn could not be kept";

impl LiveSession {
    /// `None` unless the agent has it open for sure: a session that is only being opened is opened anew.
    /// `connection`: the one it is open on.
    pub(in crate::connection) fn memo(&self, connection: &str) -> Option<Memo> {
        let mark = self.marked.as_deref().unwrap_or(connection);
        self.is_kept().then(|| Memo {
            agent_id: self.open_as().to_owned(),
            untold: self.untold_for_sure(),
            parent: self.parent.clone(),
            mark: Some(mark.to_owned()),
            writes: self.writes,
            seen: self.recorder.seen(),
            in_step: self.in_step.kept(mark, self.open_as(), self.recorder.seen()),
            stands_in_since: self.stands_in_since,
            stands_in: self.stands_in,
            stands_apart: self.folder == Folder::Other,
            opened_with: self.opened_with_for_sure(),
            unwritten: self.is_unwritten(),
            missing: self.said == Completeness::Missing,
            questions: self.questions.iter().take(MOST_QUESTIONS).cloned().collect(),
            late_replay: self.late_replay.place(),
            sent: self.begun_keys(),
        })
    }

    /// The id that the agent has it open by; empty while it is only being made to open it once more.
    fn open_as(&self) -> &str {
        match &self.phase {
            Phase::Opening(opening) if opening.is_detached() => "",
            _ => &self.agent_id,
        }
    }

    /// Whether an instance that is lost now takes something with it that was said before the arrivals it is at.
    pub(super) fn is_unwritten(&self) -> bool {
        let is_kept = |turn: &&Turn| turn.unstored.as_ref().is_some_and(|unstored| unstored.behind == self.writes);
        let turns = match &self.phase {
            Phase::Open { turns, .. } | Phase::Closing(Closing { turns, .. }) => turns,
            // Nothing is written of these.
            Phase::Opening(_) | Phase::Deleted { .. } | Phase::Gone => return false,
        };
        self.late_replay.holds() || self.recorder.is_dirty_beyond(turns.iter().filter(is_kept).count())
    }

    /// Whether there is something to keep of it.
    pub(super) fn is_kept(&self) -> bool {
        match &self.phase {
            Phase::Open { .. } | Phase::Deleted { .. } => true,
            // An agent that was asked to let go may have done so.
            Phase::Closing(closing) => !closing.is_asked(),
            Phase::Opening(opening) => opening.was_open(),
            Phase::Gone => false,
        }
    }

    /// It is taken up after an instance was lost; what was written then.
    pub(in crate::connection) fn take_up(&mut self, memo: Memo, written: Written, now: i64) {
        self.in_step.take_up(memo.in_step, memo.mark.as_deref(), &memo.agent_id);
        self.parent = memo.parent;
        self.stands_in_since = memo.stands_in_since;
        self.stands_in = memo.stands_in;
        self.folder = if memo.stands_apart { Folder::Other } else { Folder::OfRecord };
        self.opened_with = memo.opened_with;
        self.questions = memo.questions;
        self.late_replay = memo.late_replay.map(|place| LateReplay::taken_up(place, now)).unwrap_or_default();
        // What is lost of them is lost as of all prompts: they have waited no more.
        memo.sent.into_iter().for_each(|key| self.note_unsent_begun(String::new(), key));
        // What another window has written since is for the agent to hear.
        if let Some(seen) = memo.seen {
            self.recorder.note_seen(seen);
        }
        self.copy = AgentsCopy::Unseen;
        // A write that is counted takes all that waited before the arrivals it is at.
        let is_lost = memo.unwritten && written.times <= memo.writes;
        if is_lost {
            self.recorder.push_loss(now, LOST);
        }
        self.said = Completeness::missing_if(memo.missing || is_lost);
        self.writes = memo.writes.max(written.times);
        if written.times > memo.writes {
            self.recorded = written.arrivals;
        }
    }

    /// The agent has told something of it that could not be taken.
    pub(in crate::connection) fn note_loss(&mut self, now: i64, reason: &str) {
        if matches!(self.phase, Phase::Open { .. } | Phase::Closing(_)) {
            self.recorder.push_loss(now, reason);
            self.said = Completeness::Missing;
            self.forget_missing_without_turn();
        }
    }

    /// Where no turn is under way of which something could be missing, it is the log alone that says so.
    pub(in crate::connection) fn forget_missing_without_turn(&mut self) {
        if self.is_without_turn() {
            self.said = Completeness::Whole;
        }
    }

    /// Which of the connection's writes to logs was the last to this one.
    pub(in crate::connection) fn last_write(&self) -> u64 {
        self.writes
    }

    /// The arrivals that the instance was lost with have been made up for.
    pub(in crate::connection) fn forget_recorded_arrivals(&mut self) {
        self.recorded = 0;
    }

    /// Whether the instance that was lost with the arrival that is made up for had recorded it.
    pub(super) fn was_recorded<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> bool {
        (1..=self.recorded).contains(&cx.arrivals)
    }

    /// A prompt was lost with its instance on its way to the agent, and its client is told so. Where it was written before,
    /// its turn ends in the log.
    pub(in crate::connection) fn prompt_lost<S: Storage, E: Environment>(
        &mut self,
        prompt: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        let (Some(id), Some(seen)) = (self.key.id(), self.recorder.seen()) else { return };
        if !self.was_recorded(cx) {
            return;
        }
        let with = (cx.agent.name.as_str(), &*self.agent_id);
        let tag = begun_by(cx.store.storage(), id, seen, prompt, with).unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            None
        });
        let tags: Vec<String> = self.turns_mut().into_iter().flatten().map(|turn| turn.tag.clone()).collect();
        // Where the client had not waited for the turn before, both are one, which goes on.
        if let Some(tag) = tag.filter(|tag| !tags.contains(tag)) {
            self.recorder.set_turn(Some(tag));
            self.recorder.push(Kind::TurnEnd, cx.now(), &json!({ "error": { "message": LOST_PROMPT } }).to_string());
            self.recorder.set_turn(tags.into_iter().next());
            self.activity.touched = Some(cx.now());
        }
    }

    /// A turn that an earlier instance began, with what the log has of it.
    pub(in crate::connection) fn take_up_turn(&mut self, request: ClientRequest, mut memo: TurnMemo, begun: BegunTurn) {
        let (tag, unstored) = (memo.tag.clone(), memo.unstored.take());
        // Where its mark could not be written either, the log itself tells.
        let unstored =
            unstored.filter(|unstored| self.writes <= unstored.behind && !begun.prompts.contains(&unstored.entry));
        if let Some(entry) = unstored.as_ref().and_then(|unstored| Entry::parse(&unstored.entry)) {
            self.recorder.set_turn(Some(tag.clone()));
            self.recorder.push(Kind::Prompt, entry.time, entry.json);
            self.activity.prompts += 1;
            self.activity.touched = Some(entry.time);
            if let Some((id, draft)) = entry.message_id().zip(unstored.as_ref().and_then(|it| it.draft.clone())) {
                self.note_unsent_begun(id, draft);
            } else {
                self.activity.prompted = Some(entry.time);
            }
        }
        if let Some(place) = begun.place {
            self.begin_own_turn(&tag, place);
        }
        let Some(turns) = self.turns_mut() else { return };
        let earlier = turns.iter().filter(|turn| turn.tag == tag).count();
        let entry = unstored.map(|unstored| unstored.entry).or_else(|| begun.prompts.into_iter().nth(earlier));
        turns.push(Turn::taken_up(request, memo, entry.as_deref().and_then(Entry::parse)));
        let first = turns.first().map(|turn| turn.tag.clone());
        // Whether the client was told is not known.
        self.name_to_tell = turns.first().and_then(|turn| turn.title.clone());
        self.recorder.set_turn(first);
        self.calls = begun.calls;
        self.told_calls = begun.told_calls;
    }
}
