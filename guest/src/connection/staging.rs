//! What an agent tells of a session while it loads it: recorded in a log of its own, which becomes part of the
//! transcript as a whole, or is dropped.

use super::cx::Cx;
use super::effect::Effect;
use super::live::{Target, Update};
use crate::environment::Environment;
use crate::reconcile::{self, Evidence, turns};
use crate::rpc::{Object, RpcError};
use crate::sessions::adopt::{self, Adopted, Adoption};
use crate::sessions::staging;
use crate::storage::{Durability, Result, Storage};
use crate::store::{Origin, Session};
use crate::transcript::{Kind, Recorder, UpdateKind, own_words};

/// A history on its way from the agent.
#[derive(Debug)]
pub(super) struct Staging {
    log: String,
    recorder: Recorder,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct TakenOver {
    /// The session's record by now.
    pub(super) session: Session,
    /// How many entries of the transcript the agent has heard.
    pub(super) heard: u64,
}

impl Staging {
    /// Begins one for this session.
    pub(super) fn begin<S: Storage, E: Environment>(session: &Session, cx: &Cx<'_, S, E>) -> Result<Self> {
        let log = format!("{}~{:016x}", session.id, cx.environment.random());
        staging::begin(cx.store, cx.connection, &log, cx.now())?;
        Ok(Self { recorder: Recorder::new(&log), log })
    }

    /// Records what the agent tells.
    pub(super) fn record<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Result<()> {
        let now = cx.now();
        match update.kind {
            UpdateKind::UserChunk | UpdateKind::Chunk => {
                let text = if update.kind == UpdateKind::UserChunk { update.text() } else { None };
                let shown = text.as_deref().map(own_words::strip);
                let changed = match (&shown, &text) {
                    (Some(shown), Some(text)) if shown.is_empty() && !text.is_empty() => return Ok(()),
                    (Some(shown), Some(text)) if shown != text => Some(update.with_text(shown)),
                    _ => None,
                };
                let kept = update.kept(changed.as_deref());
                let params = Object::parse_or_empty(&kept);
                self.recorder.push_chunk(now, changed.as_deref().unwrap_or(update.update), &params, || cx.message_id());
            }
            _ => self.recorder.push(Kind::Update, now, &update.kept(None)),
        }
        if self.recorder.is_full() {
            self.recorder.flush(cx.store, &[], Durability::Relaxed)?;
        }
        Ok(())
    }

    /// Makes what is new of it a part of the session's transcript.
    pub(super) fn adopt<S: Storage, E: Environment>(
        mut self,
        target: &Target,
        agent_id: &str,
        cx: &mut Cx<'_, S, E>,
    ) -> std::result::Result<TakenOver, RpcError> {
        self.recorder.close_run();
        self.recorder.flush(cx.store, &[], Durability::Relaxed)?;
        match self.reconcile(target, agent_id, cx) {
            Ok(adopted) => {
                staging::end(cx.store, cx.connection, &self.log)?;
                Ok(adopted)
            }
            Err(error) => {
                self.discard(cx);
                Err(error)
            }
        }
    }

    fn reconcile<S: Storage, E: Environment>(
        &self,
        target: &Target,
        agent_id: &str,
        cx: &mut Cx<'_, S, E>,
    ) -> std::result::Result<TakenOver, RpcError> {
        let agent = cx.agent.name.as_str();
        let storage = cx.store.storage();
        let id = target.session().id.clone();
        let stored = cx.store.session(&id)?;
        let (session, is_new) = match (stored, target) {
            (Some(session), _) => (session, false),
            (None, Target::Unknown(session)) => (session.clone(), true),
            (None, _) => return Err(RpcError::session_not_found(&id)),
        };
        let own_end = storage.log_end(&id)?;
        let heard = session.agents.get(agent).map_or(0, |known| known.heard);
        let (ours, theirs) = turns::of_both(storage, &session, own_end, &self.log, own_words::strip)?;
        // The agent's list may have been read since the agent was asked to load it.
        let evidence = Evidence { moved_on: has_moved_on(&session, agent), whole: session.origin == Origin::Layer };
        let plan = reconcile::judge(&ours, heard, &theirs, evidence);
        let listed = session.agents.get(agent).and_then(|known| known.listed);
        let adoption = Adoption {
            session: &session,
            own_end,
            staging: &self.log,
            plan: &plan,
            agent,
            agent_id,
            agreed: Some(cx.now().max(listed.unwrap_or(0))),
            now: cx.now(),
        };
        let adopted = if is_new {
            adopt::create(cx.store, cx.environment, &adoption)?
        } else {
            adopt::adopt(cx.store, &adoption)?
        };
        let session = match adopted {
            Adopted::Done(session) => *session,
            // Another window has taken the history over; what it made of it counts.
            Adopted::Outrun => cx.store.session(&id)?.ok_or_else(|| RpcError::session_not_found(&id))?,
            Adopted::Deleted => return Err(RpcError::session_not_found(&id)),
        };
        let heard = session.agents.get(agent).map_or(0, |known| known.heard);
        Ok(TakenOver { session, heard })
    }

    /// Drops it.
    pub(super) fn discard<S: Storage, E: Environment>(self, cx: &mut Cx<'_, S, E>) {
        if let Err(error) = staging::discard(cx.store, cx.connection, &self.log) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }
}

/// Whether the agent's own list says that the session has changed since the log last agreed with it.
fn has_moved_on(session: &Session, agent: &str) -> bool {
    let Some(known) = session.agents.get(agent) else { return false };
    known.listed.zip(known.agreed).is_some_and(|(listed, agreed)| listed > agreed)
}
