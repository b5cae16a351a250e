//! What happens in a session, until its record says so.

use super::agents_copy::AgentsCopy;
use crate::connection::told::HeardInLog;
use crate::store::{Between, Session, Title};
use crate::transcript::{LaidOut, LogEnd};

/// What has happened since the record was last written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Activity {
    /// How many prompts came.
    pub(super) prompts: u64,
    /// When the last of the turns that have succeeded began and ended, which may be long before that is written.
    pub(super) last_turn: Option<(i64, i64)>,
    /// When something was last said or done.
    pub(super) touched: Option<i64>,
    /// When the last prompt came.
    pub(super) prompted: Option<i64>,
    /// When the last turn ended, and the model that it had, where that is known.
    pub(super) turn_ended: Option<(i64, Option<String>)>,
    /// A title made of a prompt, should the session need one.
    pub(super) title: Option<String>,
    /// How much of the log the agent had heard when it last answered well.
    pub(super) heard: Option<HeardInLog>,
    /// A prompt has succeeded.
    pub(super) succeeded: bool,
    /// The agent has refused a prompt because it has no such session: where that stands in the session's own log.
    pub(super) refused: Option<u32>,
}

/// Whose activity it is.
pub(super) struct By<'a> {
    pub(super) agent: &'a str,
    /// The agent's id of the session.
    pub(super) agent_id: &'a str,
    pub(super) copy: AgentsCopy,
    /// Where its session takes the place of the agent's own: since when it stands in for that.
    pub(super) takes_place_since: Option<u64>,
    /// How the transcript was laid out when it was last looked at: what was taken over since the agent has not heard.
    pub(super) laid_out: &'a LaidOut,
}

impl Activity {
    /// What the record is to say of it; the session's own log ends at `end`.
    pub(super) fn note(&self, session: &mut Session, by: &By<'_>, end: LogEnd, now: i64) {
        if let Some(at) = self.touched {
            session.touch(at.max(session.updated.min(now)));
        }
        if let Some(at) = self.prompted {
            session.prompted = Some(at);
        }
        if let Some((at, model)) = &self.turn_ended {
            session.end_turn(*at, now);
            session.model = model.clone().or_else(|| session.model.take());
        }
        session.prompts += self.prompts;
        if session.title == Title::None
            && let Some(title) = &self.title
        {
            session.title = Title::Auto(title.clone());
        }
        let heard = self.heard.and_then(|heard| Some(by.laid_out.carried_up_to(heard.up_to(end.known?), session)));
        if let Some(since) = by.takes_place_since.filter(|_| self.succeeded)
            && session.id_at(by.agent) != Some(by.agent_id)
        {
            session.give_to(by.agent, by.agent_id, 0);
            session.agents.entry(by.agent.to_owned()).and_modify(|known| known.since = since);
        }
        if let Some(known) = session.agents.get_mut(by.agent).filter(|known| known.id == by.agent_id) {
            // What others have written just now it has not.
            known.heard = heard.unwrap_or(known.heard);
            let has_heard_all = self.heard == Some(HeardInLog::All);
            if has_heard_all {
                match by.copy {
                    AgentsCopy::Known { .. } => known.note_turn(self.last_turn, Between::Nothing),
                    AgentsCopy::KnownUpToTurns { .. } => known.note_turn(self.last_turn, Between::Unseen),
                    AgentsCopy::Unseen | AgentsCopy::PutOff | AgentsCopy::NotReplayedWhileOpen => {}
                }
            }
            if let Some((at, _)) = self.turn_ended {
                known.note_turn_end(at);
            }
            if self.last_turn.is_some() && has_heard_all {
                known.listed_before = known.listed.filter(|_| !known.is_explained());
            }
        }
        if let Some(place) = self.refused {
            let before = session.length_up_to(place.saturating_sub(1));
            let known = session.agents.get_mut(by.agent).filter(|known| known.id == by.agent_id);
            if let Some(known) = known {
                known.heard = known.heard.min(before);
            }
        }
    }
}
