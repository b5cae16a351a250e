//! What a case of the contract is made of, and what its short forms stand for.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use acp_sessions_guest::storage::Write;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::Call;
use super::state::State;
use crate::case::WriteBy;

/// How much there is beside what is asked for, where the work is measured.
pub const SMALL: u32 = 500;
/// The same where there is much.
pub const LARGE: u32 = 4000;

/// One case.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Case {
    pub(super) about: String,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    /// Instead of steps.
    #[serde(skip)]
    pub(super) cost: Option<Cost>,
}

/// One step of a case.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Step {
    /// The storage's author brings it into a state.
    Turn(Turn),
    /// A function is called.
    Call(Called),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    pub(super) turns: State,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Called {
    pub(super) call: Call,
    pub(super) returns: Value,
}

/// What is written, still in its short form, and what is called then.
#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    start: Value,
    fill: Value,
    pub(super) call: Call,
    pub(super) returns: Value,
}

impl Case {
    /// Whether it is one for a storage which lacks this.
    pub(super) fn is_of(&self, lacks: &[&str]) -> bool {
        let is_lacking = |ability: &String| lacks.contains(&ability.as_str());
        self.lacks.iter().all(is_lacking) && !self.needs.iter().any(is_lacking)
    }

    /// Whether it says that it needs each state which it brings a storage into.
    fn says_its_states(&self) -> bool {
        self.steps.iter().all(|step| match step {
            Step::Turn(turn) => self.needs.iter().any(|need| need == turn.turns.name()),
            Step::Call(_) => true,
        })
    }
}

impl Cost {
    pub(super) fn writes(&self, size: u32) -> [Vec<Write>; 2] {
        [&self.start, &self.fill].map(|writes| {
            let writes: Vec<WriteBy> = serde_json::from_value(expand(writes, size, None)).expect("writes");
            writes.into_iter().map(Write::from).collect()
        })
    }
}

/// All cases by their names, in order.
pub(super) fn cases() -> io::Result<Vec<(String, Case)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/storage");
    let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                found.push((path.strip_prefix(&root).unwrap_or(&path).display().to_string(), read(&path)?));
            }
        }
    }
    found.sort_by(|(name, _), (other, _)| name.cmp(other));
    Ok(found)
}

fn read(path: &PathBuf) -> io::Result<Case> {
    let mut case: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    for name in ["steps", "call", "returns"] {
        if let Some(short) = case.get_mut(name) {
            *short = expand(short, SMALL, None);
        }
    }
    let wrong = |error: &dyn Display| io::Error::other(format!("{}: {error}", path.display()));
    let cost = case.get("call").map(|_| serde_json::from_value(case.clone())).transpose();
    let cost = cost.map_err(|error| wrong(&error))?;
    let mut case: Case = serde_json::from_value(case).map_err(|error| wrong(&error))?;
    case.cost = cost;
    if !case.says_its_states() {
        return Err(wrong(&"it needs a state that it does not name"));
    }
    if case.cost.is_some() == case.steps.is_empty() { Ok(case) } else { Err(wrong(&"it does nothing, or two things")) }
}

/// What a value stands for: `size` for a count that says so, `number` for `{n}`.
fn expand(value: &Value, size: u32, number: Option<u64>) -> Value {
    match value {
        Value::String(text) => match number {
            Some(number) if text == "{n}" => number.into(),
            Some(number) => text.replace("{n}", &number.to_string()).into(),
            None => value.clone(),
        },
        Value::Array(values) => values.iter().flat_map(|value| elements(value, size, number)).collect(),
        Value::Object(members) => {
            if let (Some(Value::String(text)), Some(times)) = (members.get("repeat"), members.get("times")) {
                let times = times.as_u64().and_then(|times| usize::try_from(times).ok());
                return text.repeat(times.unwrap_or_default()).into();
            }
            let member = |(name, value): (&String, &Value)| (name.clone(), expand(value, size, number));
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

/// What stands in a list for one or many.
fn elements(value: &Value, size: u32, number: Option<u64>) -> Vec<Value> {
    let (Some(count), Some(of)) = (value.get("count"), value.get("of")) else {
        return vec![expand(value, size, number)];
    };
    let count = count.as_u64().unwrap_or_else(|| size.into());
    let from = value["from"].as_u64().unwrap_or_default();
    (from..from + count).map(|number| expand(of, size, Some(number))).collect()
}
