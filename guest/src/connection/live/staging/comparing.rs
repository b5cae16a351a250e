//! What an agent has told of a session is compared with the history, and what is new of it made a part of the transcript.

use std::collections::BTreeSet;

use super::{StagedIn, Staging};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::overheard::{Last, Overheard};
use crate::connection::live::target::Target;
use crate::environment::Environment;
use crate::reconcile::{self, Disputed, Evidence, HeardRange, Plan, Replayed, Turn, turns};
use crate::rpc::RpcError;
use crate::sessions::adopt::{self, Adopted, Adoption};
use crate::sessions::{open_marks, staging};
use crate::storage::{Result, Storage, StorageError};
use crate::store::{Known, Origin, Session};
use crate::transcript::{LaidOut, own_words, turns_within};

/// What came of it.
#[derive(Debug)]
pub(in crate::connection::live) struct TakenOver {
    /// The session's record by now.
    pub(in crate::connection::live) session: Session,
    /// How many entries of the transcript the agent has heard.
    pub(in crate::connection::live) heard: u64,
    /// The tags of turns that it has told behind those.
    pub(in crate::connection::live) turns_told: BTreeSet<String>,
    /// What had been held back of the last message.
    pub(in crate::connection::live) rest: Option<String>,
    /// What contradicts the history, which another window may go on with, was not taken over.
    pub(in crate::connection::live) is_put_off: bool,
}

/// What came of comparing it with the history.
#[derive(Debug)]
pub(in crate::connection::live) enum Comparison {
    Made(Box<TakenOver>),
    /// It has more than the log, which other windows that have the session open may not have written yet.
    TooEarly(Box<Staging>),
}

/// Why nothing became of what was told.
#[derive(Debug)]
pub(in crate::connection::live) enum NotAdopted {
    Storage(StorageError),
    Refused(RpcError),
}

