//! What was asked for and answered, for all who are at work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::Value;

use crate::scene::Scene;
use crate::torture::chance::Chance;
use crate::torture::command::run;

/// Everything that anybody knows.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    sessions: Mutex<BTreeMap<String, Session>>,
    running: Mutex<BTreeSet<u32>>,
}

/// One session.
#[derive(Debug, Default, Clone)]
struct Session {
    /// What was said in turns that ended well.
    said: Vec<String>,
    /// It was said in a turn of which nobody knows how it ended.
    perhaps: Vec<String>,
    deleted: Deleted,
}

/// Whether a session was deleted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Deleted {
    #[default]
    No,
    /// It was asked for, and nothing was heard of it.
    Perhaps,
    Yes,
}

impl Ledger {
    fn with<T>(&self, id: &str, change: impl FnOnce(&mut Session) -> T) -> T {
        change(self.sessions.lock().expect("no worker panics here").entry(id.to_owned()).or_default())
    }

    pub(super) fn made(&self, id: &str) {
        self.with(id, |_| ());
    }

    /// A fork of a session in which all this was said.
    pub(super) fn forked(&self, id: &str, said: Vec<String>) {
        self.with(id, |session| session.said = said);
    }

    /// What was said in a session so far, for sure.
    pub(super) fn said_in(&self, id: &str) -> Vec<String> {
        self.with(id, |session| session.said.clone())
    }

    pub(super) fn asked(&self, id: &str, word: &str) {
        self.with(id, |session| session.perhaps.push(word.to_owned()));
    }

    pub(super) fn answered(&self, id: &str, word: &str) {
        self.with(id, |session| {
            session.perhaps.retain(|other| other != word);
            session.said.push(word.to_owned());
        });
    }

    pub(super) fn to_be_deleted(&self, id: &str) {
        self.with(id, |session| {
            if session.deleted == Deleted::No {
                session.deleted = Deleted::Perhaps;
            }
        });
    }

    pub(super) fn deleted(&self, id: &str) {
        self.with(id, |session| session.deleted = Deleted::Yes);
    }

    /// Any session that nobody has asked to delete.
    pub(super) fn any(&self, chance: &mut Chance) -> Option<String> {
        let sessions = self.sessions.lock().expect("no worker panics here");
        let there: Vec<&String> =
            sessions.iter().filter(|(_, session)| session.deleted == Deleted::No).map(|(id, _)| id).collect();
        (!there.is_empty()).then(|| there[chance.below(there.len())].clone())
    }

    pub(super) fn started(&self, pid: u32) {
        self.running.lock().expect("no worker panics here").insert(pid);
    }

    /// It is not to be disturbed any more; waits while it is.
    pub(super) fn ended(&self, pid: u32) {
        self.running.lock().expect("no worker panics here").remove(&pid);
    }

    /// Does something to a program that runs, and does not end meanwhile.
    pub(super) fn with_running(&self, chance: &mut Chance, act: impl FnOnce(u32)) {
        let running = self.running.lock().expect("no worker panics here");
        if !running.is_empty()
            && let Some(pid) = running.iter().nth(chance.below(running.len()))
        {
            act(*pid);
        }
    }

    pub(super) fn summary(&self) -> String {
        let sessions = self.sessions.lock().expect("no worker panics here");
        let of = |deleted| sessions.values().filter(|session| session.deleted == deleted).count();
        let turns: usize = sessions.values().map(|session| session.said.len()).sum();
        format!("{} sessions, {} of them deleted, {turns} turns that ended well", sessions.len(), of(Deleted::Yes))
    }

    /// What is not as it should be, while nobody is at work. What nobody knew is known then.
    pub(super) fn missing(&self, scene: &Scene) -> Vec<String> {
        let mut missing = Vec::new();
        if let Err(complaint) = run(scene, &["doctor", "--json"]) {
            missing.push(format!("doctor finds faults: {complaint}"));
        }
        let rows = run(scene, &["list", "--json", "--archived", "include", "--limit", "100000"]);
        let rows = rows.unwrap_or_else(|complaint| {
            missing.push(format!("no list: {complaint}"));
            String::new()
        });
        let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).expect("a row")).collect();
        let listed: BTreeSet<&str> = rows.iter().filter_map(|row| row["sessionId"].as_str()).collect();
        for (id, session) in self.sessions.lock().expect("no worker panics here").iter_mut() {
            let is_listed = listed.contains(id.as_str());
            if session.deleted == Deleted::Perhaps {
                session.deleted = if is_listed { Deleted::No } else { Deleted::Yes };
            }
            let is_deleted = session.deleted == Deleted::Yes;
            if is_deleted && is_listed {
                missing.push(format!("{id} was deleted and is listed"));
            }
            if is_deleted || session.said.is_empty() {
                continue;
            }
            if !is_listed {
                missing.push(format!("{id} is not listed, {session:?}"));
            }
            match run(scene, &["show", "--json", id]) {
                Ok(shown) => missing.extend(session.compare(&shown).into_iter().map(|found| format!("{id}: {found}"))),
                Err(complaint) => missing.push(format!("{id} is not shown: {complaint}")),
            }
        }
        missing
    }
}

impl Session {
    /// What is wrong with what is shown of it.
    fn compare(&mut self, shown: &str) -> Vec<String> {
        let updates = shown.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let prompts: Vec<String> = updates
            .filter(|update| update["sessionUpdate"] == "user_message_chunk")
            .filter_map(|update| Some(update["content"]["text"].as_str()?.to_owned()))
            .collect();
        let times = |word: &String| prompts.iter().filter(|prompt| prompt.contains(word.as_str())).count();
        let said = self.said.iter().filter(|word| times(word) != 1);
        let mut wrong: Vec<String> =
            said.map(|word| format!("{word} was said, and is there {} times", times(word))).collect();
        let twice = self.perhaps.iter().filter(|word| times(word) > 1);
        wrong.extend(twice.map(|word| format!("{word} is there {} times", times(word))));
        // What is there by now stays.
        let there: Vec<String> =
            std::mem::take(&mut self.perhaps).into_iter().filter(|word| times(word) == 1).collect();
        self.said.extend(there);
        wrong
    }
}
