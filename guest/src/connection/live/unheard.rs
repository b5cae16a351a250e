//! Prompts that end while they wait for their session: the agent never has them, and what the user has said is kept and told
//! it later.

use std::collections::VecDeque;

use serde_json::json;

use super::prompt::blocks_of;
use super::turn_end::DELETED_ELSEWHERE;
use super::waiting_prompts::WaitingPrompt;
use super::{LiveSession, Phase};
use crate::connection::answer::not_stored_error;
use crate::connection::cx::Cx;
use crate::connection::effect::{Effect, Waiting};
use crate::connection::params::Params;
use crate::connection::told::Untold;
use crate::environment::Environment;
use crate::rpc::{Object, RpcError};
use crate::sessions::title;
use crate::sessions::unheard::{self, Noted, Unheard};
use crate::storage::{Storage, StorageError};

impl LiveSession {
    /// The prompts that wait; they do not any more.
    pub(super) fn take_waiting_prompts(&mut self) -> VecDeque<Waiting> {
        Waiting::take_prompts(&mut self.waiting)
    }

    /// One side of the connection has ended, and so have the prompts that wait (JSON).
    pub(in crate::connection) fn end_waiting_prompts<S: Storage, E: Environment>(
        &mut self,
        end: &str,
        error: &RpcError,
        cx: &mut Cx<'_, S, E>,
    ) {
        for prompt in self.take_waiting_prompts() {
            self.end_waiting(&prompt, end, error, cx);
        }
    }

    /// A request that waited fails; a prompt is a turn that has ended so (JSON).
    pub(in crate::connection) fn end_waiting<S: Storage, E: Environment>(
        &mut self,
        waiting: &Waiting,
        end: &str,
        error: &RpcError,
        cx: &mut Cx<'_, S, E>,
    ) {
        let not_kept = if waiting.is_prompt() { self.keep_unheard(waiting, end, cx) } else { None };
        let Some(request) = &waiting.request else { return };
        let error = match not_kept {
            Some(reason) => RpcError::read(&not_stored_error(&error.to_json(), &reason)),
            None => error.clone(),
        };
        cx.finish(request, Err(error));
    }

    /// This prompt has ended so (JSON), and the agent will never have it. It is a turn of the session all the same, if that is in
    /// the store. Why it is not kept, if so.
    pub(super) fn keep_unheard<S: Storage, E: Environment>(
        &mut self,
        prompt: &Waiting,
        end: &str,
        cx: &mut Cx<'_, S, E>,
    ) -> Option<String> {
        if self.key.id().is_none() || !self.is_stored() {
            return None;
        }
        let line = Object::parse_or_empty(&prompt.line);
        // What is no prompt would have been refused.
        let blocks = Params::read(line.get("params")).and_then(|params| blocks_of(&params)).ok()?;
        let unsent = self.take_unsent(prompt.request.as_ref());
        if unsent.as_ref().is_some_and(|unsent| Self::is_given_back(unsent, cx)) {
            return None;
        }
        let noted = self.note_unheard(&blocks, end, unsent.as_ref(), cx);
        self.look_at_state(cx);
        match noted {
            Ok(Some(noted)) => {
                self.note_in_log(noted, cx);
                None
            }
            Ok(None) => {
                self.deleted(cx);
                Some(DELETED_ELSEWHERE.to_owned())
            }
            Err(error) => {
                cx.push(Effect::NotSaved { session: self.key.clone(), reason: error.to_string() });
                Some(RpcError::from(error).message)
            }
        }
    }

    fn note_unheard<S: Storage, E: Environment>(
        &mut self,
        prompt: &str,
        end: &str,
        unsent: Option<&WaitingPrompt>,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<Noted>, StorageError> {
        if !matches!(self.phase, Phase::Opening(_)) {
            // It comes behind what was said before.
            self.write_if_due(cx, true);
            self.put_back(cx)?;
        }
        let title = self.title_of_first(title::from_prompt(prompt), u32::MAX);
        let message_id = cx.message_id();
        let tag = unsent.map_or_else(|| self.turn_tag(cx), |unsent| unsent.tag.clone());
        let unheard = Unheard {
            prompt,
            message_id: &message_id,
            agent: &cx.agent.name,
            tag: &tag,
            end,
            at: cx.now(),
            title: title.as_deref(),
            unsent: unsent.map(|unsent| unsent.key.as_str()),
        };
        unheard::note(cx.store, self.key.id().unwrap_or_default(), &unheard)
    }

    /// It stands in the log: the window knows that, unless others have written before it, and the agent is to be told.
    fn note_in_log<S: Storage, E: Environment>(&mut self, noted: Noted, cx: &mut Cx<'_, S, E>) {
        if self.recorder.seen() == Some(noted.behind) {
            self.recorder.note_seen(noted.end);
            self.untold = Some(Untold::Entry(noted.behind).and(self.untold));
        }
        // One that is only being opened is told its title then.
        if let Some(title) = noted.named.filter(|_| self.was_open) {
            self.notify(&json!({ "sessionUpdate": "session_info_update", "title": title }).to_string(), cx);
        }
    }
}
