//! Prompts: recorded, and passed on behind what their agent has not heard.

use serde_json::json;

use super::{LiveSession, Phase};
use crate::connection::answer::{CANCELLED, not_stored};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::connection::params::Params;
use crate::connection::requests::{TurnMemo, Unstored};
use crate::connection::told::{HeardInLog, Untold};
use crate::connection::turn::Turn;
use crate::environment::Environment;
use crate::reconcile::is_command;
use crate::rpc::{self, RpcError};
use crate::sessions::title;
use crate::storage::{Storage, StorageError};
use crate::store::Session;
use crate::transcript::{Echo, Entry, Hearer, Kind, digest_for};

/// The longest prompt, in bytes, that the host is given to keep where the store did not take it.
const LONGEST_KEPT: usize = 1024 * 1024;
/// How many content blocks a prompt may have: its history shows an update for each.
const MOST_BLOCKS: usize = 10_000;

/// What is wrong with a prompt whose blocks cannot be counted.
fn fault(prompt: &str) -> &'static str {
    let is_of_objects = |blocks: Vec<&str>| blocks.iter().all(|block| block.starts_with('{'));
    if rpc::elements(prompt).is_some_and(is_of_objects) {
        "holds a text with half of a surrogate pair, or a number too large, which not every program can read"
    } else {
        "must be an array of content blocks"
    }
}

/// The content blocks of a prompt with these params, as JSON.
pub(super) fn blocks_of(params: &Params<'_>) -> Result<String, RpcError> {
    let prompt = params.array("prompt")?.to_owned();
    match rpc::count_objects(&prompt) {
        None => Err(RpcError::invalid_params("prompt", fault(&prompt))),
        Some(blocks) if blocks > MOST_BLOCKS => {
            let message = format!("must not have more than {MOST_BLOCKS} content blocks");
            Err(RpcError::invalid_params("prompt", message))
        }
        Some(_) => Ok(prompt),
    }
}

