//! What several stories begin with, and an agent that does what it is asked.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};

pub(crate) const CWD: &str = "/home/x";

/// What was said in a session: the user's words and the agent's, by turns.
pub(crate) type Turns<'t> = &'t [(&'t str, &'t str)];

/// What [`told`] says.
pub(crate) const TOLD: Turns<'static> = &[("First question", "First answer"), ("Second question", "Second answer")];

/// How long a window that opens a session waits for what others are about to write in it, in milliseconds.
pub(crate) const A_WRITE: i64 = 300;

/// A conversation as [`said`] gives it.
pub(crate) fn lines(parts: &[Turns<'_>]) -> Vec<String> {
    let turns = parts.iter().copied().flatten();
    turns.flat_map(|(user, agent)| [format!("> {user}"), (*agent).to_owned()]).collect()
}

/// Who said what, in the order in which the client is told; the user's words after `> `.
pub(crate) fn said(messages: &[Value]) -> Vec<String> {
    let mut said: Vec<(bool, String)> = Vec::new();
    for update in messages.iter().map(|message| &message["params"]["update"]) {
        let is_user = update["sessionUpdate"] == "user_message_chunk";
        if !is_user && update["sessionUpdate"] != "agent_message_chunk" {
            continue;
        }
        let text = update["content"]["text"].as_str().unwrap();
        match said.last_mut().filter(|(last, _)| *last == is_user) {
            Some((_, joined)) => joined.push_str(text),
            None => said.push((is_user, text.to_owned())),
        }
    }
    said.into_iter().map(|(is_user, text)| if is_user { format!("> {text}") } else { text }).collect()
}

/// Marks in `_meta` of the answer to a load, resume or fork.
pub(crate) fn mark<'o>(out: &'o Out, id: &str) -> &'o Value {
    &out.answer(id)["result"]["_meta"]["acp-sessions"]
}

pub(crate) fn ask_load<S: Storage>(desk: &mut Desk<'_, S>, request: &str, session: &str) -> Out {
    let params = json!({"sessionId": session, "cwd": CWD, "mcpServers": []});
    desk.client(json!({"id": request, "method": "session/load", "params": params}))
}

pub(crate) fn ask_fork<S: Storage>(desk: &mut Desk<'_, S>, session: &str) -> Out {
    let params = json!({"sessionId": session, "cwd": CWD});
    desk.client(json!({"id": "fork", "method": "session/fork", "params": params}))
}

pub(crate) fn ask_resume<S: Storage>(desk: &mut Desk<'_, S>, request: &str, session: &str) -> Out {
    let params = json!({"sessionId": session, "cwd": CWD});
    desk.client(json!({"id": request, "method": "session/resume", "params": params}))
}

pub(crate) fn ask_prompt<S: Storage>(desk: &mut Desk<'_, S>, request: &str, session: &str, text: &str) -> Out {
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    desk.client(json!({"id": request, "method": "session/prompt", "params": params}))
}

/// A prompt of these blocks, and what goes out once it goes to the agent: what another window is about to write is waited for.
pub(crate) fn prompt_until_sent<S: Storage>(desk: &mut Desk<'_, S>, request: &str, blocks: &[Value]) -> Out {
    let params = json!({"sessionId": "s1", "prompt": blocks});
    let mut out = desk.client(json!({"id": request, "method": "session/prompt", "params": params}));
    while out.asked("session/prompt").is_none() {
        out = desk.wait(100);
    }
    out
}

/// A load of `s1` by an agent that tells these updates, up to its answer.
pub(crate) fn load_told<S: Storage>(desk: &mut Desk<'_, S>, updates: &[Value]) -> Out {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    for told in updates {
        out.extend(desk.agent(update("s1", told.clone())));
    }
    out.extend(desk.reply(&asked, json!({})));
    told_all(desk, out)
}

/// What has come of a load once the agent has told all, and other windows have written what they were about to.
pub(crate) fn told_all<S: Storage>(desk: &mut Desk<'_, S>, mut out: Out) -> Out {
    while out.is_open("load") {
        out.extend(desk.wait(100));
    }
    out
}

