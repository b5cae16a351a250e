//! A layer behind a layer, with a store of its own or over the same one, and an agent behind them.

// Messages are written where they are said; passing them by reference would only add noise.
#![allow(clippy::needless_pass_by_value)]

use std::collections::{BTreeMap, VecDeque};

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::sessions::relocate::{Relocate, relocate};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, said, updates};
use crate::side_by_side::shown;

/// An agent that answers every prompt, and remembers sessions where its capabilities say so.
#[derive(Debug, Default)]
struct Bottom {
    capabilities: Value,
    /// What was said, by session: the texts of each prompt, and the answer.
    sessions: BTreeMap<String, Vec<(String, String)>>,
    made: usize,
    /// What it does with the next prompts.
    does: Does,
    /// What it was asked on this connection.
    asked: Vec<Value>,
}

/// What an agent does with a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Does {
    #[default]
    Answers,
    Fails,
    /// It is at it for longer.
    Nothing,
}

impl Bottom {
    fn remembers(&self) -> bool {
        self.capabilities["loadSession"] == true || self.capabilities["sessionCapabilities"]["resume"].is_object()
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
    fn told(&self, text: &str) -> usize {
        let prompts = self.asked.iter().filter(|asked| asked["method"] == "session/prompt");
        prompts.map(|asked| asked["params"]["prompt"].to_string().matches(text).count()).sum()
    }
}

struct Stack<'a> {
    outer: Desk<'a>,
    inner: Desk<'a>,
    bottom: &'a mut Bottom,
}