impl LiveSession {
    /// A prompt: recorded, and passed on, behind what the agent has not heard.
    pub(in crate::connection) fn prompt<S: Storage, E: Environment>(
        &mut self,
        line: &str,
        request: &ClientRequest,
        params: &Params<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Handled, RpcError> {
        let prompt = blocks_of(params)?;
        // What was said elsewhere comes before it, for the client as for the agent.
        if self.comes_into_step(cx) {
            return Ok(Handled::Wait(self.key.clone()));
        }
        if self.is_without_turn() {
            self.end_held(cx);
        }
        self.begin_count(&self.agent_id.clone(), cx);
        // Where it cannot be read, the prompt goes on all the same. Agents know a slash command by what a prompt begins with, so what
        // is to be told waits for the next one.
        let account = if is_command(&prompt) { None } else { self.account(cx).unwrap_or_default() };
        let now = cx.now();
        let agent_id = self.agent_id.clone();
        if !self.is_open() {
            return Err(self.not_open());
        }
        let unsent = self.take_unsent(Some(request));
        let message_id = unsent.as_ref().map_or_else(|| cx.message_id(), |unsent| unsent.message_id.clone());
        let tag = unsent.as_ref().map_or_else(|| self.turn_tag(cx), |unsent| unsent.tag.clone());
        let Phase::Open { turns, .. } = &mut self.phase else {
            return Err(self.not_open());
        };
        let is_in_log = unsent.as_ref().is_some_and(|unsent| Self::is_given_back(unsent, cx));
        // What the agent says while it is at several prompts may be about any of them: they are one turn to readers.
        if turns.is_empty() {
            self.told_calls.another_turn();
        }
        let (tag, is_heard) = turns.first().map_or((tag, false), |first| (first.tag.clone(), first.is_heard));
        self.recorder.set_turn(Some(tag.clone()));
        let with = json!([cx.agent.name, &*agent_id]);
        let entry = format!("{{\"prompt\":{prompt},\"messageId\":{message_id},\"with\":{with}}}");
        let entry = (!is_in_log).then_some(entry);
        if let Some(entry) = &entry {
            self.recorder.push(Kind::Prompt, now, entry);
            self.activity.prompts += 1;
        }
        turns.push(Turn {
            request: request.clone(),
            tag: tag.clone(),
            order: Turn::behind(turns),
            began: Some(now),
            cancelled: false,
            echo: Echo::of_prompt(&prompt),
            account: account.as_ref().map(|(from, _)| *from),
            title: title::from_prompt(&prompt),
            unstored: None,
            place: None,
            is_heard,
        });
        if account.is_some() {
            self.untold = None;
        }
        self.late_replay.prompted();
        self.forget_questions_of_ended_turns();
        self.call_after_first();
        self.activity.touched = Some(now);
        // Of one that has waited the record says when it came.
        self.activity.prompted = if unsent.is_some() { self.activity.prompted } else { Some(now) };
        if let Some(unsent) = unsent.filter(|_| !is_in_log) {
            self.begin_unsent(unsent);
        }
        self.write_prompt(&tag, entry.as_deref(), cx);
        let Some((_, account)) = account else {
            return Ok(Handled::named(line, params.object(), "sessionId", &agent_id));
        };
        let separator = if prompt[1..].trim_start().starts_with(']') { "" } else { "," };
        let mut params = params.object().clone();
        params.set("sessionId", json!(&*agent_id).to_string());
        params.set("prompt", format!("[{account}{separator}{}", &prompt[1..]));
        Ok(Handled::PassAs(rpc::request(request.id(), "session/prompt", &params.to_json())))
    }

    fn not_open(&self) -> RpcError {
        let id = self.key.id().unwrap_or_default();
        if self.is_deleted() { RpcError::session_deleted(id) } else { RpcError::session_not_open(id) }
    }

    /// The prompt of this turn is written before the agent has it, so that nobody takes for something new what it says of it. Where
    /// it cannot be, the conversation goes on all the same. `None`: it stands in the log already.
    fn write_prompt<S: Storage, E: Environment>(&mut self, tag: &str, entry: Option<&str>, cx: &mut Cx<'_, S, E>) {
        let is_written = self.write_if_due(cx, false);
        let Some(entry) = entry else { return };
        if is_written {
            let place = self.recorder.end();
            if let Some(place) = place {
                self.begin_own_turn(tag, place);
            }
            if let Some(turn) = self.turns_mut().and_then(|turns| turns.last_mut()) {
                turn.place = place;
            }
            return;
        }
        let entry = Some(Entry::tagged(Kind::Prompt, cx.now(), Some(tag), entry));
        let entry = entry.filter(|entry| entry.len() <= LONGEST_KEPT);
        let (behind, draft) = (self.writes, self.last_begun());
        let turn = self.turns_mut().and_then(|turns| turns.last_mut());
        if let (Some(turn), Some(entry)) = (turn, entry) {
            turn.unstored = Some(Unstored { entry, behind, draft });
        }
    }

    /// What the host keeps of the turn of this prompt.
    pub(in crate::connection) fn turn_memo(&self, request: &ClientRequest) -> Option<TurnMemo> {
        let Phase::Open { turns, .. } = &self.phase else { return None };
        turns.iter().find(|turn| turn.request == *request).map(Turn::memo)
    }

    /// How much the agent has heard of what was said: what comes behind is left to tell, or on its way to it. `None` where it is
    /// what it had heard when it opened the session.
    pub(super) fn heard(&mut self) -> Option<HeardInLog> {
        let untold = self.untold;
        let on_their_way = self.turns_mut().into_iter().flatten().filter_map(|turn| turn.account);
        match on_their_way.chain(untold).min() {
            None => Some(HeardInLog::All),
            Some(Untold::Entry(behind)) => Some(HeardInLog::UpTo(behind)),
            Some(Untold::Place(_)) => None,
        }
    }

    /// Another window may have the conversation go on with an agent of its own, which this one does not hear of.
    pub(super) fn look_for_others<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        // Where it cannot be written, the prompt goes on all the same.
        self.write_if_due(cx, true);
        self.note_others(cx);
    }