/// What is shown of `s1` a minute later where its agent tells this, each message of the user's behind a mark, and whether something is
/// set aside for that.
pub(crate) fn shown_later<S: Storage>(store: &S, world: &World, told: &[Value]) -> (String, bool) {
    world.now.set(world.now.get() + 60_000);
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    let out = load_told(&mut desk, told);
    let is_set_aside = !mark(&out, "load")["setAside"].is_null();
    leave(desk);
    (words(&out), is_set_aside)
}

/// These turns as they are shown so.
pub(crate) fn as_shown(turns: Turns<'_>) -> String {
    turns.iter().map(|(prompt, answer)| format!("> {prompt}{answer}")).collect::<Vec<_>>().concat()
}

/// Longer than anything waits to be written, in milliseconds.
pub(crate) const LONG: i64 = 500;

/// For longer than a connection is believed to be there that does not say so, in milliseconds.
pub(crate) const UNTIL_FORGOTTEN: i64 = 20_000;

/// The agent says this in the session `s1`.
pub(crate) fn says(text: &str) -> Value {
    update("s1", chunk("agent_message_chunk", text))
}

/// The agent ends a turn.
pub(crate) fn answers(request: &str) -> Value {
    json!({"id": request, "result": {"stopReason": "end_turn"}})
}

/// A session `s1` with a prompt that is not answered yet.
pub(crate) fn asked<'a, S: Storage>(store: &'a S, world: &'a World) -> Desk<'a, S> {
    let mut desk = Desk::ready(store, world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    desk
}

/// The same where the store takes nothing, so many times from the prompt on.
pub(crate) fn asked_while_full<'a>(store: &'a Faulty, world: &'a World, times: usize) -> Desk<'a, Faulty> {
    let mut desk = Desk::ready(store, world, &json!({}));
    desk.new_session("s1", CWD);
    store.fail(0, times, StorageError::Full);
    ask_prompt(&mut desk, "turn", "s1", "Go").request("session/prompt");
    desk
}

/// The account of what was said before that precedes a prompt on its way to the agent, if one does.
pub(crate) fn account(out: &Out) -> Option<String> {
    let prompt = out.request("session/prompt")["params"]["prompt"].clone();
    let block = prompt.as_array().unwrap().iter().find(|block| block["_meta"]["acp-sessions"]["rehydrated"] == true)?;
    Some(block["text"].as_str().unwrap().to_owned())
}

/// The agent replays turns of a session.
pub(crate) fn replay<S: Storage>(desk: &mut Desk<'_, S>, agent_id: &str, turns: Turns<'_>) -> Out {
    let mut out = Out::default();
    for (user, agent) in turns {
        out.extend(desk.agent(update(agent_id, chunk("user_message_chunk", user))));
        out.extend(desk.agent(update(agent_id, chunk("agent_message_chunk", agent))));
    }
    out
}

/// The agent does what it is asked until it is asked no more: what it loads it replays as these turns, what is made
/// new is called `fresh`. Everything that was said, from `out` on.
pub(crate) fn oblige<S: Storage>(desk: &mut Desk<'_, S>, out: Out, turns: Turns<'_>, fresh: &str) -> Out {
    let (mut all, mut next, mut has_waited) = (out, 0, false);
    loop {
        let Some(message) = all.agent.get(next).cloned() else {
            // With another window on the session it is waited for what that is about to write.
            if has_waited || !is_loading(&all) {
                return all;
            }
            has_waited = true;
            all.extend(desk.wait(A_WRITE));
            continue;
        };
        next += 1;
        if message.get("id").is_none() {
            continue;
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "session/load" => {
                all.extend(replay(desk, message["params"]["sessionId"].as_str().unwrap(), turns));
                json!({})
            }
            "session/new" | "session/fork" => json!({"sessionId": fresh}),
            // What it lists is for a story to say.
            "session/list" => continue,
            "session/prompt" => json!({"stopReason": "end_turn"}),
            _ => json!({}),
        };
        all.extend(desk.reply(&message, result));
    }
}

/// Whether the agent has loaded a session, and the client has no answer to anything yet.
fn is_loading(out: &Out) -> bool {
    let has_loaded = out.agent.iter().any(|message| message["method"] == "session/load");
    has_loaded && out.client.iter().all(|message| message.get("method").is_some())
}

/// A load by an agent that obliges.
pub(crate) fn load<S: Storage>(desk: &mut Desk<'_, S>, session: &str, turns: Turns<'_>) -> Out {
    let out = ask_load(desk, "load", session);
    oblige(desk, out, turns, "fresh")
}

/// These turns are had in a session.
pub(crate) fn converse<S: Storage>(desk: &mut Desk<'_, S>, session: &str, turns: Turns<'_>) {
    for (user, agent) in turns {
        desk.turn(session, user, &[agent]);
    }
}

/// A session `s1` with the agent `a` in which these turns were had, open.
pub(crate) fn begun<'a, S: Storage>(
    store: &'a S,
    world: &'a World,
    capabilities: &Value,
    turns: Turns<'_>,
) -> Desk<'a, S> {
    let mut desk = Desk::ready(store, world, capabilities);
    desk.new_session("s1", CWD);
    converse(&mut desk, "s1", turns);
    desk
}