impl<'a> Stack<'a> {
    fn ready(stores: [&'a Memory; 2], world: &'a World, bottom: &'a mut Bottom) -> Self {
        if !bottom.remembers() {
            bottom.sessions.clear();
        }
        bottom.asked.clear();
        let (outer, inner) = (Desk::open(stores[0], world, &[]), Desk::open(stores[1], world, &[]));
        let mut stack = Self { outer, inner, bottom };
        let out = stack.ask("initialize", json!({"protocolVersion": 1}));
        assert_eq!(out.answer("initialize")["result"]["agentCapabilities"]["loadSession"], true);
        stack
    }

    /// The client asks, and everybody says what there is to say; a second passes.
    fn ask(&mut self, method: &str, params: Value) -> Out {
        let first = self.outer.client(json!({"id": method, "method": method, "params": params}));
        self.settle(first)
    }

    /// Everybody says what there is to say, behind what the outer layer has said; a second passes.
    fn settle(&mut self, first: Out) -> Out {
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

    fn prompt(&mut self, session: &str, text: &str) -> Out {
        let prompt = json!([{"type": "text", "text": text}]);
        let out = self.ask("session/prompt", json!({"sessionId": session, "prompt": prompt}));
        assert_eq!(out.answer("session/prompt")["result"]["stopReason"], "end_turn");
        out
    }

    fn load(&mut self, session: &str, replay: &Value) -> Out {
        let meta = json!({"acp-sessions": { "replay": replay }});
        let mut params = json!({"sessionId": session, "cwd": CWD, "mcpServers": []});
        if !replay.is_null() {
            params["_meta"] = meta;
        }
        let out = self.ask("session/load", params);
        assert!(out.answer("session/load")["error"].is_null(), "{}", out.answer("session/load"));
        out
    }

    fn rows(&mut self, params: Value) -> Vec<Value> {
        let out = self.ask("session/list", params);
        out.answer("session/list")["result"]["sessions"].as_array().unwrap().clone()
    }

    /// The inner layer and its agent end, and the outer one has them started again.
    fn begin_inner_again(&mut self, store: &'a Memory, world: &'a World) {
        if !self.bottom.remembers() {
            self.bottom.sessions.clear();
        }
        self.bottom.asked.clear();
        self.inner = Desk::open(store, world, &[]);
        let out = self.outer.restart();
        self.settle(out);
    }

    fn close(&mut self) {
        self.outer.engine.peer_closed(Peer::Client);
        self.inner.engine.peer_closed(Peer::Client);
    }
}

const KINDS: [&str; 5] = [
    "{}",
    r#"{"loadSession":true}"#,
    r#"{"sessionCapabilities":{"resume":{}}}"#,
    r#"{"loadSession":true,"sessionCapabilities":{"list":{},"delete":{},"close":{}}}"#,
    r#"{"loadSession":true,"sessionCapabilities":{"list":{},"delete":{},"close":{},"resume":{},"fork":{},"title":{}}}"#,
];

#[test]
fn two_layers_are_as_good_as_one() {
    for kind in KINDS {
        are_as_good_as_one(kind, [&Memory::new(), &Memory::new()]);
    }
}

#[test]
fn two_layers_over_one_store_are_one() {
    for kind in KINDS {
        let store = Memory::new();
        are_as_good_as_one(kind, [&store, &store]);
    }
}

#[test]
fn what_is_open_in_a_layer_over_the_same_store_is_gone_on_with_when_that_was_started_again() {
    for (kind, is_lost) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut bottom = Bottom { capabilities: serde_json::from_str(kind).unwrap(), ..Bottom::default() };
        let mut stack = Stack::ready([&store; 2], &world, &mut bottom);
        let made = |out: &Out, method: &str| out.answer(method)["result"]["sessionId"].as_str().unwrap().to_owned();
        let [id, closed] = [0, 1].map(|_| {
            let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
            made(&out, "session/new")
        });
        stack.prompt(&id, "First question");
        let out = stack.ask("session/fork", json!({"sessionId": id, "cwd": CWD}));
        let fork = made(&out, "session/fork");
        stack.ask("session/close", json!({"sessionId": closed}));
        for time in 1..3 {
            stack.begin_inner_again(&store, &world);
            if is_lost {
                let memos = std::mem::take(&mut stack.outer.memos);
                stack.outer = Desk::carry_on(&store, &world, &[], memos, Vec::new());
            }
            for session in [&id, &fork] {
                let out = stack.prompt(session, "Next question");
                assert_eq!(said(&out.client), ["Re: Next question"], "{kind}, {time}");
            }
            let prompt = json!([{"type": "text", "text": "Too late"}]);
            let out = stack.ask("session/prompt", json!({"sessionId": closed, "prompt": prompt}));
            assert_eq!(out.answer("session/prompt")["error"]["code"], -32002, "{kind}");
            for session in [&id, &fork] {
                let out = stack.load(session, &Value::Null);
                assert_eq!(said(&out.client).len(), 2 + 2 * time, "{kind}, {time}");
            }
        }
    }
}

#[test]
fn what_waits_for_a_session_to_be_resumed_can_be_taken_back() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut bottom = Bottom { capabilities: serde_json::from_str(KINDS[2]).unwrap(), ..Bottom::default() };
    let mut stack = Stack::ready([&store; 2], &world, &mut bottom);
    let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
    let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
    stack.begin_inner_again(&store, &world);
    let prompt = |request: &str| {
        let prompt = json!([{"type": "text", "text": request}]);
        json!({"id": request, "method": "session/prompt", "params": {"sessionId": id, "prompt": prompt}})
    };
    let resume = stack.outer.client(prompt("first"));
    assert_eq!(resume.request("session/resume")["params"]["sessionId"], json!(id));
    for request in ["second", "third"] {
        assert!(stack.outer.client(prompt(request)).agent.is_empty(), "{request} waits");
    }
    let out = stack.outer.client(json!({"method": "$/cancel_request", "params": {"requestId": "second"}}));
    assert_eq!(out.answer("second")["error"]["code"], -32800);
    let out = stack.outer.client(json!({"method": "session/cancel", "params": {"sessionId": id}}));
    for request in ["first", "third"] {
        assert_eq!(out.answer(request)["result"]["stopReason"], "cancelled");
    }
    stack.outer.client(prompt("fourth"));
    // It ends once more while it is asked.
    let mut out = stack.outer.client(prompt("fifth"));
    stack.begin_inner_again(&store, &world);
    out.extend(stack.settle(Out::default()));
    assert!(out.is_open("fourth") && out.is_open("fifth"), "{out:?}");
    let out = stack.prompt(&id, "Sixth");
    assert_eq!(said(&out.client).last().unwrap(), "Re: Sixth");
    let history = said(&stack.load(&id, &Value::Null).client);
    let expected = ["fourth", "fifth", "Sixth"].map(|text| [format!("> {text}"), format!("Re: {text}")]);
    assert_eq!(history, expected.concat());
}

