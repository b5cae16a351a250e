//! What comes to a client.

use serde_json::Value;

use super::{Asked, Client, Heard};
use crate::checks;
use crate::ground::Ground;
use crate::talk::{Life, Mark, marks};

/// What the layer's own account of a conversation begins with.
const DIGEST: &str = "Earlier conversation of this session";

impl Client {
    /// Takes a line.
    pub(crate) fn hear(&mut self, line: &str, ground: &mut Ground) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            ground.broke("envelope", format!("the client was sent {line}"));
            return;
        };
        if self.is_over {
            ground.broke("after-end", format!("the connection has ended, and the client was sent {line}"));
        }
        if line.contains(DIGEST) {
            ground.broke("own-text", format!("the client was sent the layer's own text: {line}"));
        }
        match (message["method"].as_str(), message.get("id")) {
            (Some(_), Some(id)) => {
                if !self.passed.insert(id.to_string()) {
                    ground.broke("permission", format!("the agent's request was passed again: {line}"));
                }
                self.requests.push(id.clone());
            }
            (Some("session/update"), None) => self.updated(&message["params"], line, ground),
            (Some(_), None) => {}
            (None, Some(Value::Null)) => {
                self.nameless -= 1;
                if self.nameless < 0 {
                    ground.broke("answers", format!("nobody asked for {line}"));
                }
            }
            (None, id) => self.answered(&id.map(Value::to_string).unwrap_or_default(), &message, ground),
        }
    }

    fn updated(&mut self, params: &Value, line: &str, ground: &mut Ground) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        if self.deleted.contains(session) {
            ground.broke("deleted", format!("an update of a deleted session: {line}"));
        }
        let seen = marks(&params["update"].to_string());
        let is_elsewhere = params["_meta"]["acp-sessions"]["elsewhere"] == true;
        // What a load has shown counts when it is granted.
        let is_loading = self.windows.iter().any(|window| !window.done && window.session == session);
        // A title repeats what was said.
        let is_said = params["update"]["sessionUpdate"] != "session_info_update";
        if let Some(heard) = self.heard.get_mut(session).filter(|_| is_said && !is_loading) {
            for mark in &seen {
                if !heard.marks.insert(*mark)
                    && is_elsewhere
                    && let Err(broke) = checks::shown_once(&ground.talk, session, *mark)
                {
                    ground.broke(broke.check, broke.text);
                }
            }
        }
        for window in self.windows.iter_mut().filter(|window| !window.done && window.session == session) {
            window.seen.extend(&seen);
        }
    }

    fn answered(&mut self, id: &str, message: &Value, ground: &mut Ground) {
        let error = message.get("error").filter(|error| !error.is_null());
        let Some(open) = self.asked.get_mut(id).filter(|open| !open.is_empty()) else {
            ground.broke("answers", format!("nobody asked for {message}"));
            return;
        };
        let is_second =
            error.is_some_and(|error| error["message"].as_str().is_some_and(|text| text.contains("still open")));
        let asked = if is_second { open.pop() } else { Some(open.remove(0)) };
        if open.is_empty() {
            self.asked.remove(id);
        }
        let Some(asked) = asked else { return };
        match error {
            Some(_) => self.refused(&asked, message, ground),
            None => self.granted(asked, &message["result"], ground),
        }
    }

    fn refused(&mut self, asked: &Asked, message: &Value, ground: &mut Ground) {
        match asked {
            Asked::Load(window) => {
                self.windows[*window].done = true;
                self.windows[*window].refused = message["error"]["code"].as_i64();
                // It may have been open before and may not be any more.
                self.heard.remove(&self.windows[*window].session);
            }
            Asked::Prompt(turn) => {
                // Its agent has ended, and what was said up to then is kept, if nothing else is said of it.
                let error = &message["error"];
                let is_kept = error["message"].as_str().is_some_and(|text| !text.contains("not all"));
                ground.talk.end(*turn, is_kept && !error["data"]["agentEnded"].is_null());
            }
            Asked::Shown => self.shown = Some(message.clone()),
            _ => {}
        }
    }

    fn granted(&mut self, asked: Asked, result: &Value, ground: &mut Ground) {
        match asked {
            Asked::Initialize => self.is_initialized = true,
            Asked::New(known) => {
                let id = result["sessionId"].as_str().unwrap_or_default();
                if id.is_empty() || ground.talk.is_anothers(id, known) {
                    ground.broke("ids", format!("a new session got the id `{id}`"));
                }
                ground.talk.meet(id).is_made_here = true;
                self.heard.insert(id.to_owned(), Heard { since: ground.talk.next_moment(), ..Heard::default() });
                self.open.insert(id.to_owned());
            }
            Asked::Fork(parent, required, known) => {
                let id = result["sessionId"].as_str().unwrap_or_default().to_owned();
                if id.is_empty() || ground.talk.is_anothers(&id, known) {
                    ground.broke("ids", format!("a fork got the id `{id}`"));
                }
                ground.talk.fork(&parent, &id, &required);
                self.heard.insert(id.clone(), Heard { since: ground.talk.next_moment(), ..Heard::default() });
                self.open.insert(id);
            }
            Asked::Load(at) => {
                self.windows[at].done = true;
                self.windows[at].until = Some(ground.talk.next_moment());
                let attached = result["_meta"]["acp-sessions"]["attached"].as_str();
                self.windows[at].attached = attached.map(str::to_owned);
                let window = self.windows[at].clone();
                self.opened(&window.session, &window.seen, ground);
                if let Err(broke) = checks::window(&ground.talk, &window) {
                    ground.broke(broke.check, broke.text);
                }
            }
            Asked::Resume(session) => self.opened(&session, &[], ground),
            Asked::Prompt(turn) => {
                let stored = result["_meta"]["acp-sessions"]["stored"] != false;
                if result["stopReason"].is_null() {
                    ground.talk.hollow.insert(turn);
                }
                ground.talk.end(turn, stored && !(self.has_left && ground.talk.had_faults));
            }
            Asked::Close(session) => {
                self.open.remove(&session);
                // One in which nothing was said is gone with that, and its id is anybody's.
                if let Some(known) = ground.talk.sessions.get_mut(&session).filter(|known| known.parts.is_empty()) {
                    known.is_made_here = false;
                }
            }
            Asked::Delete(session) => {
                self.open.remove(&session);
                if let Some(known) = ground.talk.sessions.get_mut(&session).filter(|known| known.is_real) {
                    known.life = Life::Gone;
                    self.deleted.insert(session);
                }
            }
            Asked::Title(session, title) => ground.talk.session(&session).title = Some(title),
            Asked::Status(session) => {
                let status = result["status"].as_str();
                if !matches!(status, Some("open" | "saved")) {
                    ground.broke("status", format!("{session}: {result}"));
                }
            }
            Asked::Shown => self.shown = Some(result.clone()),
            Asked::List => {
                for row in result["sessions"].as_array().into_iter().flatten() {
                    let session = ground.talk.meet(row["sessionId"].as_str().unwrap_or_default());
                    session.is_kept_outside |= self.trusts_lists && row["_meta"]["acp-sessions"]["origin"] == "agent";
                }
            }
            Asked::Other => {}
        }
    }

    fn opened(&mut self, session: &str, seen: &[Mark], ground: &mut Ground) {
        let known = ground.talk.meet(session);
        if known.life == Life::Gone {
            ground.broke("deleted", format!("`{session}` was deleted and could be opened"));
        }
        let heard = Heard { since: ground.talk.next_moment(), marks: seen.iter().copied().collect() };
        self.heard.insert(session.to_owned(), heard);
        self.open.insert(session.to_owned());
    }
}
