//! The longest lines that the host lets through, as hard to take as they can be: none brings an instance down, and each
//! leaves room below the limit of its memory.

mod lines;

use acp_sessions::component::connection::{Arrival, Content, Output, Peer};
use acp_sessions::component::{Component, Instance, Limits};
use acp_sessions::store::Sqlite;
use lines::{Line, lines};
use serde_json::{Value, json};

/// What an instance may take for a line, as a part of its limit: the lines that follow come on top.
const MOST: f64 = 0.75;

/// A connection with a turn under way in the session `s1`.
struct Desk<'c> {
    instance: Instance<'c, Sqlite>,
    to_client: Vec<String>,
}

impl<'c> Desk<'c> {
    fn open(component: &'c Component<Sqlite>) -> Self {
        let store = Sqlite::builder().in_memory().build().expect("a store");
        let mut instance = component.instantiate(store).expect("an instance");
        instance.connect(&[], &[], &[]).expect("no trap").expect("open");
        let mut desk = Self { instance, to_client: Vec::new() };
        desk.client(&json!({"id": "init", "method": "initialize", "params": {"protocolVersion": 1}}));
        let capabilities = json!({"loadSession": true});
        let result = json!({"protocolVersion": 1, "agentInfo": {"name": "a", "version": "1"}, "agentCapabilities": capabilities});
        desk.agent(&json!({"id": "init", "result": result}));
        desk.client(&json!({"id": "new", "method": "session/new", "params": {"cwd": "/work", "mcpServers": []}}));
        desk
    }

    fn begin_turn(&mut self) {
        self.agent(&json!({"id": "new", "result": {"sessionId": "s1"}}));
        let prompt = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Go"}]});
        self.client(&json!({"id": "turn", "method": "session/prompt", "params": prompt}));
    }

    fn client(&mut self, message: &Value) {
        self.give(Peer::Client, Content::Line(envelope(message))).expect("no trap");
    }

    fn agent(&mut self, message: &Value) {
        self.give(Peer::Agent, Content::Line(envelope(message))).expect("no trap");
    }

    fn give(&mut self, peer: Peer, content: Content) -> wasmtime::Result<()> {
        let mut step = self.instance.receive(&[Arrival { peer, content }], 1 << 18)?;
        loop {
            self.to_client.extend(step.outputs.into_iter().filter_map(|output| match output {
                Output::ToClient(line) => Some(line),
                _ => None,
            }));
            if !step.more {
                return self.instance.idle().map(|_| ());
            }
            step = self.instance.pull(1 << 18)?;
        }
    }
}

fn envelope(message: &Value) -> String {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    message.to_string()
}

#[test]
fn no_line_within_the_limit_brings_an_instance_down() {
    let limits = Limits::default();
    let component = Component::embedded(limits).expect("an engine");
    let (mut worst, mut too_much) = ((0.0, ""), Vec::new());
    for Line { name, peer, content, is_before_turn } in lines() {
        let mut desk = Desk::open(&component);
        if !is_before_turn {
            desk.begin_turn();
        }
        let before = desk.instance.memory();
        let size = match &content {
            Content::Line(text) | Content::NotText(text) | Content::TooLong(text) | Content::NotBearable(text) => {
                text.len()
            }
        };
        if let Err(trap) = desk.give(peer, content) {
            println!("{:15} MiB: {name}: {}", size >> 20, trap.root_cause());
            too_much.push(name);
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
        let factor = (desk.instance.memory() - before) as f64 / size as f64;
        let memory = desk.instance.memory();
        println!("{factor:6.1} times {:3} MiB, {:3} MiB in all: {name}", size >> 20, memory >> 20);
        if factor > worst.0 {
            worst = (factor, name);
        }
        #[expect(clippy::cast_precision_loss, reason = "some hundred millions")]
        let part = memory as f64 / limits.memory as f64;
        if part >= MOST {
            too_much.push(name);
        }
        // The connection goes on.
        desk.client(&json!({"id": "after", "method": "session/list", "params": {}}));
        assert!(desk.to_client.iter().any(|line| line.contains("\"after\"")), "{name}");
    }
    assert!(too_much.is_empty(), "{too_much:?}");
    println!("worst: {:.1} times its length, {}", worst.0, worst.1);
}
