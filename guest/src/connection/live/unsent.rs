//! Prompts that wait for their session to be opened again, or for something else: each is in the store, and lists say that the
//! session is at work on it, as if it were under way.

use serde_json::json;

use super::all_unsent::Unsent;
use super::prompt::blocks_of;
use super::{LiveSession, Phase};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::{Effect, Waiting};
use crate::connection::params::Params;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::sessions::open_marks;
use crate::sessions::unsent::{self, Place};
use crate::storage::Storage;
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
        let (tag, now) = (self.turn_tag(cx), cx.now());
        let with = json!([cx.agent.name, ""]);
        let entry = format!("{{\"prompt\":{prompt},\"messageId\":{},\"with\":{with}}}", cx.message_id());
        let entry = Entry::tagged(Kind::Prompt, now, Some(&tag), &entry);
        let place = Place { session: &id, connection: cx.connection, at: now, behind: self.unsent.count };
        self.unsent.count = self.unsent.count.wrapping_add(1);
        let key = unsent::keep(cx.store, place, &entry).unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            None
        });
        let is_kept = key.is_some();
        self.unsent.waiting.extend(key.map(|key| Unsent { request: request.clone(), tag, key }));
        self.say_state(cx);
        is_kept
    }

    /// The turn of this prompt begins, or it has ended without one: it waits no more. Whoever writes that takes it out of the store.
    pub(super) fn take_unsent(&mut self, request: Option<&ClientRequest>) -> Option<Unsent> {
        self.unsent.take(request?)
    }

    /// Whether others have taken this window for gone, because it was stopped: the prompt stands in the log as a turn that was cut
    /// off.
    pub(super) fn is_given_back<S: Storage, E: Environment>(&self, unsent: &Unsent, cx: &mut Cx<'_, S, E>) -> bool {
        // From here on nobody does.
        let is_believed = cx.beat();
        let given_back =
            is_believed.and_then(|()| unsent::is_given_back(cx.store, self.log_id(), &unsent.key, &unsent.tag));
        given_back.unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            false
        })
    }

    fn log_id(&self) -> &str {
        self.key.id().unwrap_or_default()
    }

    /// The turn of this prompt begins.
    pub(super) fn unsent_begins(&mut self, unsent: Option<Unsent>) {
        self.unsent.begun.extend(unsent.map(|unsent| unsent.key));
    }

    /// This request has its answer: where it was a prompt that waited, nothing comes of it.
    pub(in crate::connection) fn forget_unsent<S: Storage, E: Environment>(
        &mut self,
        request: &ClientRequest,
        cx: &mut Cx<'_, S, E>,
    ) {
        let Some(unsent) = self.unsent.take(request) else { return };
        if let Err(error) = unsent::forget(cx.store, std::slice::from_ref(&unsent.key)) {
            cx.push(Effect::NotRecorded(error.to_string()));
            self.unsent.begun.push(unsent.key);
        }
        self.say_state(cx);
    }

    /// These prompts are kept yet, and their turns were begun by an instance that was lost.
    pub(in crate::connection) fn were_sent(&mut self, kept: Vec<String>) {
        self.unsent.begun.extend(kept);
    }

    /// Where prompts are kept yet whose turns have begun.
    pub(in crate::connection) fn sent(&self) -> &[String] {
        &self.unsent.begun
    }

    /// Where prompts are kept that wait in a session that is over.
    pub(in crate::connection) fn left_unsent(&self) -> Vec<String> {
        let waiting = self.unsent.waiting.iter().map(|unsent| unsent.key.clone());
        waiting.chain(self.unsent.begun.iter().cloned()).collect()
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

    /// The same again where its mark says something that it was not written with its log, or could not be.
    pub(in crate::connection) fn look_at_state<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.unsent.said != ActivityState::Idle || matches!(self.phase, Phase::Opening(_)) || self.unsent.is_any() {
            self.say_state(cx);
        }
    }

    /// The open mark was written with the log.
    pub(super) fn mark_was_written(&mut self) {
        self.unsent.said = if self.unsent.is_any() { self.activity_state() } else { ActivityState::Idle };
    }
}
