//! What all packages play: the parts of `bench/workload.json`, in which `{n}` stands for the number of a session.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::sizes::Sizes;
use crate::workspace;

/// Every so many-th session has the word in it that is searched for.
const RARE: usize = 50;

/// The parts, as they stand in the file.
pub(super) struct Workload {
    room: u64,
    parts: Map<String, Value>,
    sizes: Sizes,
}

/// What a driver is told to play, as it reads it.
#[derive(Debug, Clone)]
pub(super) struct Part(pub(super) Value);

impl Workload {
    pub(super) fn read(sizes: Sizes) -> Result<Self> {
        let path = workspace::root().join("bench/workload.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut file: Value = serde_json::from_str(&text).context("the workload is no JSON")?;
        let room = file["room"].as_u64().context("the workload does not say how much room there is")?;
        let Value::Object(parts) = file["parts"].take() else { anyhow::bail!("the workload has no parts") };
        Ok(Self { room, parts, sizes })
    }

    /// The session that updates are recorded in.
    pub(super) fn recorded(&self) -> usize {
        self.sizes.sessions - 1
    }

    /// The one that is loaded.
    pub(super) fn loaded(&self) -> usize {
        self.sizes.sessions - 2
    }

    /// How many of the others have the rare word in them.
    pub(super) fn rare(&self) -> usize {
        self.loaded().div_ceil(RARE)
    }

    /// These parts one after the other, of the session of that number.
    pub(super) fn part(&self, names: &[&str], session: usize) -> Result<Part> {
        Ok(self.of(&self.lines(names, session)?))
    }

    /// Fills the store but for the session that is recorded in: a turn in each, and in the one that is loaded so many updates that
    /// no two can be joined.
    pub(super) fn fill(&self) -> Result<Vec<Part>> {
        let (mut talked, mut closed) = (Vec::new(), Vec::new());
        for session in 0..self.loaded() {
            let reply = if session.is_multiple_of(RARE) { "rare reply" } else { "reply" };
            talked.extend(self.lines(&["begin", "prompt", reply, "end"], session)?);
            closed.extend(self.lines(&["close"], session)?);
        }
        let loaded = self.loaded();
        closed.extend(self.lines(&["close"], loaded)?);
        Ok(vec![
            self.of(&talked).idle(100),
            self.part(&["begin", "prompt"], loaded)?,
            self.part(&["two updates"], loaded)?.times(self.sizes.loaded / 2).idle(100),
            self.part(&["end"], loaded)?,
            // By now nobody has any of them open.
            self.of(&closed).answered(),
            self.part(&["begin"], self.recorded())?,
        ])
    }

    fn of(&self, lines: &[Value]) -> Part {
        Part(json!({"lines": lines, "room": self.room}))
    }

    /// As drivers take them: whose each line is, and the line.
    fn lines(&self, names: &[&str], session: usize) -> Result<Vec<Value>> {
        let mut lines = Vec::new();
        for name in names {
            let part = self.parts.get(*name).and_then(Value::as_array);
            for said in part.with_context(|| format!("the workload has no `{name}`"))? {
                let mut message = Map::from_iter([("jsonrpc".to_owned(), json!("2.0"))]);
                message.extend(said[1].as_object().cloned().context("a message is an object")?);
                let line = Value::Object(message).to_string().replace("{n}", &session.to_string());
                lines.push(json!([said[0], line]));
            }
        }
        Ok(lines)
    }
}

impl Part {
    /// All of it several times.
    pub(super) fn times(self, times: usize) -> Self {
        self.with("times", json!(times))
    }

    /// After so many lines each it is time to write.
    pub(super) fn idle(self, lines: usize) -> Self {
        self.with("idle", json!(lines))
    }

    /// What the engine asks of the agent by itself is answered.
    pub(super) fn answered(self) -> Self {
        self.with("answered", json!(true))
    }

    /// In a page that is opened for it.
    pub(super) fn in_new_page(self) -> Self {
        self.with("start", json!(true))
    }

    fn with(mut self, member: &str, value: Value) -> Self {
        self.0[member] = value;
        self
    }
}
