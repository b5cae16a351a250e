//! A layer behind a layer, and an agent behind both: what the stories of them begin with.

// Messages are written where they are said; passing them by reference would only add noise.
#![allow(clippy::needless_pass_by_value)]

use std::collections::{BTreeMap, VecDeque};

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::CWD;

/// What agents of several kinds say that they can do.
pub(crate) const KINDS: [&str; 5] = [
    "{}",
    r#"{"loadSession":true}"#,
    r#"{"sessionCapabilities":{"resume":{}}}"#,
    r#"{"loadSession":true,"sessionCapabilities":{"list":{},"delete":{},"close":{}}}"#,
    r#"{"loadSession":true,"sessionCapabilities":{"list":{},"delete":{},"close":{},"resume":{},"fork":{},"title":{}}}"#,
];

/// An agent that answers every prompt, and remembers sessions where its capabilities say so.
#[derive(Debug, Default)]
pub(crate) struct Bottom {
    pub(crate) capabilities: Value,
    /// What was said, by session: the texts of each prompt, and the answer.
    pub(crate) sessions: BTreeMap<String, Vec<(String, String)>>,
    made: usize,
    /// What it does with the next prompts.
    pub(crate) does: Does,
    /// What it was asked on this connection.
    pub(crate) asked: Vec<Value>,
}

/// What an agent does with a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Does {
    #[default]
    Answers,
    Fails,
    /// It is at it for longer.
    Nothing,
}

impl Bottom {
    /// One of a kind.
    pub(crate) fn of(kind: &str) -> Self {
        Self { capabilities: serde_json::from_str(kind).unwrap(), ..Self::default() }
    }

    pub(crate) fn remembers(&self) -> bool {
        self.capabilities["loadSession"] == true || self.capabilities["sessionCapabilities"]["resume"].is_object()
    }

    /// Its program begins, and knows what it remembers.
    fn begin(&mut self) {
        if !self.remembers() {
            self.sessions.clear();
        }
        self.asked.clear();
    }

    fn make(&mut self, turns: Vec<(String, String)>) -> Value {
        self.made += 1;
        let id = format!("b{}", self.made);
        self.sessions.insert(id.clone(), turns);
        json!({ "sessionId": id })
    }

    /// What it says to a message.
    fn hear(&mut self, message: &Value) -> Vec<Value> {
        self.asked.push(message.clone());
        let Some(id) = message.get("id") else { return Vec::new() };
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let mut says = Vec::new();
        let result = match message["method"].as_str().unwrap() {
            "initialize" => {
                let info = json!({"name": "bottom", "version": "1"});
                json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": self.capabilities})
            }
            "session/new" => self.make(Vec::new()),
            "session/fork" => {
                let turns = self.sessions[&session].clone();
                self.make(turns)
            }
            "session/load" | "session/resume" if !self.sessions.contains_key(&session) => {
                return vec![json!({"id": id, "error": {"code": -32002, "message": "forgotten"}})];
            }
            "session/load" => {
                for (user, agent) in &self.sessions[&session] {
                    says.push(update(&session, chunk("user_message_chunk", user)));
                    says.push(update(&session, chunk("agent_message_chunk", agent)));
                }
                json!({})
            }
            "session/prompt" if self.does == Does::Nothing => return says,
            "session/prompt" if self.does == Does::Fails => {
                return vec![json!({"id": id, "error": {"code": -32603, "message": "no idea"}})];
            }
            "session/prompt" => {
                let blocks = params["prompt"].as_array().unwrap().iter();
                let texts: Vec<&str> = blocks.map(|block| block["text"].as_str().unwrap()).collect();
                let answer = format!("Re: {}", texts.last().unwrap());
                says.push(update(&session, chunk("agent_message_chunk", &answer)));
                self.sessions.get_mut(&session).unwrap().push((texts.join("\n\n"), answer));
                json!({"stopReason": "end_turn"})
            }
            "session/list" => {
                let row = |id: &String| json!({"sessionId": id, "cwd": CWD, "updatedAt": "2025-10-09T08:53:20.000Z"});
                json!({"sessions": self.sessions.keys().map(row).collect::<Vec<_>>()})
            }
            "session/delete" => {
                self.sessions.remove(&session);
                json!({})
            }
            _ => json!({}),
        };
        says.push(json!({"id": id, "result": result}));
        says
    }

    /// How often it was told something on this connection.
    pub(crate) fn told(&self, text: &str) -> usize {
        let prompts = self.asked.iter().filter(|asked| asked["method"] == "session/prompt");
        prompts.map(|asked| asked["params"]["prompt"].to_string().matches(text).count()).sum()
    }
}

/// What two layers over one store stand on.
#[derive(Debug)]
pub(crate) struct Ground {
    store: Memory,
    world: World,
    bottom: Bottom,
}

impl Ground {
    /// With an agent of this kind behind both.
    pub(crate) fn of(kind: &str) -> Self {
        Self { store: Memory::new(), world: World::unrecorded(), bottom: Bottom::of(kind) }
    }

