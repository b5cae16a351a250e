//! The end of an opening that succeeds: what the store is told of it, and the answer.

use serde_json::json;

use super::open_elsewhere::is_open_elsewhere;
use super::opening::{Attached, Opening};
use super::{LiveSession, OpenedWith, Parent, Phase, StandsIn, Target};
use crate::connection::answer;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::key::Key;
use crate::connection::showing::Showing;
use crate::connection::step::Step;
use crate::connection::told::Untold;
use crate::environment::Environment;
use crate::rpc::{Object, RpcError};
use crate::sessions::fork::{Fork, fork};
use crate::sessions::{info, open_marks, place};
use crate::storage::{Durability, Storage, StorageError, Write};
use crate::store::{Changed, Decision, Known, Origin, Session, Title, keys};
use crate::transcript::{LaidOut, Part, Position, Recorder, is_any_said, length};

impl LiveSession {
    /// The agent has it open and the history is out: the store is told, then the client, then whoever waited.
    pub(super) fn opened<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let phase = std::mem::replace(&mut self.phase, Phase::Gone);
        let Phase::Opening(mut opening) = phase else {
            self.phase = phase;
            return;
        };
        let Some(attached) = opening.attached.take() else { return };
        self.settings_put_back(opening.told(), attached.not_put_back);
        let session = match self.commit_opened(&mut opening, &attached, cx) {
            Ok(session) => store_infos(session, opening.take_infos(), cx),
            Err(error) => {
                opening.attached = Some(attached);
                self.phase = Phase::Opening(opening);
                return self.fail(error, cx);
            }
        };
        self.stands_in_since = self.stands_in_since(&session, &opening, &attached, cx);
        let is_in_use = opening.reason.as_ref().is_some_and(is_open_elsewhere);
        self.stands_in = if is_in_use { StandsIn::ForNow } else { StandsIn::Until };
        self.in_step.lay_out(LaidOut::of(&session));
        let overheard = opening.overheard.filter(|_| opening.is_laid_out_as_asked(&session));
        let heard = overheard.map_or_else(|| opening.heard_in(&session), |overheard| overheard.told());
        self.untold = untold(&session, heard, cx);
        self.set_overheard(overheard);
        self.note_turns_had(&mut opening, attached.step);
        self.clear_untold_if_heard(&session, cx);
        self.copy = opening.agents_copy(&attached, cx);
        let mark = self.mark_of(&opening, &attached, &session, cx);
        let goes_on = opening.goes_on() && !attached.step.makes();
        let answer = if goes_on { &answer::still_open(&self.state, &attached.answer) } else { &attached.answer };
        let mut result = answer::opened(answer, &self.state, cx.asked, &mark);
        if opening.target.is_fork() {
            let mut with_id = Object::parse_or_empty(&result);
            with_id.set("sessionId", json!(session.id).to_string());
            result = with_id.to_json();
        }
        self.others_ended = self.have_others_ended(&opening, cx);
        cx.push(Effect::OpenedIn(session.cwd.clone()));
        let request = opening.request.take();
        // A session that is open already goes on in its client from what that was shown, unless it is shown all of it.
        let goes_on_shown = request.is_none() || opening.is_otherwise() && !opening.wanted.is_history();
        if goes_on_shown && let Err(error) = self.take_overtaken(cx) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        self.note_log_end(cx);
        self.opens_behind(self.recorder.seen(), &opening, cx);
        self.phase = Phase::Open { turns: Vec::new(), busy: None };
        if request.is_some() {
            self.was_open = true;
            self.set_given(Some(opening.given()));
            if !opening.target.is_fork() {
                self.note_where(&opening, &session);
            }
            let shown = opening.showing.as_ref().and_then(|showing| Some((showing.shown()?, showing.laid_out())));
            let (shown, laid_out) = shown.unzip();
            if !goes_on_shown {
                self.in_step_from(shown, cx);
            }
            if let Some(laid_out) = laid_out {
                self.show_taken_over(&laid_out, &session.id, cx);
            }
        }
        if request.is_some() || opening.goes_on() {
            self.opened_with = OpenedWith::Given;
        }
        self.begin_count(&self.agent_id.clone(), cx);
        if let Target::Fork(Parent { count: Some(count), .. }) = &opening.target {
            self.spending.continue_with_parents(count);
        }
        self.state_changed(cx);
        // The session is open, and can be even where its state cannot be written now; the host is told.
        let _ = self.write(cx, false);
        if request.is_none() && opening.goes_on() {
            self.tell_what_changed(opening.told(), &attached, cx);
        }
        // The title is the end of a history; where none is wanted nothing comes before the answer.
        let is_named = request.is_some() && !opening.target.is_fork() && !opening.has_told_title(&session);
        self.title_told = session.title.text().filter(|_| is_named).map(str::to_owned);
        if request.is_some() {
            self.note_known_title(&session.title);
        }
        if is_named && opening.wanted.is_history() {
            cx.tell_title(&session);
        }
        if let Some(request) = &request {
            cx.finish(request, Ok(result));
        }
        if is_named && !opening.wanted.is_history() {
            cx.tell_title(&session);
        }
        // One that lists its sessions is told where its list has another.
        let known = session.agents.get(&cx.agent.name).filter(|known| *known.id == *self.agent_id);
        let is_told = cx.agent.list || known.is_some_and(|known| known.told_title);
        if attached.step.makes() || !is_told {
            self.tell_agent_title(&session, cx);
        }
        for update in std::mem::take(&mut opening.later) {
            cx.notify(&session.id, &update);
        }
        self.take_in_questions(opening.take_questions(), cx);
        self.say_held(opening.take_held(cx), cx);
        self.release(cx);
        if request.is_none() && !opening.was_open() {
            // It was opened for its history alone.
            self.close_for_nobody(cx);
        }
    }

    /// The agent has it open since the log ended here.
    fn opens_behind<S: Storage, E: Environment>(&mut self, end: Option<u32>, opening: &Opening, cx: &Cx<'_, S, E>) {
        self.late_replay.opened(end, cx.now());
        if !opening.was_open() || opening.is_detached() {
            self.opened_behind = end;
        }
    }

    /// A layer has heard what was said in other windows of the same session of its, and an agent turns behind what it has not.
    fn clear_untold_if_heard<S: Storage, E: Environment>(&mut self, session: &Session, cx: &Cx<'_, S, E>) {
        let has_more = cx.agent.is_layer || !self.turns_had.is_empty();
        let Some(untold) = self.untold.filter(|_| has_more) else { return };
        if matches!(self.account_from(untold, 0, session, cx), Ok(None)) {
            self.untold = None;
        }
    }

    /// Since when it only stands in for the agent's own session, if it does and can take that one's place.
    fn stands_in_since<S: Storage, E: Environment>(
        &self,
        session: &Session,
        opening: &Opening,
        attached: &Attached,
        cx: &Cx<'_, S, E>,
    ) -> Option<u64> {
        let stands_in = attached.step == Step::New
            && matches!(opening.target, Target::Known(_))
            && session.origin == Origin::Layer
            && session.id_at(&cx.agent.name) != Some(&*self.agent_id);
        stands_in.then(|| length(cx.store.storage(), session).unwrap_or_default())
    }

    /// An agent that has begun afresh, or has no list to tell it by, learns what its user calls the session.
    fn tell_agent_title<S: Storage, E: Environment>(&self, session: &Session, cx: &mut Cx<'_, S, E>) {
        if let Title::Set(title) = &session.title {
            cx.tell_agent_title(&session.id, &self.agent_id, title);
        }
    }

    /// What stands in the log is taken into account; what others write to it from now on is not.
    pub(in crate::connection) fn note_log_end<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        match cx.store.storage().log_end(self.key.id().unwrap_or_default()) {
            Ok(end) => self.recorder.note_seen(end),
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// The agent has just made it: nobody has said anything in it.
    pub(in crate::connection) fn begins_log<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.note_log_end(cx);
        self.opened_behind = self.recorder.seen();
        self.note_known_title(&Title::None);
        self.others_ended = true;
    }

    /// Whether all turns that were begun elsewhere have ended: what a crash had cut off was ended before it was opened,
    /// nobody has written to the log since, and nobody else has it open, now that its own mark is there to be seen.
    fn have_others_ended<S: Storage, E: Environment>(&mut self, opening: &Opening, cx: &mut Cx<'_, S, E>) -> bool {
        let were_ended = !opening.was_open() || self.others_ended;
        let is_looked_at = were_ended && self.marked.is_some() && matches!(opening.target, Target::Known(_));
        let Some(id) = self.key.id().filter(|_| is_looked_at) else { return false };
        let is_elsewhere = open_marks::is_open_elsewhere(cx.store, id, cx.connection, cx.now());
        matches!((is_elsewhere, self.take_overtaken(cx)), (Ok(false), Ok(None)))
    }

    /// What the answer says about how it went, under `_meta["acp-sessions"]`.
    fn mark_of<S: Storage, E: Environment>(
        &self,
        opening: &Opening,
        attached: &Attached,
        session: &Session,
        cx: &Cx<'_, S, E>,
    ) -> String {
        let mut mark = json!({ "attached": attached.step.name() });
        if self.untold.is_some() {
            mark["rehydrate"] = cx.settings.rehydrate.into();
            if !cx.settings.rehydrate {
                mark["notice"] = "the agent does not know all of this history".into();
            }
        } else if attached.step == Step::New && session.origin == Origin::Agent {
            mark["notice"] = "only its agent has this history, and cannot show it; the agent starts afresh".into();
        }
        if let Some(reason) = &opening.reason {
            mark["reason"] = reason.message.as_str().into();
        }
        if !session.aside.is_empty() {
            mark["setAside"] = session.set_aside().into();
        }
        if opening.wanted.is_history() {
            let end = || length(cx.store.storage(), session).unwrap_or_default();
            let shown = opening.showing.as_ref().map(Showing::cursor);
            if let Some(cursor) =
                shown.unwrap_or_else(|| Some(place::to_cursor(session, Part::Conversation, &Position::at(end()))))
            {
                mark["cursor"] = cursor.into();
            }
        }
        mark.to_string()
    }

    /// Stores what is new by opening: the fork, or what the agent knows of the session now.
    fn commit_opened<S: Storage, E: Environment>(
        &mut self,
        opening: &mut Opening,
        attached: &Attached,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Session, RpcError> {
        let session = match &opening.target {
            Target::Fork(Parent { session: parent, cwd, directories, count, .. }) => {
                let wanted = Fork {
                    parent: &parent.id,
                    wanted_id: if self.is_guessed(cx) { String::new() } else { self.agent_id.to_string() },
                    cwd: cwd.clone(),
                    agent: Some(cx.agent.name.clone()),
                    agent_id: Some(self.agent_id.to_string()),
                    heard: opening.heard,
                    lineage: if attached.step == Step::Fork { opening.lineage(&cx.agent.name) } else { Vec::new() },
                    asked_at: (attached.step == Step::Fork).then_some(opening.log_ended_at),
                    told: count.as_ref().map(|count| count.told.clone()),
                    open: cx.by_agent.values().filter_map(Key::id).map(str::to_owned).collect(),
                    directories: directories.clone(),
                    now: cx.now(),
                };
                let session = fork(cx.store, cx.environment, &wanted)?
                    .ok_or_else(|| RpcError::session_deleted_meanwhile(&parent.id))?;
                self.set_id(&session.id);
                session
            }
            Target::ForkOfUnknown(_) => self.commit_fork_of_unknown(opening, cx)?,
            Target::Known(session) | Target::Unknown(session) => self.commit_known(session, opening, attached, cx)?,
        };
        self.mark(cx);
        Ok(session)
    }

    /// Whether a client has guessed the id that the agent has given a fork, and asked for what it was not yet: that is another
    /// session.
    pub(super) fn is_guessed<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> bool {
        cx.by_agent.get(&self.agent_id).is_some_and(|other| *other != self.key)
    }

    /// A fork has its id.
    pub(super) fn set_id(&mut self, id: &str) {
        self.key = Key::Session(id.to_owned());
        self.recorder = Recorder::new(id);
    }

    fn commit_known<S: Storage, E: Environment>(
        &self,
        session: &Session,
        opening: &Opening,
        attached: &Attached,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Session, RpcError> {
        let unknown = matches!(opening.target, Target::Unknown(_)).then(|| session.clone());
        let agent = cx.agent.name.clone();
        let changed = cx.store.change(&session.id).commit(|before, _, writes| {
            // It may have been deleted meanwhile, before anything of it was here.
            let is_deleted = before.is_none() && cx.store.is_deleted(&session.id)?;
            let Some(before) = before.or(unknown.as_ref()).filter(|_| !is_deleted) else { return Ok(Decision::Keep) };
            let mut changed = before.clone();
            match changed.agents.get_mut(&agent) {
                // The agent's own stays the one to ask for until something was said in the one that stands in for it.
                // What has got its id is no other: of what was said before, that one has heard nothing.
                Some(known)
                    if attached.step == Step::New && opening.asks_as().is_some() && *known.id != *self.agent_id =>
                {
                    known.forget(self.agent_id.to_string());
                }
                _ => changed.give_again(&agent, &self.agent_id, opening.heard_in(before), session),
            }
            if attached.step == Step::New
                && let Some(known) = changed.agents.get_mut(&agent).filter(|known| *known.id == *self.agent_id)
            {
                known.since = length(cx.store.storage(), before)?;
            }
            if let Some(known) = changed.agents.get_mut(&agent).filter(|known| !attached.step.makes() && !known.untimed)
                && let Some((opened, listed)) =
                    opening.opened_within().filter(|((asked, _), _)| cx.was_listed_before(*asked))
            {
                known.note_opening(opened, listed);
            }
            // Where only its history is wanted nobody says where it is to be.
            if opening.request.is_some() {
                opening.put_in_place(&mut changed);
            }
            changed.note_opened_with(&opening.directories(), &before.directories);
            let same = changed.agents == before.agents
                && changed.agent == before.agent
                && changed.directories == before.directories
                && changed.cwd == before.cwd;
            if unknown.is_none() && same {
                return Ok(Decision::Keep);
            }
            let key = keys::agent_session(&agent, &self.agent_id);
            writes.push(Write::Put { key, value: session.id.clone() });
            Ok(Decision::put(changed))
        });
        let changed = match changed {
            // What can only be read can be read: what the agent has to do with it is known as long as it is open.
            Err(error) if error.is_not_to_write() && unknown.is_none() => return Ok(session.clone()),
            changed => changed?,
        };
        match changed {
            Changed::Done { after: Some(after), .. } => Ok(*after),
            _ => cx.store.session(&session.id)?.ok_or_else(|| RpcError::session_deleted_meanwhile(&session.id)),
        }
    }

    /// Writes that the session is open here, if that is not written yet.
    pub(in crate::connection) fn mark<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(id) = self.key.id().filter(|_| self.marked.is_none()) else { return };
        let mark = open_marks::mark(id, cx.connection, self.activity_state());
        // A mark is believed for as long as its connection is, so that is said first.
        match cx.beat().and_then(|()| cx.store.commit(&[], vec![mark], Durability::Relaxed)) {
            Ok(()) => self.marked = Some(cx.connection.to_owned()),
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// Whether it is open, and nobody else can know.
    pub(in crate::connection) fn lacks_mark(&self) -> bool {
        self.marked.is_none() && matches!(self.phase, Phase::Open { .. } | Phase::Closing(_))
    }

    /// Takes the open mark away, unless the session is open after all.
    pub(super) fn unmark_unless_open<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(id) = self.key.id().filter(|_| self.marked.is_some() && self.is_gone()) else { return };
        self.marked = None;
        let unmark = open_marks::unmark(id, cx.connection);
        if let Err(error) =
            cx.store.commit(&[], vec![unmark], Durability::Relaxed).and_then(|()| self.note_let_go(id, cx))
        {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }

    /// The agent, which has it open, lets go of it: what it writes then need not be anything that was said.
    pub(super) fn note_let_go<S: Storage, E: Environment>(
        &self,
        id: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<(), StorageError> {
        if !cx.agent.list {
            return Ok(());
        }
        let is_its = |known: &&mut Known| *known.id == *self.agent_id && !known.untimed;
        let unread = self.unread_behind(id, cx);
        cx.store.change(id).commit(|before, _, _| {
            let mut session = before.cloned();
            let heard = session.as_ref().and_then(|session| self.heard_as_it_leaves(session, unread));
            let known = session.as_mut().and_then(|session| session.agents.get_mut(&cx.agent.name)).filter(is_its);
            let Some(known) = known else { return Ok(Decision::Keep) };
            known.note_release(cx.now(), heard);
            Ok(session.map_or(Decision::Keep, Decision::put))
        })?;
        Ok(())
    }

    /// Behind which entry of the session's own log others have written what this window has not read yet.
    fn unread_behind<S: Storage, E: Environment>(&self, id: &str, cx: &Cx<'_, S, E>) -> Option<u32> {
        let is_unread = |seen: &u32| cx.store.storage().log_end(id).is_ok_and(|end| end > *seen);
        self.recorder.seen().filter(is_unread)
    }

    /// How many entries of the transcript its agent has heard, if not all.
    fn heard_as_it_leaves(&self, session: &Session, unread: Option<u32>) -> Option<u64> {
        let behind = |untold| match untold {
            Untold::Place(heard) => heard,
            Untold::Entry(behind) => session.length_before(behind),
        };
        let untold = self.untold.into_iter().chain(unread.map(Untold::Entry));
        untold.map(behind).min()
    }
}

/// What the agent has not heard of what was said.
pub(super) fn untold<S: Storage, E: Environment>(
    session: &Session,
    heard: u64,
    cx: &mut Cx<'_, S, E>,
) -> Option<Untold> {
    match is_any_said(cx.store.storage(), session, heard) {
        Ok(is_any) => is_any.then_some(Untold::Place(heard)),
        Err(error) => {
            cx.push(Effect::Warn(format!("what the agent has not heard could not be read: {error}")));
            None
        }
    }
}

/// Stores what the agent has said of a session while it was being made known to the store; returns it as it is then.
fn store_infos<S: Storage, E: Environment>(
    session: Session,
    infos: impl IntoIterator<Item = String>,
    cx: &mut Cx<'_, S, E>,
) -> Session {
    let mut is_any = false;
    for update in infos {
        is_any = true;
        if let Err(error) = info::store(cx.store, &session.id, (&cx.agent.name, &update), cx.now()) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }
    let stored = if is_any { cx.store.session(&session.id).ok().flatten() } else { None };
    stored.unwrap_or(session)
}
