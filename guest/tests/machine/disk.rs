//! The sessions that an agent keeps by itself.

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::time;
use acp_sessions_guest::transcript::own_words;
use serde_json::{Value, json};

use crate::talk::{Mark, marks};

pub(crate) const CWD: [&str; 2] = ["/home/x", "/home/y"];

/// Something that was said in a session, as the agent keeps it.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) by_user: bool,
    pub(crate) text: String,
}

/// A session as the agent has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) cwd: String,
    pub(crate) title: Option<String>,
    pub(crate) updated: i64,
    /// The times at which it was changed without the layer.
    pub(crate) changed: BTreeSet<i64>,
    pub(crate) pieces: Vec<Piece>,
    /// What it knows only by a summary.
    pub(crate) summed_up: Vec<Mark>,
    /// It is put away.
    pub(crate) archived: bool,
    /// It was made without the layer.
    pub(crate) outside: bool,
    /// The layer's id for it, as seen from the prompts that came.
    pub(crate) layers: Option<String>,
    /// It was taken back without the layer, and nobody has asked anything since.
    pub(crate) is_cut: bool,
}

impl Kept {
    /// The marks of all that this agent knows.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.pieces.iter().flat_map(|piece| marks(&piece.text)).chain(self.summed_up.iter().copied()).collect()
    }

    /// Those of what it tells itself: without what the layer retold to it, and what it has summed up.
    pub(crate) fn marks_of_its_own(&self) -> Vec<Mark> {
        self.pieces.iter().flat_map(|piece| marks(&own_words::strip(&piece.text))).collect()
    }

    /// It was changed without the layer; its list tells, though the clock may stand still, or have stood there before
    /// (1464102).
    pub(crate) fn change_at(&mut self, now: i64) {
        self.updated = now.max(self.updated + 1);
        while !self.changed.insert(self.updated) {
            self.updated += 1;
        }
    }

    pub(crate) fn row(&self, id: &str, tells_archived: bool) -> Value {
        let mut row = json!({
            "sessionId": id,
            "cwd": self.cwd,
            "title": self.title,
            "updatedAt": time::format(self.updated),
        });
        if tells_archived {
            row["archived"] = self.archived.into();
        }
        row
    }
}

/// Where an agent keeps its sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    pub(crate) sessions: BTreeMap<String, Kept>,
    next: u32,
}

impl Disk {
    /// A new session of this directory; returns its id.
    pub(crate) fn create(&mut self, cwd: &str, now: i64, outside: bool) -> String {
        self.next += 1;
        let id = format!("s{}", self.next);
        let kept = Kept { cwd: cwd.to_owned(), updated: now, outside, ..Kept::default() };
        self.sessions.insert(id.clone(), kept);
        id
    }

    /// Begins so far on that ids are not those of another process.
    pub(crate) fn starting_at(next: u32) -> Self {
        Self { sessions: BTreeMap::new(), next }
    }

    pub(crate) fn id_at(&self, at: u8) -> Option<&String> {
        self.sessions.keys().nth(usize::from(at) % self.sessions.len().max(1))
    }

    /// The answer to `session/list`: two rows a page. Who can archive leaves out what is, unless asked for it.
    pub(crate) fn page(&self, params: &Value, archives: bool) -> Value {
        let from: usize = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let is_asked_for = params["archived"] == "include" || params["archived"] == "all";
        let is_given = |kept: &Kept| !(archives && kept.archived) || is_asked_for;
        let shown: Vec<_> = self.sessions.iter().filter(|(_, kept)| is_given(kept)).collect();
        let rows: Vec<Value> = shown.iter().skip(from).take(2).map(|(id, kept)| kept.row(id, archives)).collect();
        let mut page = json!({ "sessions": rows });
        if from + 2 < shown.len() {
            page["nextCursor"] = (from + 2).to_string().into();
        }
        page
    }
}
