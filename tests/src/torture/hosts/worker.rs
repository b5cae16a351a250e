//! Somebody at work: requests of every kind, commands, and programs that are killed in the midst of it.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::clock::Clock;
use super::ledger::Ledger;
use crate::client::Client;
use crate::scene::Scene;
use crate::torture::chance::Chance;
use crate::torture::command::run;

/// What agents can do to open a session again; the first is the program's own.
const AGENTS: [Option<&[&str]>; 3] = [None, Some(&[]), Some(&["--resume"])];

/// How long after a request the program is killed at most, in microseconds.
const LATEST_KILL: usize = 30_000;

/// Who is at it.
pub(super) struct Worker<'a> {
    scene: &'a Scene,
    ledger: &'a Ledger,
    clock: &'a Clock,
    chance: Chance,
    worked: Worked,
}

/// How much was done.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Worked {
    pub(super) requests: usize,
    pub(super) refused: usize,
    pub(super) kills: usize,
    pub(super) commands: usize,
}

impl Worked {
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.refused += other.refused;
        self.kills += other.kills;
        self.commands += other.commands;
    }
}

/// A running program and the sessions that are open in it.
struct Program {
    client: Client,
    open: BTreeSet<String>,
}

/// What may be asked for, and what its answer means.
enum Asked {
    New,
    Said { session: String, word: String },
    Forked { said: Vec<String> },
    Deleted { session: String },
    Other,
}

impl<'a> Worker<'a> {
    pub(super) fn new(scene: &'a Scene, ledger: &'a Ledger, clock: &'a Clock, seed: u64) -> Self {
        Self { scene, ledger, clock, chance: Chance::new(seed), worked: Worked::default() }
    }

    /// Works until so many of its programs were killed.
    pub(super) fn work(mut self, kills: usize) -> Worked {
        while self.worked.kills < kills {
            let mut program = self.start();
            let is_killed = !self.chance.one_in(4);
            for _ in 0..=self.chance.below(12) {
                self.request(&mut program);
                if self.chance.one_in(8) {
                    self.command();
                }
            }
            if is_killed {
                self.kill(program);
            } else {
                self.ledger.ended(program.client.pid());
                program.client.close();
            }
        }
        self.worked
    }

    fn start(&mut self) -> Program {
        let launch = match AGENTS[self.chance.below(AGENTS.len())] {
            None => self.scene.builtin(&[]),
            Some(flags) => self.scene.proxy(&["--list", "all"], flags),
        };
        let client = Client::ready(&self.clock.rules(launch)).unchecked();
        self.ledger.started(client.pid());
        Program { client, open: BTreeSet::new() }
    }

    /// Asks for something and waits for the answer.
    fn request(&mut self, program: &mut Program) {
        let Some((asked, method, params)) = self.next(program) else { return };
        let outcome = program.client.request(method, params);
        self.worked.requests += 1;
        match outcome {
            Err(_) => self.worked.refused += 1,
            Ok(result) => self.note(asked, &result, program),
        }
    }

    /// Asks for something and kills the program before long.
    fn kill(&mut self, mut program: Program) {
        if let Some((_, method, params)) = self.next(&mut program) {
            program.client.send_request(method, params);
        }
        thread::sleep(Duration::from_micros(self.chance.below(LATEST_KILL) as u64));
        self.ledger.ended(program.client.pid());
        program.client.kill();
        self.worked.kills += 1;
    }

    /// What to ask for next, if a session that it needs can be had.
    fn next(&mut self, program: &mut Program) -> Option<(Asked, &'static str, Value)> {
        let place = |session: &str| self.scene.place(session);
        let Some(session) = self.ledger.any(&mut self.chance).filter(|_| !self.chance.one_in(6)) else {
            return Some((Asked::New, "session/new", json!({"cwd": self.scene.cwd(), "mcpServers": []})));
        };
        match self.chance.below(12) {
            0 => {
                self.ledger.to_be_deleted(&session);
                Some((Asked::Deleted { session: session.clone() }, "session/delete", json!({"sessionId": session})))
            }
            1 => Some((Asked::Forked { said: self.ledger.said_in(&session) }, "session/fork", place(&session))),
            2 => Some((Asked::Other, "session/set_title", json!({"sessionId": session, "title": self.chance.word()}))),
            3 => Some((Asked::Other, "session/archive", json!({"sessionId": session}))),
            4 => Some((Asked::Other, "session/list", json!({}))),
            5 => Some((Asked::Other, "session/load", place(&session))),
            _ => {
                if !program.open.contains(&session) {
                    let method = if self.chance.one_in(2) { "session/load" } else { "session/resume" };
                    self.worked.requests += 1;
                    if program.client.request(method, place(&session)).is_err() {
                        self.worked.refused += 1;
                        return None;
                    }
                    program.open.insert(session.clone());
                }
                let word = self.chance.word();
                self.ledger.asked(&session, &word);
                let prompt = json!([{"type": "text", "text": format!("{word} and so on")}]);
                let params = json!({"sessionId": session, "prompt": prompt});
                Some((Asked::Said { session, word }, "session/prompt", params))
            }
        }
    }

    fn note(&mut self, asked: Asked, result: &Value, program: &mut Program) {
        let id = result["sessionId"].as_str().unwrap_or_default();
        match asked {
            Asked::New => {
                self.ledger.made(id);
                program.open.insert(id.to_owned());
            }
            Asked::Forked { said } => {
                self.ledger.forked(id, said);
                program.open.insert(id.to_owned());
            }
            // A turn that could not be kept says so.
            Asked::Said { .. } if result["_meta"]["acp-sessions"]["stored"] == false => {}
            Asked::Said { session, word } => self.ledger.answered(&session, &word),
            Asked::Deleted { session } => self.ledger.deleted(&session),
            Asked::Other => {}
        }
    }

    /// A command beside them all.
    fn command(&mut self) {
        let Some(session) = self.ledger.any(&mut self.chance) else { return };
        self.worked.commands += 1;
        let done = match self.chance.below(4) {
            0 => run(self.scene, &["list", "--json"]).map(drop),
            1 => run(self.scene, &["prune", "--older-than", "365d"]).map(drop),
            2 => {
                self.ledger.to_be_deleted(&session);
                let deleted = run(self.scene, &["delete", &session]);
                if deleted.is_ok() {
                    self.ledger.deleted(&session);
                }
                // Another may have been faster.
                Ok(())
            }
            // Sessions come and go under it: what it says of them is for the end.
            _ => {
                drop(run(self.scene, &["doctor", "--json"]));
                Ok(())
            }
        };
        if let Err(complaint) = done {
            panic!("a command beside others fails: {complaint}");
        }
    }
}