    /// The two layers on it.
    pub(crate) fn stack(&mut self) -> Stack<'_> {
        self.stack_with(&json!({}))
    }

    /// The same for a client with these capabilities.
    pub(crate) fn stack_with(&mut self, client: &Value) -> Stack<'_> {
        Stack::begin([&self.store; 2], &self.world, &mut self.bottom, &[], client)
    }
}

/// The two layers, and the agent behind them.
pub(crate) struct Stack<'a> {
    pub(crate) outer: Desk<'a>,
    pub(crate) inner: Desk<'a>,
    pub(crate) bottom: &'a mut Bottom,
    /// Of the outer layer and of the inner one.
    pub(crate) stores: [&'a Memory; 2],
    pub(crate) world: &'a World,
}

impl<'a> Stack<'a> {
    pub(crate) fn ready(stores: [&'a Memory; 2], world: &'a World, bottom: &'a mut Bottom) -> Self {
        Self::begin(stores, world, bottom, &[], &json!({}))
    }

    /// The same with these settings of the outer layer, and a client with these capabilities.
    pub(crate) fn begin(
        stores: [&'a Memory; 2],
        world: &'a World,
        bottom: &'a mut Bottom,
        settings: &[(&str, &str)],
        client: &Value,
    ) -> Self {
        bottom.begin();
        let (outer, inner) = (Desk::open(stores[0], world, settings), Desk::open(stores[1], world, &[]));
        let mut stack = Self { outer, inner, bottom, stores, world };
        let out = stack.ask("initialize", json!({"protocolVersion": 1, "clientCapabilities": client}));
        assert_eq!(out.answer("initialize")["result"]["agentCapabilities"]["loadSession"], true);
        stack
    }

    /// The client asks, and everybody says what there is to say; a second passes.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Out {
        let first = self.outer.client(json!({"id": method, "method": method, "params": params}));
        self.settle(first)
    }

    /// Everybody says what there is to say, behind what the outer layer has said; a second passes.
    pub(crate) fn settle(&mut self, first: Out) -> Out {
        let mut all = Out::default();
        let mut outer: VecDeque<Out> = VecDeque::from([first]);
        for _ in 0..10 {
            while let Some(out) = outer.pop_front() {
                all.client.extend(out.client);
                for message in out.agent {
                    let heard = self.inner.client(message);
                    self.pass(heard, &mut outer);
                }
            }
            let heard = self.inner.wait(100);
            self.pass(heard, &mut outer);
            outer.push_back(self.outer.wait(100));
        }
        all
    }

    /// What the inner layer says, to both sides.
    fn pass(&mut self, heard: Out, outer: &mut VecDeque<Out>) {
        let mut inner = VecDeque::from([heard]);
        while let Some(out) = inner.pop_front() {
            for message in out.client {
                outer.push_back(self.outer.agent(message));
            }
            for message in out.agent {
                for said in self.bottom.hear(&message) {
                    inner.push_back(self.inner.agent(said));
                }
            }
        }
    }

    /// `session/new`; its id.
    pub(crate) fn new_session(&mut self) -> String {
        let out = self.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
        out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Out {
        let prompt = json!([{"type": "text", "text": text}]);
        let out = self.ask("session/prompt", json!({"sessionId": session, "prompt": prompt}));
        assert_eq!(out.answer("session/prompt")["result"]["stopReason"], "end_turn");
        out
    }

    pub(crate) fn load(&mut self, session: &str, replay: &Value) -> Out {
        let meta = json!({"acp-sessions": { "replay": replay }});
        let mut params = json!({"sessionId": session, "cwd": CWD, "mcpServers": []});
        if !replay.is_null() {
            params["_meta"] = meta;
        }
        let out = self.ask("session/load", params);
        assert!(out.answer("session/load")["error"].is_null(), "{}", out.answer("session/load"));
        out
    }

    pub(crate) fn rows(&mut self, params: Value) -> Vec<Value> {
        let out = self.ask("session/list", params);
        out.answer("session/list")["result"]["sessions"].as_array().unwrap().clone()
    }

    /// The inner layer and its agent end, and the outer one has them started again.
    pub(crate) fn begin_inner_again(&mut self) -> Out {
        let out = self.introduce_inner_again();
        self.settle(out)
    }

    /// The same until the inner one has answered `initialize`: what the outer one asks of it then stands in what is given, and
    /// nobody has heard it.
    pub(crate) fn introduce_inner_again(&mut self) -> Out {
        self.bottom.begin();
        self.inner = Desk::open(self.stores[1], self.world, &[]);
        let out = self.outer.restart();
        let mut outer = VecDeque::new();
        let heard = self.inner.client(out.request("initialize"));
        self.pass(heard, &mut outer);
        outer.into_iter().fold(Out { agent: Vec::new(), ..out }, |mut all, out| {
            all.extend(out);
            all
        })
    }

    /// The outer layer's instance is lost, and another carries on.
    pub(crate) fn lose_outer(&mut self) {
        let memos = std::mem::take(&mut self.outer.memos);
        self.outer = Desk::carry_on(self.stores[0], self.world, &[], memos, Vec::new());
    }

    pub(crate) fn close(&mut self) {
        self.outer.engine.peer_closed(Peer::Client);
        self.inner.engine.peer_closed(Peer::Client);
    }
}
