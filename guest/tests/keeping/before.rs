//! Stores as the version before wrote them, whose list rows did not go by agent.

use acp_sessions_guest::index::Owner;
use acp_sessions_guest::storage::{Durability, Memory, Storage, Write};
use acp_sessions_guest::store::{Session, directory, heading, keys};
use serde_json::{Value, json};

use crate::shop::{NOW, entry};

/// A session as that version knew it.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) id: String,
    pub(crate) cwd: &'static str,
    pub(crate) updated: i64,
    pub(crate) archived: bool,
    pub(crate) parent: Option<String>,
    pub(crate) agent: Option<&'static str>,
    pub(crate) prompts: u64,
    pub(crate) meta: Value,
}

impl Before {
    /// A session of an agent with one prompt.
    pub(crate) fn of(agent: &'static str, id: &str, updated: i64) -> Self {
        Self {
            id: id.to_owned(),
            cwd: "/x",
            updated,
            archived: false,
            parent: None,
            agent: Some(agent),
            prompts: 1,
            meta: json!({}),
        }
    }

    fn record(&self, revision: u64) -> Value {
        let mut record = json!({
            "id": self.id, "cwd": self.cwd, "created": self.updated, "updated": self.updated,
            "revision": revision, "born": revision, "title": {"auto": format!("Title of {}", self.id)},
            "agent_id": format!("{}-there", self.id), "origin": "layer", "prompts": self.prompts,
        });
        if let Some(agent) = self.agent {
            record["agent"] = agent.into();
        }
        if let Some(parent) = &self.parent {
            record["parent"] = parent.as_str().into();
        }
        if self.archived {
            record["archived"] = true.into();
        }
        if self.meta != json!({}) {
            record["meta"] = self.meta.clone();
        }
        record
    }

    /// What that version wrote for it in a commit, the revision aside.
    fn writes(&self, revision: u64) -> Vec<Write> {
        let put = |key: String, value: String| Write::Put { key, value };
        let record = self.record(revision).to_string();
        let info = json!({
            "sessionId": self.id, "cwd": self.cwd, "title": format!("Title of {}", self.id),
            "archived": self.archived, "_meta": {"acp-sessions": {"createdAt": "-"}},
        });
        let row = format!("{:015} {revision:016} {info}", self.updated);
        let letter = match (self.archived, self.parent.is_some()) {
            (false, false) => 'm',
            (true, false) => 'a',
            (false, true) => 's',
            (true, true) => 'z',
        };
        let place = format!("{:015}/{}", self.updated, keys::encode(&self.id));
        let cwd = directory::normalise(self.cwd).unwrap();
        let by_directory = keys::older_rows(letter, Some(&cwd)) + &place;
        let session = Session::parse(&record).unwrap();
        let mut writes = vec![
            put(format!("s/{}", keys::encode(&self.id)), record),
            put(format!("i/{letter}/u/{place}"), row.clone()),
            put(by_directory, row),
            put(format!("t/{revision:016}/{}", keys::encode(&self.id)), String::new()),
            Write::IndexText { owner: Owner::Heading(&self.id).name(), part: 0, tokens: heading::tokens(&session) },
        ];
        if self.prompts == 0 {
            writes.push(put(keys::unprompted(self.updated, &self.id), String::new()));
        }
        if let Some(agent) = self.agent {
            writes.push(put(keys::agent_session(agent, &format!("{}-there", self.id)), self.id.clone()));
        }
        writes
    }
}

/// Writes sessions as that version did, each with a revision of its own, on top of those that are there.
pub(crate) fn write(memory: &Memory, sessions: &[Before]) {
    let revision = memory.get(&[keys::REVISION.to_owned()]).unwrap().pop().flatten();
    let mut revision: u64 = revision.map_or(0, |revision| revision.parse().unwrap());
    for session in sessions {
        revision += 1;
        let mut writes = session.writes(revision);
        writes.push(Write::Put { key: keys::REVISION.to_owned(), value: revision.to_string() });
        let seq = memory.log_end(&session.id).unwrap() + 1;
        writes.push(Write::Append { log: session.id.clone(), seq, value: entry(NOW, "walrus") });
        memory.commit(&[], writes, Durability::Relaxed).unwrap();
    }
}
