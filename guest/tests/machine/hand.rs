//! How lines are written: by the letter, or as some programs do that were written by hand. What is meant is the same.

use std::cell::Cell;

use serde_json::{Value, json};

/// How the lines of a case are written.
#[derive(Debug)]
pub(crate) struct Hand {
    is_free: bool,
    written: Cell<usize>,
}

impl Hand {
    /// One case in four is written freely. No dice are thrown for it, so that the case is otherwise the same.
    pub(crate) fn of(seed: u64) -> Self {
        Self { is_free: seed % 4 == 3, written: Cell::new(0) }
    }

    /// A line of the agent's.
    pub(crate) fn of_agent(&self, line: String) -> String {
        let Some((message, nth)) = self.freely(&line) else { return line };
        match nth % 9 {
            0 => spelled_otherwise(message).to_string(),
            1 => format!("[{line}]"),
            _ => slightly_off(&line, message, nth),
        }
    }

    /// A line of the client's.
    pub(crate) fn of_client(&self, line: String) -> String {
        match self.freely(&line) {
            Some((message, nth)) => slightly_off(&line, message, nth),
            None => line,
        }
    }

    fn freely(&self, line: &str) -> Option<(Value, usize)> {
        let message = serde_json::from_str::<Value>(line).ok().filter(|message| self.is_free && message.is_object())?;
        self.written.set(self.written.get() + 1);
        Some((message, self.written.get()))
    }
}

/// The same answer under its id in another spelling.
fn spelled_otherwise(mut message: Value) -> Value {
    if message["method"].is_null()
        && let Some(id) = message["id"].as_i64()
    {
        let with_a_fraction = i32::try_from(id).map(f64::from);
        message["id"] = with_a_fraction.ok().filter(|_| id % 2 == 1).map_or_else(|| json!(id.to_string()), Value::from);
    }
    message
}

fn slightly_off(line: &str, mut message: Value, nth: usize) -> String {
    match nth % 7 {
        0 => {
            message.as_object_mut().map(|members| members.remove("jsonrpc"));
        }
        1 => message["jsonrpc"] = json!(2.0),
        2 if message.get("result").is_some() || message.get("method").is_some() => message["error"] = Value::Null,
        3 if message.get("error").is_some() || message.get("method").is_some() => message["result"] = Value::Null,
        4 if message.get("method").is_none() => message["method"] = Value::Null,
        // What comes later in the line counts.
        5 if message.get("id").is_some() => return format!("{{\"id\":\"nobody's\",{}", &line[1..]),
        _ => return line.to_owned(),
    }
    message.to_string()
}

#[test]
fn what_is_written_freely_differs() {
    let line = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string();
    let (by_the_letter, freely) = (Hand::of(4), Hand::of(7));
    let differ = |hand: &Hand| (0..63).filter(|_| hand.of_agent(line.clone()) != line).count();
    assert_eq!(differ(&by_the_letter), 0);
    assert!(differ(&freely) > 30);
}
