//! What was promised by the time of a crash, and whether it holds.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::client::Client;
use crate::scene::Scene;
use crate::torture::command::run;

/// What an answer has promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Promise {
    /// A word that was said in a turn can be read in the session, and found.
    Said { session: String, word: String },
    /// The session has this title.
    Titled { session: String, title: String },
    /// It is archived.
    Archived { session: String },
    /// It is gone for everybody.
    Deleted { session: String },
}

impl Promise {
    fn session(&self) -> &str {
        match self {
            Self::Said { session, .. }
            | Self::Titled { session, .. }
            | Self::Archived { session }
            | Self::Deleted { session } => session,
        }
    }
}

/// The promises that hold after a crash.
pub(super) struct Kept<'a> {
    promises: Vec<&'a Promise>,
    /// What was asked for and not answered: it may have happened.
    asked: Option<&'a Promise>,
}

impl<'a> Kept<'a> {
    /// What is to hold after so many events. Each promise has with it how many events there were when it was given.
    pub(super) fn at(promises: &'a [(usize, Promise)], point: usize) -> Self {
        let given = promises.partition_point(|(at, _)| *at <= point);
        let promises_given = promises[..given].iter().map(|(_, promise)| promise).collect();
        Self { promises: promises_given, asked: promises.get(given).map(|(_, promise)| promise) }
    }

    /// The sessions of which it is known whether they are there.
    fn sessions(&self) -> BTreeSet<&str> {
        let sessions = self.promises.iter().map(|promise| promise.session());
        let unsure = self.asked.filter(|asked| matches!(asked, Promise::Deleted { .. })).map(Promise::session);
        sessions.filter(|session| Some(*session) != unsure).collect()
    }

    fn is_deleted(&self, session: &str) -> bool {
        self.promises.iter().any(|promise| matches!(promise, Promise::Deleted { session: gone } if gone == session))
    }

    /// What was said last in a session that is there.
    fn last_said(&self) -> Option<(&str, &str)> {
        let sessions = self.sessions();
        self.promises.iter().rev().find_map(|promise| match promise {
            Promise::Said { session, word } if sessions.contains(session.as_str()) && !self.is_deleted(session) => {
                Some((session.as_str(), word.as_str()))
            }
            _ => None,
        })
    }

    /// Looks at the store of this scene with the program; says what does not hold. `is_worked_on`: and goes on.
    pub(super) fn missing(&self, scene: &Scene, is_worked_on: bool) -> Vec<String> {
        if self.promises.is_empty() && !scene.store().exists() {
            return if is_worked_on { self.going_on(scene) } else { Vec::new() };
        }
        let mut missing = Vec::new();
        let mut expect = |holds: bool, what: String| {
            if !holds {
                missing.push(what);
            }
        };
        let rows = match run(scene, &["list", "--json", "--archived", "include", "--limit", "1000"]) {
            Ok(rows) => rows,
            Err(complaint) => return vec![format!("no list: {complaint}")],
        };
        let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).expect("a row")).collect();
        let row = |session: &str| rows.iter().find(|row| row["sessionId"] == session);
        let doctor = run(scene, &["doctor", "--json"]);
        expect(doctor.is_ok(), format!("doctor finds faults: {doctor:?}"));
        for session in self.sessions() {
            let is_deleted = self.is_deleted(session);
            expect(row(session).is_none() == is_deleted, format!("{session} is listed, or not"));
            let Some(row) = row(session).filter(|_| !is_deleted) else { continue };
            let shown = run(scene, &["show", "--json", session]);
            for promise in self.promises.iter().filter(|promise| promise.session() == session) {
                let holds = match promise {
                    Promise::Said { word, .. } => shown.as_ref().is_ok_and(|text| text.contains(word)),
                    Promise::Titled { title, .. } => row["title"] == *title,
                    Promise::Archived { .. } => is_archived(row),
                    Promise::Deleted { .. } => true,
                };
                expect(holds, format!("{promise:?} does not hold: {row}, {shown:?}"));
            }
        }
        // What else is found is compared by doctor.
        if let Some((session, word)) = self.last_said() {
            let found = run(scene, &["list", "--json", "--archived", "include", "--search", word]);
            let is_found = found.as_ref().is_ok_and(|rows| rows.contains(session));
            expect(is_found, format!("{word} is not found in {session}: {found:?}"));
        }
        if is_worked_on && missing.is_empty() {
            missing.extend(self.going_on(scene));
        }
        missing
    }

    /// Has another turn in a session that is there, and in a new one.
    fn going_on(&self, scene: &Scene) -> Vec<String> {
        let mut client = Client::ready(&scene.builtin(&[]));
        let mut sessions = vec![client.new_session(&scene.cwd())];
        if let Some((session, _)) = self.last_said() {
            client.load(session, &scene.cwd());
            sessions.push(session.to_owned());
        }
        for session in &sessions {
            client.prompt(session, "afterwards");
        }
        client.close();
        let mut missing = Vec::new();
        for session in &sessions {
            let shown = run(scene, &["show", "--json", session]);
            if !shown.as_ref().is_ok_and(|text| text.contains("afterwards")) {
                missing.push(format!("what was said afterwards is not shown in {session}: {shown:?}"));
            }
        }
        if let Err(complaint) = run(scene, &["doctor", "--json"]) {
            missing.push(format!("doctor finds faults afterwards: {complaint}"));
        }
        missing
    }
}

fn is_archived(row: &Value) -> bool {
    row["archived"] == true || row["_meta"]["acp-sessions"]["archived"] == true
}
