//! Prompts that wait for their session to be opened again, or for something else: each is in the store, and lists say that the
//! session is at work on it, as if it were under way.

use serde_json::json;

use super::prompt::blocks_of;
use super::waiting_prompts::{BegunPrompt, WaitingPrompt};
use super::{LiveSession, Phase};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::{Effect, Waiting};
use crate::connection::params::Params;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::sessions::open_marks;
use crate::sessions::unsent;
use crate::storage::{Storage, StorageError};
use crate::store::ActivityState;
use crate::transcript::{Entry, Kind};

impl LiveSession {
    /// A prompt waits here: it is kept in the store, unless it is already, or the store does not take it. Says whether it is.
    pub(in crate::connection) fn keep_unsent<S: Storage, E: Environment>(
        &mut self,
        waiting: &Waiting,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        let (Some(id), Some(request)) = (self.key.id().map(str::to_owned), &waiting.request) else { return false };
        let may_wait = matches!(self.phase, Phase::Opening(_) | Phase::Open { .. }) && self.is_stored();
        if !may_wait || self.unsent.waiting.iter().any(|unsent| unsent.request == *request) {
            return false;
        }
        let line = Object::parse_or_empty(&waiting.line);
        // What is no prompt is going to be refused.
        let Ok(prompt) = Params::read(line.get("params")).and_then(|params| blocks_of(&params)) else { return false };
        if self.failing.as_ref().is_some_and(|failing| !failing.is_due(cx.now())) {
            return false;
        }
        // Nobody takes it for left behind.
        self.mark(cx);
        if let Err(error) = cx.beat() {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        let (tag, message_id, now) = (self.turn_tag(cx), cx.message_id(), cx.now());
        let with = json!([cx.agent.name, ""]);
        let entry = format!("{{\"prompt\":{prompt},\"messageId\":{message_id},\"with\":{with}}}");
        let entry = Entry::tagged(Kind::Prompt, now, Some(&tag), &entry);
        let key = unsent::keep(cx.store, &id, cx.connection, (&entry, now)).unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            None
        });
        let is_kept = key.is_some();
        self.unsent.waiting.extend(key.map(|key| WaitingPrompt { request: request.clone(), tag, message_id, key }));
        self.say_state(cx);
        is_kept
    }

    /// A prompt that was kept as it waited for this session in another phase waits here.
    pub(in crate::connection) fn keep_waiting<S: Storage, E: Environment>(
        &mut self,
        unsent: WaitingPrompt,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.unsent.waiting.push(unsent);
        self.say_state(cx);
    }

    /// The turn of this prompt begins, or it has ended without one: it waits no more. Whoever writes that takes it out of the store.
    pub(super) fn take_unsent(&mut self, request: Option<&ClientRequest>) -> Option<WaitingPrompt> {
        self.unsent.take(request?)
    }

    /// Whether others have taken this window for gone, because it was stopped: the prompt stands in the log as a turn that was cut
    /// off.
    pub(super) fn is_given_back<S: Storage, E: Environment>(unsent: &WaitingPrompt, cx: &mut Cx<'_, S, E>) -> bool {
        // From here on nobody does.
        let waits = cx.beat().and_then(|()| unsent::waits(cx.store, &unsent.key));
        !waits.unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            true
        })
    }

    /// The turn of this prompt begins: what writes it to the log takes it from where it has waited.
    pub(super) fn begin_unsent(&mut self, unsent: WaitingPrompt) {
        self.unsent.begun.push(BegunPrompt { message_id: unsent.message_id, key: unsent.key });
    }

    /// The turn of a prompt was begun by an instance that was lost: what writes it to the log takes it from where it
    /// has waited.
    pub(super) fn note_unsent_begun(&mut self, message_id: String, key: String) {
        self.unsent.begun.retain(|begun| begun.key != key);
        self.unsent.begun.push(BegunPrompt { message_id, key });
    }

    /// Where prompts are kept whose turns have begun, and which the log has not taken.
    pub(super) fn begun_keys(&self) -> Vec<String> {
        self.unsent.begun.iter().map(|begun| begun.key.clone()).collect()
    }

    /// Where the last prompt is kept whose turn has begun, if the log has not taken it.
    pub(super) fn last_begun(&self) -> Option<String> {
        self.unsent.begun.last().map(|begun| begun.key.clone())
    }

    /// What others have made of prompts that the store did not take, because this window was stopped since, is not written once more.
    pub(super) fn leave_out_given_back<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<(), StorageError> {
        if self.failing.is_none() || !self.unsent.is_any_begun() {
            return Ok(());
        }
        // From here on nobody takes it for gone.
        cx.beat()?;
        for begun in std::mem::take(&mut self.unsent.begun) {
            match unsent::waits(cx.store, &begun.key) {
                Ok(false) => self.recorder.reduce(|text| {
                    let id = Entry::parse(text).and_then(|entry| entry.message_id());
                    (id.as_ref() != Some(&begun.message_id)).then(|| text.to_owned())
                }),
                Ok(true) | Err(_) => self.unsent.begun.push(begun),
            }
        }
        Ok(())
    }

    /// This request has its answer: where it was a prompt that waited, nothing comes of it. Returns where it is kept.
    pub(in crate::connection) fn forget_unsent(&mut self, request: &ClientRequest) -> Option<String> {
        self.unsent.take(request).map(|unsent| unsent.key)
    }

    /// Where prompts are kept that wait here, or whose turns the log has not taken.
    pub(in crate::connection) fn unsent_keys(&self) -> impl Iterator<Item = &String> {
        let waiting = self.unsent.waiting.iter().map(|unsent| &unsent.key);
        waiting.chain(self.unsent.begun.iter().map(|begun| &begun.key))
    }

    /// The prompts that wait in a session that is over: they are handled once more.
    pub(in crate::connection) fn left_unsent(&mut self) -> Vec<WaitingPrompt> {
        std::mem::take(&mut self.unsent.waiting)
    }

    /// Lists say at once what is being done in it, where nothing is written to its log that would say so.
    pub(super) fn say_state<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(id) = self.key.id().map(str::to_owned) else { return };
        let state = self.activity_state();
        let has_mark = matches!(self.phase, Phase::Opening(_) | Phase::Open { .. }) && self.is_stored();
        if state == self.unsent.said || !has_mark {
            return;
        }
        // Where it has none yet, that says so by itself.
        self.mark(cx);
        let Some(connection) = self.marked.clone() else { return };
        let said = cx.beat().and_then(|()| open_marks::restate(cx.store, &id, &connection, state));
        match said {
            Ok(()) => self.unsent.said = state,
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// Says again what is being done in it where its mark says something that it was not written with its log, or could
    /// not be.
    pub(in crate::connection) fn look_at_state<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.unsent.said != ActivityState::Idle || matches!(self.phase, Phase::Opening(_)) || self.unsent.is_any() {
            self.say_state(cx);
        }
    }

    /// The open mark was written with the log.
    pub(super) fn note_mark_written(&mut self) {
        self.unsent.said = if self.unsent.is_any() { self.activity_state() } else { ActivityState::Idle };
    }
}
