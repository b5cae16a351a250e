//! What is done to an agent's sessions without the layer in front of it, as with the agent's own program: continued,
//! rewound, compacted, renamed, deleted. A running agent sees it with the next request for a list or a session.

use std::path::Path;

use serde_json::{Value, json};

use super::folder::{Folder, Session, now};

/// Somebody who uses the agent without the layer.
#[derive(Debug)]
pub struct Outside(Folder);

impl Outside {
    /// With the agent's own folder.
    pub fn new(folder: &Path) -> Self {
        Self(Folder::new(folder))
    }

    /// Has a conversation in a new session: what the user said, what was answered.
    pub fn have(&self, id: &str, cwd: &str, turns: &[(&str, &str)]) {
        let mut session = Session::new(id, Path::new(cwd));
        for (prompt, answer) in turns {
            session.history.extend(turn(prompt, answer));
        }
        self.0.write(&session);
    }

    /// Goes on with a conversation.
    pub fn say(&self, id: &str, prompt: &str, answer: &str) {
        self.change(id, |session| session.history.extend(turn(prompt, answer)));
    }

    /// Goes back to where so many prompts had been said and answered.
    pub fn rewind(&self, id: &str, turns: usize) {
        self.change(id, |session| {
            let prompts = session.history.iter().enumerate().filter(|(_, update)| is_prompt(update));
            let end = prompts.map(|(place, _)| place).nth(turns);
            session.history.truncate(end.expect("there are more turns than are to be left"));
        });
    }

    /// Puts a summary in the place of all but the last turn.
    pub fn compact(&self, id: &str, summary: &str) {
        self.change(id, |session| {
            let last = session.history.iter().rposition(is_prompt).expect("a turn");
            session.history.splice(..last, [chunk("agent_message_chunk", summary)]);
        });
    }

    /// Gives a session another title.
    pub fn rename(&self, id: &str, title: &str) {
        self.change(id, |session| session.title = Some(title.to_owned()));
    }

    /// Deletes a session for good.
    pub fn delete(&self, id: &str) {
        assert!(self.has(id), "{id} is not the agent's");
        self.0.remove(id);
    }

    /// Whether the agent has this session.
    pub fn has(&self, id: &str) -> bool {
        self.0.has(id)
    }

    /// The ids of all the agent's sessions.
    pub fn all(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.0.all().into_iter().map(|session| session.id).collect();
        ids.sort();
        ids
    }

    /// When the agent's list says that this session was last used.
    pub fn updated(&self, id: &str) -> String {
        self.0.read(id).expect("the agent's session").updated
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Session)) {
        let mut session = self.0.read(id).unwrap_or_else(|| panic!("{id} is not the agent's"));
        change(&mut session);
        session.updated = now();
        self.0.write(&session);
    }
}

fn is_prompt(update: &Value) -> bool {
    update["sessionUpdate"] == "user_message_chunk"
}

fn turn(prompt: &str, answer: &str) -> [Value; 2] {
    [chunk("user_message_chunk", prompt), chunk("agent_message_chunk", answer)]
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}