#[test]
fn what_a_layer_was_started_again_for_is_opened_as_it_was_and_where_it_is_now() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut bottom = Bottom { capabilities: serde_json::from_str(KINDS[2]).unwrap(), ..Bottom::default() };
    let mut stack = Stack::ready([&store; 2], &world, &mut bottom);
    let server = json!([{"name": "m", "command": "m", "args": [], "env": []}]);
    let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": server}));
    let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
    stack.prompt(&id, "First");
    // It is open, so nothing of it is as this says.
    let out = stack.ask("session/load", json!({"sessionId": id, "cwd": "/elsewhere", "mcpServers": []}));
    assert!(out.answer("session/load")["error"].is_null());
    let moved = Relocate { old: CWD.to_owned(), new: "/moved".to_owned(), limit: 10, dry_run: false, after: None };
    relocate(&Store::new(&store), &moved).unwrap();
    stack.begin_inner_again(&store, &world);
    stack.prompt(&id, "Second");
    let asked = stack.bottom.asked.iter().find(|asked| asked["method"] == "session/resume").unwrap();
    assert_eq!((&asked["params"]["cwd"], &asked["params"]["mcpServers"]), (&json!("/moved"), &server));
    assert_eq!(stack.rows(json!({}))[0]["cwd"], "/moved");
}

#[test]
fn whoever_waits_for_a_session_to_be_resumed_is_told_why_it_is_not_and_the_next_tries_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut bottom = Bottom { capabilities: serde_json::from_str(KINDS[2]).unwrap(), ..Bottom::default() };
    let mut stack = Stack::ready([&store; 2], &world, &mut bottom);
    let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
    let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
    stack.begin_inner_again(&store, &world);
    let prompt = |request: &str| {
        let prompt = json!([{"type": "text", "text": request}]);
        json!({"id": request, "method": "session/prompt", "params": {"sessionId": id, "prompt": prompt}})
    };
    for code in [-32603, -32000] {
        let resume = stack.outer.client(prompt("refused")).request("session/resume");
        let out = stack.outer.refuse(&resume, code);
        assert_eq!(out.answer("refused")["error"]["code"], code);
    }
    // A close ends what waits before it is answered.
    stack.outer.client(prompt("waits"));
    let out = stack.outer.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
    assert_eq!(out.answer("waits")["result"]["stopReason"], "cancelled");
    assert_eq!(out.request("session/close")["params"]["sessionId"], json!(id));
}

#[test]
fn two_layers_tell_the_title_once() {
    for kind in KINDS {
        let (stores, world) = ([&Memory::new(), &Memory::new()], World::unrecorded());
        let mut bottom = Bottom { capabilities: serde_json::from_str(kind).unwrap(), ..Bottom::default() };
        let mut stack = Stack::ready(stores, &world, &mut bottom);
        let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
        let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
        stack.prompt(&id, "First question");
        stack.close();
        for method in ["session/load", "session/resume"] {
            let mut stack = Stack::ready(stores, &world, &mut bottom);
            for time in ["first", "live"] {
                let out = stack.ask(method, json!({"sessionId": id, "cwd": CWD, "mcpServers": []}));
                let told: Vec<&Value> =
                    updates(&out, "session_info_update").iter().map(|told| &told["title"]).collect();
                assert_eq!(told, ["First question"], "{kind}, {method}, {time}");
            }
            stack.close();
        }
    }
}

