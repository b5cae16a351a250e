//! The built component behind a connection: requests in, answers out.

use acp_sessions::component::connection::{Arrival, Content, Output, Peer, Setting};
use acp_sessions::component::{Component, Instance};
use acp_sessions::store::Sqlite;
use acp_sessions_adapter::Lent;
use acp_sessions_guest::storage as native;
use acp_sessions_model::{AGENTS, Change, Lister, Native, Refusal, write};
use serde_json::{Value, json};

/// An initialised connection over a store of its own.
pub(crate) struct Desk<'c> {
    instance: Instance<'c, Lent<Sqlite>>,
    /// The same store, for changes that no client can make: with times of their own choosing, or by other agents.
    library: Native<Lent<Sqlite>>,
    asked: u64,
}

impl<'c> Desk<'c> {
    pub(crate) fn new(component: &'c Component<Lent<Sqlite>>) -> Self {
        let store = Lent::new(Sqlite::builder().in_memory().build().expect("a store"));
        let mut instance = component.instantiate(store.clone()).expect("an instance");
        let setting = |name: &str, value: &str| Setting { name: name.to_owned(), value: value.to_owned() };
        // Nothing may go by itself: the model knows nothing of retention.
        let settings = [setting("page-size", "100"), setting("prune-empty-hours", "0")];
        instance.connect(&settings, &[], &[]).expect("no trap").expect("open");
        let mut desk = Self { instance, library: Native::new(store), asked: 0 };
        desk.initialize();
        desk
    }

    fn give(&mut self, peer: Peer, line: &Value) -> Vec<Output> {
        let content = Content::Line(line.to_string());
        let step = self.instance.receive(&[Arrival { peer, content }], 1 << 30).expect("no trap");
        assert!(!step.more, "nothing is replayed");
        step.outputs
    }

    fn initialize(&mut self) {
        // The rows that the library gives have the members of the draft of list extensions too.
        let params = json!({"protocolVersion": 1, "clientCapabilities": {"session": {"listChanged": {}}}});
        let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let to_agent = self.give(Peer::Client, &request).into_iter().find_map(|output| match output {
            Output::ToAgent(line) => serde_json::from_str::<Value>(&line).ok(),
            _ => None,
        });
        let id = to_agent.expect("`initialize` for the agent")["id"].take();
        let info = json!({"name": AGENTS[0], "version": "1"});
        let result = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}});
        self.give(Peer::Agent, &json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Refusal> {
        self.asked += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        let outputs = self.give(Peer::Client, &request);
        let answers = outputs.into_iter().filter_map(|output| match output {
            Output::ToClient(line) => serde_json::from_str::<Value>(&line).ok(),
            _ => None,
        });
        let mut answer = answers.into_iter().find(|line| line["id"] == self.asked).expect("an answer");
        match answer.get("error") {
            None => Ok(answer["result"].take()),
            Some(error) => Err(Refusal {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
            }),
        }
    }
}

impl Lister for Desk<'_> {
    fn apply(&mut self, change: &Change) {
        let (method, params) = match change {
            Change::Create(_)
            | Change::Touch { .. }
            | Change::Prompt { .. }
            | Change::Know { .. }
            | Change::Undate { .. } => {
                return self.library.apply(change);
            }
            Change::Rename { id, title } => ("session/set_title", json!({"sessionId": id, "title": write(title)})),
            Change::Archive { id, archived: true } => ("session/archive", json!({ "sessionId": id })),
            Change::Archive { id, archived: false } => ("session/unarchive", json!({ "sessionId": id })),
            Change::Delete { id } => ("session/delete", json!({ "sessionId": id })),
        };
        self.ask(method, &params).expect("a change");
    }

    fn list(&mut self, params: &Value) -> Result<Value, Refusal> {
        self.ask("session/list", params)
    }
}

/// The library over a store of the host: what the component is compared with.
pub(crate) fn library() -> Native<impl native::Storage> {
    Native::new(Lent::new(Sqlite::builder().in_memory().build().expect("a store")))
}
