//! The list row: what a page shows of a session, ready to send, kept in the index itself.

use serde_json::json;

use super::session::{Origin, Session};
use crate::time;

/// The parts of the list that are shown or left out as a whole. Each has an index of its own, so that leaving
/// one out costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelf {
    /// Archived sessions.
    pub archived: bool,
    /// Sessions that another session's agent started.
    pub subagent: bool,
}

impl Shelf {
    /// Every shelf.
    pub const ALL: [Self; 4] = [
        Self { archived: false, subagent: false },
        Self { archived: true, subagent: false },
        Self { archived: false, subagent: true },
        Self { archived: true, subagent: true },
    ];

    /// Its letter in keys.
    pub fn letter(self) -> char {
        match (self.archived, self.subagent) {
            (false, false) => 'm',
            (true, false) => 'a',
            (false, true) => 's',
            (true, true) => 'z',
        }
    }
}

/// A row as stored: `<created, 15 digits> <revision, 16 digits> <SessionInfo as JSON>`.
///
/// The JSON begins with `{"sessionId":` and ends with the members of `_meta["acp-sessions"]` and three closing
/// braces, so that members can be added at the root and in there without parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// When the session was created.
    pub created: i64,
    /// The revision that last changed the session.
    pub revision: u64,
    /// `SessionInfo`.
    pub json: &'a str,
}

const CREATED: usize = 15;
const REVISION: usize = 16;

impl<'a> Row<'a> {
    /// The row of a session, as stored.
    pub fn text(session: &Session) -> String {
        let mut info = serde_json::Map::new();
        info.insert("sessionId".to_owned(), json!(session.id));
        info.insert("cwd".to_owned(), json!(session.cwd));
        if let Some(title) = session.title.text() {
            info.insert("title".to_owned(), json!(title));
        }
        if !session.undated {
            info.insert("updatedAt".to_owned(), json!(time::format(session.updated)));
        }
        info.insert("archived".to_owned(), json!(session.archived));
        let mut own = serde_json::Map::new();
        own.insert("createdAt".to_owned(), json!(time::format(session.created)));
        if let Some(agent) = &session.agent {
            own.insert("agent".to_owned(), json!(agent));
        }
        if session.origin == Origin::Agent {
            own.insert("origin".to_owned(), json!("agent"));
        }
        if let Some(parent) = &session.parent {
            own.insert("parent".to_owned(), json!(parent));
        }
        let mut meta = String::new();
        for (key, value) in session.meta.iter().filter(|(key, _)| *key != "acp-sessions") {
            meta.push_str(&json!(key).to_string());
            meta.push(':');
            meta.push_str(value.get());
            meta.push(',');
        }
        let mut info = serde_json::Value::Object(info).to_string();
        info.pop();
        let own = serde_json::Value::Object(own);
        format!("{:015} {:016} {info},\"_meta\":{{{meta}\"acp-sessions\":{own}}}}}", session.created, session.revision)
    }

    /// Reads a stored row; `None` where it is damaged.
    pub fn parse(text: &'a str) -> Option<Self> {
        let created = text.get(..CREATED)?.parse().ok()?;
        let revision = text.get(CREATED + 1..CREATED + 1 + REVISION)?.parse().ok()?;
        let json = text.get(CREATED + REVISION + 2..)?;
        (json.starts_with("{\"sessionId\":") && json.ends_with("}}}")).then_some(Self { created, revision, json })
    }
}