#[test]
fn two_windows_through_two_layers_are_shown_each_others_turns_once() {
    for kind in KINDS {
        for is_one_store in [false, true] {
            let (outer, inner) = (Memory::new(), Memory::new());
            let (stores, world) = (if is_one_store { [&outer; 2] } else { [&outer, &inner] }, World::unrecorded());
            let bottom = || Bottom { capabilities: serde_json::from_str(kind).unwrap(), ..Bottom::default() };
            let (mut one, mut two) = (bottom(), bottom());
            let mut first = Stack::ready(stores, &world, &mut one);
            let out = first.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
            let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
            first.prompt(&id, "First question");
            two.sessions.clone_from(&first.bottom.sessions);
            let mut second = Stack::ready(stores, &world, &mut two);
            second.load(&id, &Value::Null);
            // An instance that has taken over knows as well whose the client's store is.
            let memos = std::mem::take(&mut second.inner.memos);
            second.inner = Desk::carry_on(stores[1], &world, &[], memos, Vec::new());
            second.prompt(&id, "Second question");
            let out = first.settle(Out::default());
            let told = ["> Second question", "Re: Second question"];
            assert_eq!(shown(&out), told, "{kind}, one store: {is_one_store}");
            first.prompt(&id, "Third question");
            assert_eq!(first.bottom.told("Re: Second question"), 1, "{kind}, one store: {is_one_store}");
            assert_eq!(first.bottom.told("Re: First question"), 0, "{kind}, one store: {is_one_store}");
            let all =
                [&["> First question", "Re: First question"], &told[..], &["> Third question", "Re: Third question"]];
            let is_whole = |stack: &mut Stack<'_>| {
                let out = stack.load(&id, &Value::Null);
                assert_eq!(said(&out.client), all.concat(), "{kind}, one store: {is_one_store}");
                assert!(!format!("{:?}", out.client).contains("elsewhere"), "{kind}, one store: {is_one_store}");
            };
            is_whole(&mut first);
            is_whole(&mut second);
            first.close();
            second.close();
            let mut again = Stack::ready(stores, &world, &mut one);
            is_whole(&mut again);
            let inner = again.inner.ask("session/list", json!({}))["result"]["sessions"].clone();
            assert_eq!(inner.as_array().unwrap().len(), 1, "{kind}");
        }
    }
}

/// How a window's turn stands when another window prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// It has failed, and both had the session open.
    Failed,
    /// It is under way, and the other has just opened the session.
    UnderWay,
    /// Both have had one, and the session is forked then.
    Forked,
}

#[test]
fn an_agent_behind_two_layers_is_told_once_what_other_windows_have_said() {
    for (kind, beside) in
        KINDS.iter().flat_map(|kind| [Beside::Failed, Beside::UnderWay, Beside::Forked].map(|beside| (kind, beside)))
    {
        let ([outer, inner], world) = ([(); 2].map(|()| Memory::new()), World::unrecorded());
        let bottom = || Bottom { capabilities: serde_json::from_str(kind).unwrap(), ..Bottom::default() };
        let (mut one, mut two) = (bottom(), bottom());
        let mut first = Stack::ready([&outer, &inner], &world, &mut one);
        let out = first.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
        let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
        first.prompt(&id, "First question");
        two.sessions.clone_from(&first.bottom.sessions);
        let mut second = Stack::ready([&outer, &inner], &world, &mut two);
        if beside != Beside::UnderWay {
            second.load(&id, &Value::Null);
        }
        first.bottom.does = match beside {
            Beside::Failed => Does::Fails,
            Beside::UnderWay => Does::Nothing,
            Beside::Forked => Does::Answers,
        };
        let prompt = json!([{"type": "text", "text": "Second question"}]);
        first.ask("session/prompt", json!({"sessionId": id, "prompt": prompt}));
        if beside == Beside::UnderWay {
            second.load(&id, &Value::Null);
        }
        let mut asked = id.clone();
        if beside == Beside::Forked {
            second.prompt(&id, "Another question");
            let out = second.ask("session/fork", json!({"sessionId": id, "cwd": CWD}));
            out.answer("session/fork")["result"]["sessionId"].as_str().unwrap().clone_into(&mut asked);
        }
        let before = second.bottom.told("User: Second question");
        second.prompt(&asked, "Third question");
        let told = second.bottom.told("User: Second question") - before;
        assert!(told <= 1, "{kind}, {beside:?}: {told} times");
        first.close();
        second.close();
        // The account is nobody's words, in neither store.
        for store in [&outer, &inner] {
            let mut desk = Desk::open(store, &world, &[]);
            desk.greet(Some("bottom"), &json!({}));
            let out = desk.client(json!({"id": "load", "method": "session/load",
                "params": {"sessionId": asked, "cwd": CWD, "mcpServers": []}}));
            let said = said(&out.client).concat();
            assert!(!said.contains("restored for you"), "{kind}, {beside:?}: {said}");
        }
    }
}