/// Two windows of one agent's that have `s1` open, in which these turns were had in the first one before.
pub(crate) fn both_open<'a, S: Storage>(
    store: &'a S,
    world: &'a World,
    capabilities: &Value,
    turns: Turns<'_>,
) -> (Desk<'a, S>, Desk<'a, S>) {
    let first = begun(store, world, capabilities, turns);
    let mut second = Desk::ready(store, world, capabilities);
    load(&mut second, "s1", turns).answer("load");
    (first, second)
}

/// A session `s1` of two turns with an agent that was then started again.
pub(crate) fn revived<'a, S: Storage>(store: &'a S, world: &'a World, capabilities: &Value) -> Desk<'a, S> {
    let mut desk = begun(store, world, capabilities, TOLD);
    desk.revive(capabilities);
    desk
}

/// A session of two turns, made with the agent `a`, of which nothing is open any more.
pub(crate) fn told<S: Storage>(store: &S, world: &World, capabilities: &Value) -> String {
    let mut desk = Desk::ready(store, world, capabilities);
    let id = desk.new_session("s1", CWD);
    converse(&mut desk, &id, TOLD);
    leave(desk);
    id
}

/// The client goes, and what it had open is no longer open.
pub(crate) fn leave<S: Storage>(mut desk: Desk<'_, S>) {
    desk.engine.peer_closed(Peer::Client);
    desk.pull();
}

/// What stands for an image in [`words`].
pub(crate) const IMAGE: &str = "[image]";

/// What the client is shown, in words, each chunk of the user's behind a mark of its own.
pub(crate) fn words(out: &Out) -> String {
    let mut words = String::new();
    for update in out.client.iter().map(|message| &message["params"]["update"]) {
        let content = &update["content"];
        let text = || if content["type"] == "image" { IMAGE } else { content["text"].as_str().unwrap() };
        match update["sessionUpdate"].as_str() {
            Some("user_message_chunk") => words = words + "> " + text(),
            Some("agent_message_chunk") => words += text(),
            _ => {}
        }
    }
    words
}

/// A row of an agent's own list.
pub(crate) fn row(id: &str, title: &str, updated: &str) -> Value {
    json!({"sessionId": id, "cwd": CWD, "title": title, "updatedAt": updated})
}

/// A connection to the agent of this name, which lists these sessions of its own.
pub(crate) fn listing<'a, S: Storage>(
    store: &'a S,
    world: &'a World,
    agent: &str,
    capabilities: &Value,
    rows: &[Value],
) -> Desk<'a, S> {
    let mut desk = Desk::open(store, world, &[]);
    let mut capabilities = capabilities.clone();
    capabilities["sessionCapabilities"]["list"] = json!({});
    let out = desk.greet(Some(agent), &capabilities);
    lists_to_its_end(&mut desk, out, rows);
    desk
}

