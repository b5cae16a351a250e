//! `session/update` from the agent: recorded as history or remembered as state, and passed on.

use serde_json::json;
use serde_json::value::RawValue;

use super::{LiveSession, Phase, Update};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::connection::live::staging::Recorded;
use crate::environment::Environment;
use crate::rpc::{self, Object};
use crate::sessions::info;
use crate::storage::Storage;
use crate::store::USAGE;
use crate::transcript::{CallUpdate, Kind, Recorder, UpdateKind, in_window, is_notice, may_be_notice, speaker};

impl LiveSession {
    /// An update for this session.
    pub(in crate::connection) fn update<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        self.alive(cx.running());
        let title_told = self.title_told.take().filter(|title| self.is_open() && tells_only(update, title));
        if update.kind.is_history() && self.is_told_in_vain(update, cx) {
            return Handled::Done;
        }
        self.look_for_replay(update, cx);
        if update.kind.is_history() && self.is_told_late(update, cx) {
            return Handled::Done;
        }
        let handled = self.take_in(update, cx);
        // A layer behind this one tells it as this one has.
        if title_told.is_some() { Handled::Done } else { handled }
    }

    /// An update that is no part of a replay that nobody waits for.
    pub(super) fn take_in<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        match &self.phase {
            Phase::Opening(_) => self.update_while_opening(update, cx),
            Phase::Open { .. } | Phase::Closing(_) => self.update_while_open(update, cx),
            // The turn under way is shown to its end: what is recorded of it meanwhile is forgotten where it would be written. A
            // sub-agent's session has no turn of its own.
            Phase::Deleted { turns } if !turns.is_empty() || self.parent.is_some() => self.record_and_show(update, cx),
            Phase::Deleted { .. } | Phase::Gone => Handled::Done,
        }
    }

    fn update_while_opening<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        self.note_telling_on(update, cx);
        if update.kind.is_history() {
            let Some(recorded) = self.told(update, cx) else { return Handled::Done };
            return self.pass_without_own_words(update, recorded, cx);
        }
        let Some(update_for_client) = self.note_state(update, cx) else { return Handled::Done };
        let Some(update_for_client) = cx.asked.shown(&update.name, &update_for_client) else { return Handled::Done };
        let Phase::Opening(opening) = &mut self.phase else { return Handled::Done };
        if opening.target.is_fork() {
            // The client does not know yet what it is about. Which mode and options are in force the answer says.
            if !matches!(update.kind, UpdateKind::Mode | UpdateKind::Options) {
                opening.later.push(update_for_client.into_owned());
            }
            return Handled::Done;
        }
        if opening.hides_state() && update.kind != UpdateKind::Info {
            // It comes at the end of the history, once.
            return Handled::Done;
        }
        self.pass(update, &update_for_client)
    }

    /// History that is shown as the agent tells it, without what the layer itself once told the agent: just what is
    /// recorded of it, and as the client would be shown it out of the log.
    fn pass_without_own_words<S: Storage, E: Environment>(
        &self,
        update: &Update<'_>,
        recorded: Recorded,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        let Recorded { before, update: recorded } = recorded;
        for before in before {
            if let Some(id) = self.key.id() {
                cx.notify(id, &before);
            }
        }
        let shown = recorded.as_deref().and_then(|shown| cx.asked.shown(&update.name, shown));
        shown.map_or(Handled::Done, |shown| self.pass(update, &shown))
    }

    /// The notification, by the id that clients know, with this `update`.
    fn pass(&self, update: &Update<'_>, with: &str) -> Handled {
        let id = self.key.id().unwrap_or_default();
        if with == update.update {
            return Handled::named(update.line, update.params, "sessionId", id);
        }
        let mut params = update.params.clone();
        params.set("sessionId", json!(id).to_string());
        params.set("update", with.to_owned());
        Handled::PassAs(rpc::notification("session/update", &params.to_json()))
    }

    fn update_while_open<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> Handled {
        if !self.was_recorded(cx) {
            return self.record_and_show(update, cx);
        }
        // The instance that was lost with it has written it, and nobody was shown it.
        let recorder = std::mem::replace(&mut self.recorder, Recorder::new(""));
        let handled = self.record_and_show(update, cx);
        self.recorder = recorder;
        handled
    }

    fn record_and_show<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> Handled {
        let is_hidden = self.hides_updates();
        if self.is_without_turn() && update.is_of_settings() {
            return if is_hidden { Handled::Done } else { self.pass(update, update.update) };
        }
        let is_repeated = self.repeats_state_of_subagent(update, cx);
        let is_held_back = update.kind.is_history() && !is_repeated && self.holds_back(cx);
        self.says_here(cx);
        let shown = match update.kind {
            UpdateKind::UserChunk => self.record_user_chunk(update, cx),
            UpdateKind::Chunk => {
                self.end_echo_filter(cx);
                self.record_agents_chunk(update, cx)
            }
            UpdateKind::Event | UpdateKind::Subagent => {
                self.end_held(cx);
                let call = CallUpdate::read(update.update);
                let recorded = call.and_then(|call| {
                    self.calls.take(&call);
                    self.told_calls.take(&call, update.update)
                });
                if !is_repeated {
                    self.recorder.push(Kind::Update, cx.now(), &update.kept(recorded.as_deref()));
                    self.note_spoken(cx);
                }
                // One that a deleted session's agent starts on its behalf is not kept either.
                if update.kind == UpdateKind::Subagent
                    && !self.is_deleted_elsewhere()
                    && let Some(parent) = self.key.id()
                {
                    let (parent, update) = (parent.to_owned(), update.update.to_owned());
                    cx.push(Effect::Subagent { parent, update });
                }
                Some(update.update.to_owned())
            }
            _ => self.note_state(update, cx),
        };
        if is_held_back {
            // It is shown out of the log. Where that does not take it, which its user is told, it is written later.
            drop(self.write(cx, false));
            return Handled::Done;
        }
        match shown {
            Some(shown) if !(is_hidden && update.kind != UpdateKind::Info) => self.pass(update, &shown),
            _ => Handled::Done,
        }
    }

    /// What is recorded from now on is said by this window's agent, or to it, unless it is of a turn.
    pub(super) fn says_here<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) {
        let agent_id = self.agent_id.clone();
        self.in_step.speaks_as(&agent_id);
        let window = self.in_step.window.get_or_insert_with(|| cx.window());
        self.recorder.set_speaker(|| cx.through(in_window(&speaker(&cx.agent.name, &agent_id), window)));
    }

    /// The agent has said something that is recorded. Between turns that is the session's last activity; of a turn that is its
    /// end. What an instance that was lost has written it has noted as well.
    pub(super) fn note_spoken<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) {
        if self.is_without_turn() && !self.was_recorded(cx) {
            self.activity.touched = Some(cx.now());
        }
    }

    fn record_chunk<S: Storage, E: Environment>(&mut self, update: &Update<'_>, with: &str, cx: &Cx<'_, S, E>) {
        let kept = update.kept((with != update.update).then_some(with));
        let params = Object::parse_or_empty(&kept);
        // It stands in an entry of its own: what is said before it and behind it is compared without.
        let is_notice = update.name == "agent_message_chunk"
            && may_be_notice(update.update)
            && update.text().is_some_and(|text| is_notice(&text));
        if is_notice {
            self.recorder.close_run();
        }
        self.recorder.push_chunk(cx.now(), with, &params, || cx.message_id());
        if is_notice {
            self.recorder.close_run();
        }
        self.note_spoken(cx);
    }

    /// What an agent says as the user: its echo of the prompt, which is in the log, or something new. Never what the
    /// layer put in front of the prompt.
    fn record_user_chunk<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Option<String> {
        self.end_quote(cx);
        let shown = match update.text() {
            Some(text) if self.is_without_turn() || self.may_tell_account(cx) => {
                let shown = self.echo_filter.feed(&text);
                if shown.is_empty() && !text.is_empty() {
                    return None;
                }
                if shown == text { update.update.to_owned() } else { update.with_text(&shown) }
            }
            _ => update.update.to_owned(),
        };
        let content = Object::parse_or_empty(&shown).get("content").map(str::to_owned);
        let is_echo = content.is_some_and(|content| {
            self.turns_mut().is_some_and(|turns| turns.iter_mut().any(|turn| turn.echo.repeats(&content)))
        });
        if !is_echo {
            self.record_chunk(update, &shown, cx);
        }
        Some(shown)
    }

    /// What an agent says as its own; where it was given an account, never that.
    fn record_agents_chunk<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Option<String> {
        if self.quote.ends_with(update) {
            self.end_quote(cx);
        }
        let shown = if self.may_tell_account(cx) { self.quote.feed(update)? } else { update.update.to_owned() };
        self.record_chunk(update, &shown, cx);
        Some(shown)
    }

    /// Whether the agent may tell an account that it was given: before a prompt that it is at, or before one that a late
    /// replay tells.
    fn may_tell_account<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> bool {
        let is_given = self.turns_mut().is_some_and(|turns| turns.iter().any(|turn| turn.account.is_some()));
        is_given || cx.requests.is_told_in_vain(&self.agent_id)
    }

    /// Whatever was held back because it might have been the layer's own words, and was not.
    pub(super) fn end_held<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.end_echo_filter(cx);
        self.end_quote(cx);
    }

    /// Shows what was held back of what the agent said as its own, and was not the layer's.
    fn end_quote<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(rest) = self.quote.finish() else { return };
        self.recorder.push_chunk_alone(cx.now(), &rest, || cx.message_id());
        self.note_spoken(cx);
        if !self.hides_updates() {
            self.notify(&rest, cx);
        }
    }

    /// Shows what was held back of what it said as the user's, and was not the layer's.
    fn end_echo_filter<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let rest = self.echo_filter.finish();
        if rest.is_empty() {
            return;
        }
        let update = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": rest}});
        let is_echo = self
            .turns_mut()
            .is_some_and(|turns| turns.iter_mut().any(|turn| turn.echo.repeats(&update["content"].to_string())));
        let update = update.to_string();
        if !is_echo {
            self.recorder.push_chunk_alone(cx.now(), &update, || cx.message_id());
            self.note_spoken(cx);
        }
        if !self.hides_updates() {
            self.notify(&update, cx);
        }
    }

    /// Remembers the state that an update tells; returns the update as the client is to have it.
    fn note_state<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> Option<String> {
        let body = Object::parse_or_empty(update.update);
        match update.kind {
            UpdateKind::Mode => {
                if let Some(mode) = body.get_string("currentModeId") {
                    self.mode_reported(&mode, cx);
                }
            }
            UpdateKind::Options => {
                if let Some(options) = body.get_some("configOptions").and_then(raw) {
                    self.options_reported(options, cx);
                }
            }
            UpdateKind::State => {
                if update.name == USAGE {
                    let agent_id = update.params.get_string("sessionId").unwrap_or_default();
                    self.note_usage(&agent_id, update.update, cx);
                }
                if let Some(last) = raw(update.update) {
                    self.change_state(|state| drop(state.updates.insert(update.name.clone(), last.clone())));
                    self.state_changed(cx);
                }
            }
            UpdateKind::Info => return self.note_info(update, cx),
            UpdateKind::UserChunk | UpdateKind::Chunk | UpdateKind::Event | UpdateKind::Subagent => {}
        }
        Some(update.update.to_owned())
    }

    /// The agent's own title, time and metadata; what of it the client is told.
    fn note_info<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> Option<String> {
        let told = self.store_info(update, cx);
        if let (Phase::Opening(opening), Some(told)) = (&mut self.phase, &told) {
            opening.info_told(told);
        }
        told
    }

    fn store_info<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &mut Cx<'_, S, E>) -> Option<String> {
        let info = info::without_own_words(update.update)?;
        if let Phase::Opening(opening) = &mut self.phase
            && opening.is_new_to_store()
        {
            opening.remember_info(&info);
            return info::as_listed(&info, false, cx.now());
        }
        let Some(id) = self.key.id() else { return Some(info) };
        info::store(cx.store, id, (&cx.agent.name, &info), cx.now()).unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            Some(info)
        })
    }
}

/// Whether an update tells nothing but this title.
fn tells_only(update: &Update<'_>, title: &str) -> bool {
    let info = Object::parse_or_empty(update.update);
    update.kind == UpdateKind::Info
        && info.get_text("title").as_deref() == Some(title)
        && info.iter().all(|(name, _)| name == "sessionUpdate" || name == "title")
        && update.params.iter().all(|(name, _)| name == "sessionId" || name == "update")
}

fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}
