//! An agent that is faster than anything behind it: raw lines, nothing kept. A prompt is answered with updates of 1 KiB
//! one after the other, until it is cancelled or the number that the prompt says is reached. The answer says under
//! `_meta.sent` how many there were.

use std::io::{self, BufRead as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

const SESSION: &str = "flood";

/// Bytes of text in each update.
const BYTES: usize = 1024;

fn say(message: &Value) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(format!("{message}\n").as_bytes())?;
    output.flush()
}

fn answer(id: &Value, result: &Value) -> io::Result<()> {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Sends updates as fast as they are taken.
fn flood(id: &Value, most: u64, cancelled: &AtomicBool) -> io::Result<()> {
    let content = json!({"type": "text", "text": "x".repeat(BYTES)});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let update =
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION, "update": update}});
    let line = format!("{update}\n");
    let mut sent = 0;
    while sent < most && !cancelled.load(Ordering::SeqCst) {
        io::stdout().lock().write_all(line.as_bytes())?;
        sent += 1;
    }
    let reason = if sent < most { "cancelled" } else { "end_turn" };
    answer(id, &json!({"stopReason": reason, "_meta": {"sent": sent}}))
}

fn main() -> io::Result<()> {
    let cancelled = Arc::new(AtomicBool::new(false));
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") => {
                answer(&id, &json!({"protocolVersion": 1, "agentInfo": {"name": "flood-agent", "version": "1"}}))?;
            }
            Some("session/new") => answer(&id, &json!({"sessionId": SESSION}))?,
            Some("session/prompt") => {
                let most = message["params"]["prompt"][0]["text"].as_str().and_then(|text| text.parse().ok());
                let cancelled = Arc::clone(&cancelled);
                thread::spawn(move || flood(&id, most.unwrap_or(1), &cancelled));
            }
            Some("session/cancel") => cancelled.store(true, Ordering::SeqCst),
            Some(_) if !id.is_null() => answer(&id, &json!({}))?,
            _ => {}
        }
    }
    Ok(())
}