/// The agent answers what it is asked for of its list with these sessions of its own, or of them with those of one folder.
/// What was sent before that, and is since.
pub(crate) fn lists_to_its_end<S: Storage>(desk: &mut Desk<'_, S>, mut out: Out, rows: &[Value]) -> Out {
    let mut asked = out.asked("session/list").cloned();
    while let Some(list) = asked {
        let folder = &list["params"]["cwd"];
        let meant: Vec<&Value> = rows.iter().filter(|row| folder.is_null() || row["cwd"] == *folder).collect();
        let mut then = desk.reply(&list, json!({ "sessions": meant }));
        then.extend(desk.wait(0));
        asked = then.asked("session/list").cloned();
        out.extend(then);
    }
    out
}

/// A connection to the agent `a`, initialized, with these settings.
pub(crate) fn set<'a>(
    store: &'a Memory,
    world: &'a World,
    capabilities: &Value,
    settings: &[(&str, &str)],
) -> Desk<'a> {
    let mut desk = Desk::open(store, world, settings);
    desk.greet(Some("a"), capabilities);
    desk
}

/// A connection to the agent `a`, initialized by a client with these capabilities of its own.
pub(crate) fn met<'a, S: Storage>(store: &'a S, world: &'a World, client: &Value, agent: &Value) -> Desk<'a, S> {
    let mut desk = Desk::open(store, world, &[]);
    let params = json!({"protocolVersion": 1, "clientCapabilities": client});
    desk.client(json!({"id": 0, "method": "initialize", "params": params}));
    let info = json!({"name": "a", "version": "1"});
    let result = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": agent});
    desk.agent(json!({"id": 0, "result": result}));
    desk
}

/// What the client is told by updates of this kind.
pub(crate) fn updates<'o>(out: &'o Out, kind: &str) -> Vec<&'o Value> {
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["sessionUpdate"] == kind).collect()
}

/// What an agent asks its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether it may do something.
    Permission,
    /// To fill in a form.
    Form,
}

impl Question {
    pub(crate) const KINDS: [Self; 2] = [Self::Permission, Self::Form];

    /// The agent asks it in a session, by a request of this id.
    pub(crate) fn ask<S: Storage>(self, desk: &mut Desk<'_, S>, request: &str, session: &str) -> Out {
        let (method, params) = match self {
            Self::Permission => {
                let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}]);
                let call = json!({"toolCallId": "c"});
                ("session/request_permission", json!({"sessionId": session, "toolCall": call, "options": options}))
            }
            Self::Form => {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let message = "Your name?";
                let params =
                    json!({"sessionId": session, "mode": "form", "message": message, "requestedSchema": schema});
                ("elicitation/create", params)
            }
        };
        desk.agent(json!({"id": request, "method": method, "params": params}))
    }

    /// The user says yes to it, or fills it in.
    pub(crate) fn answer<S: Storage>(self, desk: &mut Desk<'_, S>, request: &str) -> Out {
        desk.client(json!({"id": request, "result": self.yes()}))
    }

    /// What the user answers then.
    pub(crate) fn yes(self) -> Value {
        match self {
            Self::Permission => json!({"outcome": {"outcome": "selected", "optionId": "y"}}),
            Self::Form => json!({"action": "accept", "content": {"name": "x"}}),
        }
    }
}

/// The agent asks the user of `s1`.
pub(crate) fn ask_permission<S: Storage>(desk: &mut Desk<'_, S>) {
    Question::Permission.ask(desk, "may", "s1");
}

/// The user says yes to what [`ask_permission`] asks.
pub(crate) fn permit<S: Storage>(desk: &mut Desk<'_, S>) {
    Question::Permission.answer(desk, "may");
}
