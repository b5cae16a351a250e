//! What a client does with sessions.

use serde_json::{Value, json};

use super::Client;

impl Client {
    /// Opens a session in this directory and returns its id.
    pub fn new_session(&mut self, cwd: &str) -> String {
        let result = self.result("session/new", json!({"cwd": cwd, "mcpServers": []}));
        result["sessionId"].as_str().expect("a session id").to_owned()
    }

    /// Sends a prompt, waits for the end of the turn, and returns the updates of the session that came by then.
    pub fn prompt(&mut self, session: &str, text: &str) -> Vec<Value> {
        self.take_updates(session);
        let id = self.start_prompt(session, text);
        self.finish(&id).expect("the turn ends well");
        self.take_updates(session)
    }

    /// Sends a prompt and does not wait.
    pub fn start_prompt(&mut self, session: &str, text: &str) -> Value {
        self.send_request("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    /// Sends a prompt that the test agent waits in until it is cancelled, and waits until it is at it.
    pub fn start_endless(&mut self, session: &str, prompt: &str) -> Value {
        let turn = self.start_prompt(session, prompt);
        self.wait_for_update(session, |update| update["content"]["text"] == "waiting");
        turn
    }

    /// Loads a session: its replay and the result.
    pub fn load(&mut self, session: &str, cwd: &str) -> (Vec<Value>, Value) {
        self.take_updates(session);
        let result = self.result("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
        (self.take_updates(session), result)
    }

    /// All rows of `session/list`, over all its pages.
    pub fn list(&mut self) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.result("session/list", params);
            rows.extend(page["sessions"].as_array().expect("rows").iter().cloned());
            match &page["nextCursor"] {
                Value::Null => return rows,
                cursor => params = json!({"cursor": cursor}),
            }
        }
    }

    /// The ids in the list, in its order.
    pub fn listed(&mut self) -> Vec<String> {
        self.list().iter().map(|row| row["sessionId"].as_str().expect("an id").to_owned()).collect()
    }

    /// The session's row in the list.
    pub fn row(&mut self, session: &str) -> Value {
        self.list().into_iter().find(|row| row["sessionId"] == session).expect("the session is listed")
    }

    /// Waits for an update of the session that is like this.
    pub fn wait_for_update(&mut self, session: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let found = self.inbox.iter().map(|message| &message["params"]);
            let mut found = found.filter(|params| params["sessionId"] == session).map(|params| &params["update"]);
            if let Some(update) = found.find(|update| is_it(update)) {
                return update.clone();
            }
            self.take_in();
        }
    }

    /// The updates of this session that came since they were last taken.
    pub fn take_updates(&mut self, session: &str) -> Vec<Value> {
        let is_ours =
            |message: &Value| message["method"] == "session/update" && message["params"]["sessionId"] == session;
        let (ours, others) = self.inbox.drain(..).partition::<Vec<_>, _>(is_ours);
        self.inbox = others.into();
        ours.into_iter().map(|mut message| message["params"]["update"].take()).collect()
    }
}