    /// Notes what others have written since this was last looked for: neither has the agent heard it nor was the client
    /// shown it.
    pub(super) fn note_others<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        match self.recorder.take_overtaken(cx.store) {
            Ok(behind) => self.note_overtaken(behind),
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
        if let Err(error) = self.note_layout(cx) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }

    /// Notes that others have written behind this number, if they have: neither has the agent heard it nor was the
    /// client shown it.
    pub(super) fn note_overtaken(&mut self, behind: Option<u32>) {
        if let Some(behind) = behind {
            self.in_step.change().written_behind(behind);
            self.others_ended = false;
            self.untold = Some(Untold::Entry(behind).and(self.untold));
        }
    }

    /// An account of what was said and this agent was not told, and from where on that is.
    fn account<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<(Untold, String)>, RpcError> {
        let told_by_itself = self.take_overheard(cx).unwrap_or_default();
        let Some(from) = self.untold.filter(|_| cx.settings.rehydrate) else { return Ok(None) };
        let Some(session) = self.key.id().map(|id| cx.store.session(id)).transpose()?.flatten() else {
            return Ok(None);
        };
        let account = self.account_from(from, told_by_itself, &session, cx)?;
        if account.is_none() {
            self.untold = None;
        }
        Ok(account.map(|account| (from, account)))
    }

    /// An account of what was said behind a place and this agent was not told; it has told so many entries by itself.
    pub(super) fn account_from<S: Storage, E: Environment>(
        &self,
        from: Untold,
        told_by_itself: u64,
        session: &Session,
        cx: &Cx<'_, S, E>,
    ) -> Result<Option<String>, StorageError> {
        let storage = cx.store.storage();
        let known = session.agents.get(&cx.agent.name).filter(|known| *known.id == *self.agent_id);
        let lineage = known.map_or(&[][..], |known| &known.lineage);
        let ids: Vec<String> = [self.agent_id.to_string()].into_iter().chain(lineage.iter().cloned()).collect();
        // A layer is in step with its own windows.
        let window = (!cx.agent.is_layer).then(|| self.window(cx));
        let own = cx.agent.name.as_str();
        let names: Vec<&str> = known.map_or_else(|| vec![own], |known| known.called(own).collect());
        let hearer = Hearer { names: &names, ids: &ids, window: window.as_deref(), heard: None };
        match from {
            Untold::Entry(behind) => digest_for(storage, session, session.length_before(behind), Some(hearer)),
            // What it refused since it has not heard either.
            Untold::Place(heard) => {
                let heard = heard.min(session.heard_by(&cx.agent.name, &self.agent_id));
                // Its record stands before the last that it has told, as long as that could have become more.
                let heard = if told_by_itself == heard + 1 { told_by_itself } else { heard };
                let turns = hearer.window.map(|window| self.turns_heard(window, cx)).transpose()?;
                let hearer = Hearer { heard: turns.as_ref(), ..hearer };
                digest_for(storage, session, heard, Some(hearer))
            }
        }
    }

    /// The client has cancelled: its turns end so, and prompts that still wait do without the agent having them.
    pub(in crate::connection) fn cancel<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        for turn in self.turns_mut().into_iter().flatten() {
            turn.cancelled = true;
        }
        for prompt in self.take_waiting_prompts() {
            let not_kept = self.keep_unheard(&prompt, CANCELLED, cx);
            if let Some(request) = &prompt.request {
                let result = not_kept.map_or_else(|| CANCELLED.to_owned(), |reason| not_stored(CANCELLED, &reason));
                cx.finish(request, Ok(result));
            }
        }
    }
}