#[test]
fn what_was_said_through_a_layer_with_another_store_is_shown_once() {
    // Where two windows have the session open through one store, a load shows it, and each window's client once.
    for (kind, is_beside) in KINDS.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let ([one, two, inner], world) = ([(); 3].map(|()| Memory::new()), World::unrecorded());
        let bottom = || Bottom { capabilities: serde_json::from_str(kind).unwrap(), ..Bottom::default() };
        let (mut first, mut second, mut third) = (bottom(), bottom(), bottom());
        let mut here = Stack::ready([&one, &inner], &world, &mut first);
        let out = here.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
        let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
        here.prompt(&id, "First question");
        second.sessions.clone_from(&here.bottom.sessions);
        let mut there = Stack::ready([&two, &inner], &world, &mut second);
        there.load(&id, &Value::Null);
        third.sessions.clone_from(&here.bottom.sessions);
        let mut beside = is_beside.then(|| {
            let mut beside = Stack::ready([&one, &inner], &world, &mut third);
            beside.load(&id, &Value::Null);
            beside
        });
        there.prompt(&id, "Second question");
        let told: &[&str] = if is_beside { &[] } else { &["> Second question", "Re: Second question"] };
        assert_eq!(shown(&here.settle(Out::default())), told, "{kind}");
        if let Some(beside) = &mut beside {
            assert_eq!(shown(&beside.settle(Out::default())), [""; 0], "{kind}");
        }
        here.prompt(&id, "Third question");
        assert_eq!(here.bottom.told("Re: Second question"), 1, "{kind}");
        here.close();
        there.settle(Out::default());
        there.close();
        if let Some(mut beside) = beside {
            beside.settle(Out::default());
            beside.close();
        }
        let all = ["First", "Second", "Third"].map(|nth| [format!("> {nth} question"), format!("Re: {nth} question")]);
        for stores in [[&one, &inner], [&two, &inner]] {
            for _ in 0..2 {
                let mut again = Stack::ready(stores, &world, &mut first);
                let out = again.load(&id, &Value::Null);
                assert_eq!(said(&out.client), all.concat(), "{kind}, {is_beside}");
                assert!(!format!("{:?}", out.client).contains("elsewhere"), "{kind}");
                again.close();
            }
        }
    }
}