impl From<StorageError> for NotAdopted {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<RpcError> for NotAdopted {
    fn from(error: RpcError) -> Self {
        Self::Refused(error)
    }
}

impl From<NotAdopted> for RpcError {
    fn from(error: NotAdopted) -> Self {
        match error {
            NotAdopted::Storage(error) => error.into(),
            NotAdopted::Refused(error) => error,
        }
    }
}

impl Staging {
    /// How much of the session the agent has told, of which nothing is made, and the tags of turns that it has told behind that; none
    /// where that cannot be said any more. The record is as it was when the agent was asked, and so is how much it had `heard`: another of its programs, by the same
    /// id, may have heard more since.
    pub(in crate::connection::live) fn overhear<S: Storage, E: Environment>(
        mut self,
        asked: &Session,
        heard: u64,
        agent_id: &str,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<(Overheard, BTreeSet<String>)>> {
        drop(self.end_users(cx).or_else(|| self.end_agents(cx)));
        let overheard = self.close(cx).and_then(|()| self.compare(asked, heard, agent_id, cx));
        self.discard(cx);
        overheard
    }

    fn compare<S: Storage, E: Environment>(
        &self,
        asked: &Session,
        heard: u64,
        agent_id: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<Option<(Overheard, BTreeSet<String>)>> {
        let (agent, storage) = (cx.agent.name.as_str(), cx.store.storage());
        let is_same = |session: &Session| session.layout == asked.layout && session.id_at(agent) == Some(agent_id);
        let Some(session) = cx.store.session(&asked.id)?.filter(is_same) else { return Ok(None) };
        let own_end = storage.log_end(&session.id)?;
        // Read before it is compared: what comes to it meanwhile is not taken for told.
        let last = Last::read(storage, &session.id, own_end)?;
        let (ours, theirs) = turns::of_both(storage, &session, own_end, self.replayed(), agent, own_words::strip)?;
        let tells = reconcile::told(&ours, heard, &theirs);
        let turns = turns_within(storage, (&session, own_end), tells.heard, &tells.behind)?;
        Ok(Some((Overheard::of(tells.heard, heard, &session, last), turns)))
    }

    /// Makes what is new of it a part of the session's transcript, of which the agent had `heard` so much when it was asked.
    /// `may_wait`: not yet, where other windows may be about to write it.
    pub(in crate::connection::live) fn adopt<S: Storage, E: Environment>(
        mut self,
        target: &Target,
        heard: u64,
        agent_id: &str,
        may_wait: bool,
        cx: &mut Cx<'_, S, E>,
    ) -> std::result::Result<Comparison, NotAdopted> {
        let rest = self.end_users(cx).or_else(|| self.end_agents(cx));
        self.close(cx)?;
        match self.reconcile(target, heard, agent_id, may_wait, cx) {
            Ok(None) => Ok(Comparison::TooEarly(Box::new(self))),
            Ok(Some(adopted)) => {
                if adopted.is_put_off {
                    self.discard(cx);
                } else if let Err(error) = staging::end(cx.store, cx.connection, &self.log) {
                    // It is taken over all the same.
                    cx.push(Effect::NotRecorded(error.to_string()));
                }
                Ok(Comparison::Made(Box::new(TakenOver { rest, ..adopted })))
            }
            Err(error) => {
                self.discard(cx);
                Err(error)
            }
        }
    }

    /// None: it is to be waited.
    fn reconcile<S: Storage, E: Environment>(
        &mut self,
        target: &Target,
        heard_as_asked: u64,
        agent_id: &str,
        may_wait: bool,
        cx: &mut Cx<'_, S, E>,
    ) -> std::result::Result<Option<TakenOver>, NotAdopted> {
        let agent = cx.agent.name.as_str();
        let storage = cx.store.storage();
        let id = target.session().id.clone();
        let stored = cx.store.session(&id)?;
        let (mut session, is_new) = match (stored, target) {
            // It was unknown, and is known by another id by now, since this one has become another session's.
            (Some(session), Target::Unknown(_)) if session.id_at(agent) != Some(agent_id) => {
                return Err(RpcError::session_not_found(&id).into());
            }
            (Some(session), _) => (session, false),
            (None, Target::Unknown(session)) => (session.clone(), true),
            (None, _) => return Err(RpcError::session_deleted_meanwhile(&id).into()),
        };
        if session.id_at(agent) != Some(agent_id) {
            // Another session of the agent's has taken this one's place since it was asked; what that one heard is another
            // matter.
            session.know_as(agent, agent_id, 0);
        }
        let own_end = storage.log_end(&id)?;
        let known = session.agents.get(agent);
        let mut heard = known
            .map_or(HeardRange { since: 0, until: 0 }, |known| HeardRange { since: known.since, until: known.heard });
        if let Target::Known(asked) = target {
            // What another of its programs has heard since, by the same id, this one has not.
            heard.until = heard.until.min(LaidOut::of(asked).carried(heard_as_asked, &session));
        }
        let (ours, theirs) = turns::of_both(storage, &session, own_end, self.replayed(), agent, own_words::strip)?;
        // The agent's list may have been read since the agent was asked to load it.
        let evidence = Evidence {
            moved_on: self.has_moved_on(&session, (&ours, &theirs), cx)?,
            whole: session.origin == Origin::Layer,
            in_use: false,
            asked_at: session.length_up_to(self.asked_at),
        };
        let mut plan = reconcile::judge(&ours, heard, &theirs, evidence);
        if evidence.whole && !plan.keeps_all() && open_marks::is_open_elsewhere(cx.store, &id, cx.connection, cx.now())?
        {
            if may_wait {
                return Ok(None);
            }
            // Its program in another window may have what this one's does not tell.
            if plan.disputed == Disputed::SetAside {
                plan = reconcile::judge(&ours, heard, &theirs, Evidence { in_use: true, ..evidence });
            }
            if plan.disputed == Disputed::Stays && plan.keeps_all() {
                let turns_told = BTreeSet::new();
                return Ok(Some(TakenOver { session, heard: heard.until, turns_told, rest: None, is_put_off: true }));
            }
        }
        plan = reconcile::without_other_branches(plan, &ours, heard.until, &theirs);
        if let Some(left) = known.and_then(Known::left_with) {
            plan = reconcile::left_with(plan, &ours, left, &theirs);
        }
        if !plan.keeps_all() {
            let turns = (&*ours, &*theirs);
            plan = reconcile::with_own_prompts(storage, (&session, own_end), self.replayed(), turns, plan)?;
            self.write(cx)?;
            self.index(&plan, cx)?;
        }
        let turns_told = turns_told(storage, (&session, own_end), &plan)?;
        // What its list has said since may be of something that came after what was told of here.
        let listed = target.session().agents.get(agent).and_then(|known| known.listed);
        let adoption = Adoption {
            session: &session,
            own_end,
            staging: &self.log,
            plan: &plan,
            agent,
            agent_id,
            compared: listed,
            now: cx.now(),
        };
        let adopted = if is_new {
            adopt::create(cx.store, cx.environment, &adoption)?
        } else {
            adopt::adopt(cx.store, &adoption)?
        };
        let (session, heard, turns_told) = match adopted {
            Adopted::Done(session) => (*session, plan.heard, turns_told),
            // Another window has taken the history over; what it made of it counts.
            Adopted::Outrun => {
                let session = cx.store.session(&id)?.ok_or_else(|| RpcError::session_deleted_meanwhile(&id))?;
                let heard = session.heard_by(agent, agent_id).min(session.length_before(self.asked_at));
                (session, heard, BTreeSet::new())
            }
            Adopted::Deleted => return Err(RpcError::session_deleted_meanwhile(&id).into()),
        };
        let is_put_off = plan.disputed == Disputed::Stays;
        Ok(Some(TakenOver { session, heard, turns_told, rest: None, is_put_off }))
    }

    /// Whether the agent's own list says that the session has changed since the log last agreed with it. Where all that it does not
    /// tell comes behind a command, which it need not record, a time at which it was opening the session, or letting go of it, does
    /// not say so.
    fn has_moved_on<S: Storage, E: Environment>(
        &self,
        session: &Session,
        (ours, theirs): (&[Turn], &[Turn]),
        cx: &Cx<'_, S, E>,
    ) -> Result<bool> {
        let Some(known) = session.agents.get(&cx.agent.name).filter(|known| known.has_moved_on()) else {
            return Ok(false);
        };
        if !reconcile::are_untold_from_command(ours, theirs) {
            return Ok(true);
        }
        let mut known = known.clone();
        for lost in open_marks::silent_since(cx.store, &session.id, cx.connection, cx.now())? {
            known.note_loss(lost);
        }
        if known.has_moved_on_by_itself() && cx.was_listed_before(self.asked_when) {
            let listed = self.session.agents.get(&cx.agent.name).and_then(|asked| asked.listed);
            known.note_opening((self.asked_when, cx.now()), listed);
        }
        Ok(known.has_moved_on_by_itself())
    }

    /// All that was told, to be compared.
    fn replayed(&self) -> Replayed<'_> {
        match self.kept {
            StagedIn::Held(_) => Replayed::Held(&self.recorder),
            StagedIn::Written => Replayed::Log(&self.log),
        }
    }

    /// Indexes what becomes a part of the transcript, as far as it was written without.
    fn index<S: Storage, E: Environment>(&self, plan: &Plan, cx: &Cx<'_, S, E>) -> Result<()> {
        let until = u64::from(self.recorder.unindexed());
        for range in plan.inserted() {
            let (start, end) = (*range.start(), until.min(*range.end()));
            if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
                staging::index(cx.store, &self.log, start..=end)?;
            }
        }
        Ok(())
    }
}

/// The tags of turns of a session, its own log up to the entry `own_end`, that the agent has told behind what it has not heard. Where the
/// two contradict each other it is told all of that.
fn turns_told<S: Storage>(storage: &S, (session, own_end): (&Session, u32), plan: &Plan) -> Result<BTreeSet<String>> {
    match plan.unheard.filter(|_| plan.disputed == Disputed::Nothing) {
        Some(unheard) => turns_within(storage, (session, own_end), unheard - 1, &plan.heard_behind),
        None => Ok(BTreeSet::new()),
    }
}
