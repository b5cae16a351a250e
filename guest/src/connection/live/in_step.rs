//! Windows on one session that stay in step: what is said in others comes to this one's client as updates, whole turns
//! between its own. How its agent hears of it: `prompt.rs`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Busy, LiveSession, Memo, Phase, Piece};
use crate::connection::answer;
use crate::connection::cx::{Cx, window_of};
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc;
use crate::sessions::open_marks;
use crate::storage::{Storage, StorageError};
use crate::transcript::{Elsewhere, Entry, Own, Shown, speaker};

/// What this window knows of others on its session.
#[derive(Debug, Default)]
pub(super) struct InStep {
    /// What the tags of its turns begin with, if it has had any. A fresh instance goes on with that of a lost one.
    window: Option<String>,
    /// By which ids its agent has said something; the last is mostly the only one.
    spoke_as: Vec<Arc<str>>,
    elsewhere: Elsewhere,
    /// It could not be read, and is left alone until it is looked again.
    is_put_off: bool,
    /// How often what is to be kept of it has changed.
    changes: u32,
}

/// What the host keeps of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::connection) struct Kept {
    /// What the tags of its turns begin with, where that does not come from the connection whose open mark it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<String>,
    /// By which ids its agent has said something, but for the present one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spoke_as: Vec<String>,
    /// What was said in other windows and is to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elsewhere: Option<Elsewhere>,
}

impl InStep {
    /// Changes with whatever is to be kept.
    pub(super) fn stamp(&self) -> (bool, usize, u32) {
        (self.window.is_some(), self.spoke_as.len(), self.changes)
    }

    /// Its agent, which has it open by this id, says something.
    pub(super) fn speaks_as(&mut self, agent_id: &Arc<str>) {
        if self.spoke_as.last() != Some(agent_id) {
            self.spoke_as.retain(|id| id != agent_id);
            self.spoke_as.push(agent_id.clone());
        }
    }

    /// What the host keeps of it beside its open mark, which is this connection's, and the agent's id, where the writer knows
    /// its log up to the entry `seen`.
    pub(super) fn kept(&self, mark: Option<&str>, agent_id: &str, seen: Option<u32>) -> Kept {
        let window = self.window.clone().filter(|window| mark.map(window_of).as_ref() != Some(window));
        let is_ahead = seen.is_none_or(|seen| seen < self.elsewhere.looked());
        let is_kept = !self.elsewhere.is_idle() || (is_ahead && self.elsewhere.looked() > 0);
        let spoke_as = self.spoke_as.iter().filter(|id| ***id != *agent_id).map(ToString::to_string).collect();
        Kept { window, spoke_as, elsewhere: is_kept.then(|| self.elsewhere.clone()) }
    }

    fn change(&mut self) -> &mut Elsewhere {
        self.changes = self.changes.wrapping_add(1);
        &mut self.elsewhere
    }
}

impl LiveSession {
    /// What the entries of a new turn are marked with.
    pub(super) fn turn_tag<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> String {
        let window = self.in_step.window.get_or_insert_with(|| cx.window());
        cx.turn_tag(window)
    }

    fn own<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> Own {
        let turns = self.in_step.window.clone().unwrap_or_else(|| cx.window());
        let ids = self.in_step.spoke_as.iter().chain([&self.agent_id]);
        Own { turns, speakers: ids.map(|id| speaker(&cx.agent.name, id)).collect() }
    }

    /// An instance was lost; what it had given to be kept.
    pub(super) fn take_up_in_step(&mut self, memo: &Memo) {
        let Kept { window, spoke_as, elsewhere } = memo.in_step.clone();
        self.in_step.window = window.or_else(|| memo.mark.as_deref().map(window_of));
        // What the lost instance was told last may be written without its having given that to be kept.
        let ids = spoke_as.into_iter().chain([memo.agent_id.clone()]).filter(|id| !id.is_empty());
        self.in_step.spoke_as = ids.map(Arc::from).collect();
        self.in_step.elsewhere = elsewhere.unwrap_or_default();
    }

    /// Looks whether others have written to the log; see [`crate::transcript::Recorder::take_overtaken`].
    pub(super) fn take_overtaken<S: Storage, E: Environment>(
        &mut self,
        cx: &Cx<'_, S, E>,
    ) -> Result<Option<u32>, StorageError> {
        let behind = self.recorder.take_overtaken(cx.store)?;
        if let Some(behind) = behind {
            self.in_step.change().written_behind(behind);
        }
        Ok(behind)
    }