/// The life of a session and of a fork of it.
fn are_as_good_as_one(kind: &str, stores: [&Memory; 2]) {
    let world = World::default();
    let mut bottom = Bottom { capabilities: serde_json::from_str(kind).unwrap(), ..Bottom::default() };
    let mut stack = Stack::ready(stores, &world, &mut bottom);
    let out = stack.ask("session/new", json!({"cwd": CWD, "mcpServers": []}));
    let id = out.answer("session/new")["result"]["sessionId"].as_str().unwrap().to_owned();
    let out = stack.prompt(&id, "First question");
    assert_eq!(said(&out.client), ["Re: First question"], "{kind}");
    stack.prompt(&id, "Second question");
    stack.close();

    let whole = ["> First question", "Re: First question", "> Second question", "Re: Second question"];
    for _ in 0..2 {
        let mut stack = Stack::ready(stores, &world, &mut bottom);
        let rows = stack.rows(json!({}));
        let titles: Vec<&Value> = rows.iter().map(|row| &row["title"]).collect();
        assert_eq!(titles, ["First question"], "{kind}");
        assert_eq!(stack.rows(json!({"_meta": {"acp-sessions": {"search": "second"}}})).len(), 1, "{kind}");
        let out = stack.load(&id, &json!({"last": 1}));
        assert_eq!(said(&out.client), [*whole.last().unwrap()], "{kind}");
        assert_eq!(said(&stack.load(&id, &Value::Null).client), whole, "{kind}: live");
        stack.close();
        let mut stack = Stack::ready(stores, &world, &mut bottom);
        let out = stack.load(&id, &Value::Null);
        assert_eq!(said(&out.client), whole, "{kind}");
        let titles = updates(&out, "session_info_update");
        assert!(!titles.is_empty() && titles.iter().all(|told| told["title"] == "First question"), "{kind}");
        stack.close();
    }

    let mut stack = Stack::ready(stores, &world, &mut bottom);
    stack.load(&id, &Value::Null);
    let out = stack.prompt(&id, "Third question");
    assert_eq!(said(&out.client), ["Re: Third question"], "{kind}");
    let told = stack.bottom.told("Re: First question");
    assert_eq!(told, usize::from(!stack.bottom.remembers()), "{kind}: told of it once, where it has forgotten");
    stack.prompt(&id, "Fourth question");
    assert_eq!(stack.bottom.told("Re: First question"), told, "{kind}: and never again");
    let out = stack.load(&id, &Value::Null);
    assert_eq!(said(&out.client).len(), 8, "{kind}");
    stack.close();

    let mut stack = Stack::ready(stores, &world, &mut bottom);
    let out = stack.ask("session/fork", json!({"sessionId": id, "cwd": CWD}));
    let fork = out.answer("session/fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    stack.prompt(&fork, "Only here");
    assert_eq!(said(&stack.load(&fork, &Value::Null).client).len(), 10, "{kind}");
    assert_eq!(said(&stack.load(&id, &Value::Null).client).len(), 8, "{kind}");
    stack.ask("session/set_title", json!({"sessionId": fork, "title": "Mine"}));
    stack.close();

    let mut stack = Stack::ready(stores, &world, &mut bottom);
    let mut titles: Vec<Value> = stack.rows(json!({})).iter().map(|row| row["title"].clone()).collect();
    titles.sort_by_key(Value::to_string);
    assert_eq!(titles.len(), 2, "{kind}: {titles:?}");
    assert_eq!(titles[1], "Mine", "{kind}");
    let mut inner = stack.inner.ask("session/list", json!({}))["result"]["sessions"].clone();
    inner.as_array_mut().unwrap().retain(|row| row["title"] == "Mine");
    assert_eq!(inner.as_array().unwrap().len(), 1, "{kind}: the inner layer has the title too");
    for session in [&id, &fork] {
        let out = stack.ask("session/delete", json!({"sessionId": session}));
        assert_eq!(out.answer("session/delete")["result"], json!({}), "{kind}");
    }
    assert_eq!(stack.rows(json!({})), [] as [Value; 0], "{kind}");
    stack.close();
    let mut stack = Stack::ready(stores, &world, &mut bottom);
    assert_eq!(stack.rows(json!({})), [] as [Value; 0], "{kind}");
    let (inner, warnings) = (stack.inner.listed(), [stack.outer.warnings.clone(), stack.inner.warnings.clone()]);
    assert_eq!((inner, warnings.concat()), (vec![], vec![]), "{kind}");
    let left = stores.map(Memory::counts).map(|(_, entries, texts)| (entries, texts));
    assert_eq!(left, [(0, 0); 2], "{kind}");
}
