//! `story_driver AGENT ARGS…`: performs steps with the official Rust SDK. Reads one a line from its input, and writes for
//! each a line that says what the SDK gave. What a step is and what must come of it is in `acp_sessions_tests::clients`.

mod seat;

use std::io::{self, BufRead};
use std::thread;

use acp_sessions_tests::clients::step::{Outcome, Report, Step, Update};
use agent_client_protocol::Error;
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::executor::block_on;
use serde_json::json;

fn main() -> Result<(), Error> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    if command.is_empty() {
        eprintln!("usage: story_driver AGENT ARGS…");
        std::process::exit(2);
    }
    block_on(drive(&command, steps()))
}

/// The steps as they come, read on a thread of its own so that the SDK goes on meanwhile.
fn steps() -> UnboundedReceiver<Step> {
    let (sender, steps) = unbounded();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let step = serde_json::from_str(&line).unwrap_or_else(|error| panic!("no step ({error}): {line}"));
            if sender.unbounded_send(step).is_err() {
                break;
            }
        }
    });
    steps
}

async fn drive(command: &[String], mut steps: UnboundedReceiver<Step>) -> Result<(), Error> {
    while let Some(step) = steps.next().await {
        assert_eq!(step, Step::Start, "no agent runs");
        let last = seat::play(command, async |seat| {
            let hello = seat.initialize().await?;
            report(Ok(hello), seat.take_updates());
            loop {
                match steps.next().await.expect("a run has an end") {
                    Step::End => return Ok(seat.take_updates()),
                    step => report(seat.perform(step).await, seat.take_updates()),
                }
            }
        });
        report(Ok(json!({})), last.await?);
    }
    Ok(())
}

fn report(result: Result<serde_json::Value, Error>, updates: Vec<Update>) {
    let outcome = match result {
        Ok(result) => Outcome::Result(result),
        Err(error) => Outcome::Error { code: i32::from(error.code).into(), data: error.data.unwrap_or_default() },
    };
    println!("{}", json!(Report { outcome, updates }));
}
