//! What the agent does with a prompt. The last text block of the prompt is a command:
//!
//! `stream N` sends N chunks; `tagged TAG N` sends N chunks that are like no others; `tool` makes a tool call;
//! `permission` asks first; `read PATH` reads a file through the client; `wait` goes on until it is cancelled; `hang`
//! does that in a tool call; `big BYTES` sends a large tool result; `many N` makes N tool calls; `colourful` sends one
//! update of every other kind; `title TEXT` sets the title; `mode ID` changes the mode; `crash` ends the process; `spend
//! AMOUNT` says that the session has cost so many dollars since it began, and answers with tokens;
//! `everywhere WORD WORD WORD WORD` has the first in a message, the others in a tool's result, the title and the metadata.
//! Anything else is said back.

use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, PromptRequest, PromptResponse, ReadTextFileRequest, RequestPermissionOutcome,
    RequestPermissionRequest, SessionNotification, StopReason, Usage,
};
use agent_client_protocol::{Client, Error};
use serde_json::{Value, json};

use super::state::{Sessions, shape};

/// How many characters of a prompt make a title.
const TITLE: usize = 80;

/// One turn of a session.
pub(super) struct Turn {
    sessions: Arc<Mutex<Sessions>>,
    client: ConnectionTo<Client>,
    id: String,
}

impl Turn {
    pub(super) fn new(sessions: Arc<Mutex<Sessions>>, client: ConnectionTo<Client>, request: &PromptRequest) -> Self {
        Self { sessions, client, id: request.session_id.to_string() }
    }