    /// It is open: its client was shown this much of it. Where that is none, all that stands in the log counts as shown.
    pub(super) fn in_step_from<S: Storage, E: Environment>(&mut self, shown: Option<Shown>, cx: &mut Cx<'_, S, E>) {
        let Some(end) = self.recorder.seen() else { return };
        let shown = match shown {
            Some(shown) => Ok(shown),
            // A turn may be under way elsewhere.
            None if !self.others_ended => Shown::all(cx.store.storage(), self.key.id().unwrap_or_default(), end),
            None => Ok(Shown { end, cut: None }),
        };
        match shown {
            Ok(shown) => self.was_shown(shown, cx),
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// Its client was shown the log so far, and what has been written to it since comes with what others say.
    pub(super) fn was_shown<S: Storage, E: Environment>(&mut self, shown: Shown, cx: &mut Cx<'_, S, E>) {
        let (own, end) = (self.own(cx), shown.end);
        let is_more = self.recorder.seen().is_some_and(|seen| seen > end);
        let elsewhere = self.in_step.change();
        elsewhere.was_shown(shown, &own);
        if is_more {
            elsewhere.written_behind(end);
        }
    }

    /// Whether a turn is under way elsewhere, as far as is known, or what was said there could not be looked at.
    pub(in crate::connection) fn is_followed(&self) -> bool {
        self.is_open() && (self.in_step.elsewhere.is_any_begun() || self.in_step.is_put_off)
    }

    /// Looks whether others have said anything: the agent is to hear it, and the client as soon as no turn is under way.
    pub(in crate::connection) fn keep_in_step<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if !self.is_open() {
            return;
        }
        self.in_step.is_put_off = false;
        self.note_others(cx);
        if self.in_step.elsewhere.is_any_begun()
            && let Some(id) = self.key.id()
        {
            match open_marks::is_open_elsewhere(cx.store, id, cx.connection, cx.now()) {
                // Who was at it has been killed.
                Ok(false) => self.in_step.change().end_begun(),
                Ok(true) => {}
                Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
            }
        }
        self.catch_up(cx);
    }

    /// Has the client shown what was said elsewhere, unless something is under way. Says whether it is being shown: what
    /// the client sends meanwhile waits.
    pub(super) fn catch_up<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> bool {
        let is_free = matches!(&self.phase, Phase::Open { turns, busy: None } if turns.is_empty());
        if !is_free || self.in_step.is_put_off || self.in_step.elsewhere.is_idle() {
            return false;
        }
        let own = self.own(cx);
        let id = self.key.id().unwrap_or_default();
        if let Err(error) = self.in_step.change().look(cx.store.storage(), id, &own) {
            self.put_off(&error, cx);
            return false;
        }
        if !self.in_step.elsewhere.is_any_over() {
            return false;
        }
        if let Phase::Open { busy, .. } = &mut self.phase {
            *busy = Some(Busy::CatchingUp);
        }
        cx.push(Effect::Show(self.key.clone()));
        true
    }

    fn put_off<S: Storage, E: Environment>(&mut self, error: &StorageError, cx: &mut Cx<'_, S, E>) {
        self.in_step.is_put_off = true;
        cx.push(Effect::Warn(format!("what was said in other windows cannot be shown for now: {error}")));
    }

    /// Whether its client is being shown what was said elsewhere.
    pub(super) fn is_catching_up(&self) -> bool {
        matches!(&self.phase, Phase::Open { busy: Some(Busy::CatchingUp), .. })
    }

    /// Shows the next piece of what was said elsewhere, about as much as there is room for.
    pub(super) fn show_elsewhere<S: Storage, E: Environment>(&mut self, room: usize, cx: &mut Cx<'_, S, E>) -> Piece {
        let next = self.next_elsewhere(room, cx);
        if let Err(error) = &next {
            self.put_off(error, cx);
        }
        if let Ok(Some(size)) = next {
            return Piece::More(size);
        }
        if let Phase::Open { busy, .. } = &mut self.phase {
            busy.take_if(|busy| matches!(busy, Busy::CatchingUp));
        }
        self.release(cx);
        Piece::Over
    }

    /// How many bytes it came to; none where all was shown.
    fn next_elsewhere<S: Storage, E: Environment>(
        &mut self,
        room: usize,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<usize>, StorageError> {
        let id = self.key.id().unwrap_or_default().to_owned();
        let Some(session) = cx.store.session(&id)? else {
            // It is gone, which is found when something is written of it.
            self.in_step.is_put_off = true;
            return Ok(None);
        };
        let Some(entries) = self.in_step.change().next(cx.store.storage(), &session, room)? else {
            cx.tell_title(&session);
            return Ok(None);
        };
        let (session_id, mark) = (json!(id).to_string(), json!({ "elsewhere": true }));
        let (mut size, asked) = (0, cx.asked);
        let entries = entries.iter().filter_map(|text| Entry::parse(text));
        for entry in entries.filter(|entry| entry.update_name().is_none_or(|name| asked.admits(&name))) {
            entry.replay(&session_id, |params| {
                let line = rpc::notification("session/update", &answer::marked(&params.to_string(), &mark));
                size += line.len() + 1;
                cx.push(Effect::ToClients(line));
            });
        }
        Ok(Some(size))
    }
}
