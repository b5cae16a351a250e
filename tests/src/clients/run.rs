//! One run of the agent, from its start to its end, as an official client sees it.

use serde_json::{Value, json};

use super::Sdk;
use super::driver::Driver;
use super::step::{Outcome, Step, Update};

/// A run that goes on.
pub(super) struct Run<'a> {
    sdk: Sdk,
    driver: &'a mut Driver,
    cwd: &'a str,
    hello: Value,
    updates: Vec<Update>,
}

impl<'a> Run<'a> {
    /// Starts the agent for sessions in this directory.
    pub(super) fn start(sdk: Sdk, driver: &'a mut Driver, cwd: &'a str) -> Self {
        let mut run = Self { sdk, driver, cwd, hello: Value::Null, updates: Vec::new() };
        run.hello = run.result(&Step::Start);
        assert_eq!(run.hello["protocolVersion"], 1);
        run
    }

    /// What the agent has said of itself.
    pub(super) fn hello(&self) -> &Value {
        &self.hello
    }

    /// The result of a step that succeeds.
    pub(super) fn result(&mut self, step: &Step) -> Value {
        match self.perform(step) {
            Outcome::Result(result) => result,
            Outcome::Error { code, data } => panic!("{step:?} failed with {code}: {data}"),
        }
    }

    /// The code and data of a step that the agent refuses.
    pub(super) fn error(&mut self, step: &Step) -> (i64, Value) {
        match self.perform(step) {
            Outcome::Result(result) => panic!("{step:?} succeeded: {result}"),
            Outcome::Error { code, data } => (code, data),
        }
    }

    fn perform(&mut self, step: &Step) -> Outcome {
        let report = self.driver.perform(step);
        self.updates.extend(report.updates);
        report.outcome
    }

    /// `session/new`.
    pub(super) fn new_session(&mut self) -> Value {
        let cwd = self.cwd.to_owned();
        self.result(&Step::New { cwd })
    }

    /// `session/load`.
    pub(super) fn load(&mut self, session: &str) -> Value {
        let step = self.load_step(session);
        self.result(&step)
    }

    /// `session/load` of a session that is not there: the error.
    pub(super) fn load_error(&mut self, session: &str) -> (i64, Value) {
        let step = self.load_step(session);
        self.error(&step)
    }

    fn load_step(&self, session: &str) -> Step {
        Step::Load { session_id: session.to_owned(), cwd: self.cwd.to_owned() }
    }

    /// `session/resume`.
    pub(super) fn resume(&mut self, session: &str) -> Value {
        let step = Step::Resume { session_id: session.to_owned(), cwd: self.cwd.to_owned() };
        self.result(&step)
    }

    /// `session/fork`.
    pub(super) fn fork(&mut self, session: &str) -> Value {
        let step = Step::Fork { session_id: session.to_owned(), cwd: self.cwd.to_owned() };
        self.result(&step)
    }

    /// Sends a prompt and does not wait.
    pub(super) fn start_prompt(&mut self, session: &str, text: &str) {
        self.result(&Step::Prompt { session_id: session.to_owned(), text: text.to_owned() });
    }

    /// Sends a prompt and waits for the end of the turn: why it ended.
    pub(super) fn prompt(&mut self, session: &str, text: &str) -> Value {
        self.start_prompt(session, text);
        self.finish()
    }

    /// Waits for the end of the turn: why it ended.
    pub(super) fn finish(&mut self) -> Value {
        self.result(&Step::Finish)["stopReason"].take()
    }

    /// Waits until the agent has said something in this session.
    pub(super) fn hear(&mut self, session: &str) {
        while self.said(session, "agent_message_chunk").is_empty() {
            self.result(&Step::Hear);
        }
    }

    /// All rows of the list, over all its pages.
    pub(super) fn list(&mut self) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.result(&Step::List { cursor });
            rows.extend(page["sessions"].as_array().expect("rows").iter().cloned());
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return rows;
            }
        }
    }

    /// Whether the list has this session.
    pub(super) fn lists(&mut self, session: &str) -> bool {
        self.list().iter().any(|row| row["sessionId"] == session)
    }

    /// The joined text of one kind of chunk in what has come of a session during this run.
    pub(super) fn said(&self, session: &str, chunk: &str) -> String {
        let ours = self.updates.iter().filter(|update| update.session_id == session);
        let chunks = ours.map(|update| &update.update).filter(|update| update["sessionUpdate"] == chunk);
        chunks
            .map(|update| update["content"]["text"].as_str().unwrap_or_else(|| panic!("not text: {update}")))
            .collect()
    }

    /// Hangs up, and the agent ends well.
    pub(super) fn end(mut self) {
        let ended = self.result(&Step::End);
        let expected = if self.sdk.waits_itself() { json!({}) } else { json!({"code": 0}) };
        assert_eq!(ended, expected, "how the agent ended");
    }
}