    pub(super) async fn run(self, prompt: Vec<ContentBlock>) -> Result<PromptResponse, Error> {
        self.start(&prompt)?;
        let command = prompt.iter().rev().find_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        });
        let command = command.unwrap_or_default();
        let (verb, rest) = command.split_once(' ').unwrap_or((&command, ""));
        match verb {
            "stream" => (0..rest.parse().unwrap_or(10)).try_for_each(|number| self.say(&format!("word-{number} ")))?,
            "tool" => self.call_tool("call-1", "the result")?,
            "big" => self.call_tool("call-big", &"x".repeat(rest.parse().unwrap_or(1 << 20)))?,
            "many" => (0..rest.parse().unwrap_or(10)).try_for_each(|number| self.mention_call(number))?,
            "permission" => self.ask_permission().await?,
            "read" => self.read(rest).await?,
            "tagged" => self.say_tagged(rest)?,
            "spend" => return self.spend(rest),
            "wait" => return self.wait().await,
            "hang" => return self.hang().await,
            "colourful" => self.be_colourful()?,
            "title" => self.send(json!({"sessionUpdate": "session_info_update", "title": rest}))?,
            "mode" => self.send(json!({"sessionUpdate": "current_mode_update", "currentModeId": rest}))?,
            "everywhere" => self.say_everywhere(rest)?,
            "crash" => std::process::exit(3),
            _ => format!("You said: {command}").split_inclusive(' ').try_for_each(|word| self.say(word))?,
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }

    /// Takes the prompt in: what is kept of it, what is sent back, what the session is called after it.
    fn start(&self, prompt: &[ContentBlock]) -> Result<(), Error> {
        let mut sessions = self.sessions();
        let (habits, echoes) = (sessions.options.habits.clone(), sessions.options.echo_user);
        let joined = joined(prompt);
        let chunks: Vec<Value> = if habits.echo_joined {
            vec![json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": joined}})]
        } else {
            prompt.iter().map(|block| json!({"sessionUpdate": "user_message_chunk", "content": block})).collect()
        };
        let mut name = None;
        sessions.change(&self.id, |session| {
            session.history.extend(chunks.iter().cloned());
            if habits.names_after_prompt && session.title.is_none() {
                name = Some(joined.chars().take(TITLE).collect::<String>());
                session.title.clone_from(&name);
            }
        })?;
        drop(sessions);
        if echoes || habits.echo_joined {
            chunks.into_iter().try_for_each(|chunk| self.notify(chunk))?;
        }
        let name = name.map(|name| json!({"sessionUpdate": "session_info_update", "title": name}));
        name.map_or(Ok(()), |update| self.notify(update))
    }

    fn say(&self, text: &str) -> Result<(), Error> {
        self.send(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
    }

    fn say_tagged(&self, what: &str) -> Result<(), Error> {
        let (tag, count) = what.split_once(' ').unwrap_or((what, ""));
        (0..count.parse().unwrap_or(10)).try_for_each(|number| self.say(&format!("{tag}-{number} ")))
    }

    fn say_everywhere(&self, words: &str) -> Result<(), Error> {
        let mut words = words.split(' ');
        let mut next = || words.next().unwrap_or_default();
        self.say(next())?;
        self.call_tool("call-everywhere", next())?;
        let (title, note) = (next(), next());
        self.send(json!({"sessionUpdate": "session_info_update", "title": title, "_meta": {"note": note}}))
    }

    fn call_tool(&self, call: &str, result: &str) -> Result<(), Error> {
        self.send(json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": "Look it up", "kind": "read",
            "status": "pending", "rawInput": {"what": "it"}}))?;
        self.send(json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "in_progress"}))?;
        self.send(json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed",
            "content": [{"type": "content", "content": {"type": "text", "text": result}}]}))?;
        self.say("Looked it up.")
    }

    fn mention_call(&self, number: usize) -> Result<(), Error> {
        self.send(json!({"sessionUpdate": "tool_call", "toolCallId": format!("call-{number}"),
            "title": format!("Step {number}"), "kind": "other", "status": "completed"}))
    }

    async fn ask_permission(&self) -> Result<(), Error> {
        self.send(
            json!({"sessionUpdate": "tool_call", "toolCallId": "call-2", "title": "Remove it", "kind": "delete",
            "status": "pending"}),
        )?;
        let call = shape(json!({"toolCallId": "call-2", "title": "Remove it"}));
        let options = shape(json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"}]));
        let request = RequestPermissionRequest::new(self.id.clone(), call, options);
        let answer = self.client.send_request(request).block_task().await?;
        let allowed = matches!(&answer.outcome, RequestPermissionOutcome::Selected(choice)
            if choice.option_id.to_string() == "yes");
        let status = if allowed { "completed" } else { "failed" };
        self.send(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-2", "status": status}))
    }

    async fn read(&self, path: &str) -> Result<(), Error> {
        let file = self.client.send_request(ReadTextFileRequest::new(self.id.clone(), path)).block_task().await?;
        self.say(&file.content)
    }

    fn spend(&self, amount: &str) -> Result<PromptResponse, Error> {
        let amount: Value = serde_json::from_str(amount).unwrap_or_default();
        let cost = json!({"amount": amount, "currency": "USD"});
        self.send(json!({"sessionUpdate": "usage_update", "used": 10, "size": 1000, "cost": cost}))?;
        self.say("Spent.")?;
        Ok(PromptResponse::new(StopReason::EndTurn).usage(Usage::new(15, 10, 5)))
    }

    async fn wait(&self) -> Result<PromptResponse, Error> {
        let cancelled = self.sessions().wait(&self.id);
        self.say("waiting")?;
        // The sender is dropped, never used.
        cancelled.await.unwrap_or_default();
        Ok(PromptResponse::new(StopReason::Cancelled))
    }

    async fn hang(&self) -> Result<PromptResponse, Error> {
        self.send(
            json!({"sessionUpdate": "tool_call", "toolCallId": "call-3", "title": "Take long", "kind": "execute",
            "status": "pending"}),
        )?;
        self.send(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-3", "status": "in_progress"}))?;
        self.wait().await
    }

    fn be_colourful(&self) -> Result<(), Error> {
        self.send(json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}}))?;
        self.send(json!({"sessionUpdate": "plan", "entries": [
            {"content": "First", "priority": "high", "status": "in_progress"}]}))?;
        self.send(json!({"sessionUpdate": "plan", "entries": [
            {"content": "First", "priority": "high", "status": "completed"}]}))?;
        self.send(json!({"sessionUpdate": "available_commands_update", "availableCommands": [
            {"name": "help", "description": "Helps"}]}))?;
        self.send(json!({"sessionUpdate": "usage_update", "used": 10, "size": 1000}))?;
        self.send(json!({"sessionUpdate": "usage_update", "used": 20, "size": 1000}))?;
        self.send(json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "resource_link", "name": "notes", "uri": "file:///notes"}}))
    }

    fn send(&self, update: Value) -> Result<(), Error> {
        self.sessions().change(&self.id, |session| session.history.push(update.clone()))?;
        self.notify(update)
    }

    fn notify(&self, update: Value) -> Result<(), Error> {
        self.client.send_notification(SessionNotification::new(self.id.clone(), shape(update)))
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Sessions> {
        self.sessions.lock().expect("no turn panics with the sessions in hand")
    }
}

/// The texts of a prompt with an empty line between them.
fn joined(prompt: &[ContentBlock]) -> String {
    let texts = prompt.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}
