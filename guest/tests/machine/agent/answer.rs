//! How the agent answers.

use serde_json::{Value, json};

use super::say::turn_of;
use super::{Agent, Request, update};
use crate::case::How;
use crate::disk::Piece;
use crate::ground::Ground;
use crate::kind::Trait;
use crate::talk::{Beside, marks};

const LOGIN: &str = "log in first";
/// What an agent notes in its user's name of a turn that was cancelled.
const INTERRUPTED: &str = "[Request interrupted by user]";

impl Agent {
    /// Answers one of its open requests.
    pub(super) fn answer(&mut self, which: u8, how: How, now: i64, ground: &mut Ground) -> Vec<String> {
        let at = usize::from(which) % self.requests.len().max(1);
        if at >= self.requests.len() {
            return Vec::new();
        }
        // Without a proper introduction it would be another agent.
        let how = if self.requests[at].method == "initialize" && how == How::Hollow { How::Well } else { how };
        let mut lines = match how {
            How::Well | How::Twice => self.answer_well(at, now, ground),
            How::Fails => vec![failure(&self.requests[at].id, -32603, "it did not work")],
            How::WantsLogin => vec![failure(&self.requests[at].id, -32000, LOGIN)],
            How::NotFound => {
                // It says that it has not got what it has.
                let session = self.requests[at].session().unwrap_or_default().to_owned();
                ground.talk.deleted_elsewhere.insert(session);
                vec![failure(&self.requests[at].id, -32002, "no such session")]
            }
            How::Hollow => {
                let request = self.requests[at].clone();
                // It means what it says: the session is open.
                if let Some(session) = request.session().filter(|_| request.opens()).map(str::to_owned) {
                    self.opened_at.insert(session.clone(), request.at);
                    self.open.insert(session);
                }
                // What it has told so far is all there is.
                if let Some(session) = request.session().filter(|_| request.method == "session/load") {
                    let kept = self.kept(ground, session).filter(|kept| request.replayed < kept.pieces.len());
                    let half = kept.filter(|_| request.replayed > 0).map(|kept| {
                        let untold = kept.pieces[request.replayed..].iter().flat_map(|piece| marks(&piece.text));
                        (kept.updated, untold.collect())
                    });
                    ground.talk.half_told.extend(half.map(|half| (session.to_owned(), half)));
                }
                // It says that it has deleted what it keeps.
                if request.method == "session/delete" {
                    ground.talk.deleted_elsewhere.extend(request.session().map(str::to_owned));
                }
                vec![success(&request.id, &json!({}))]
            }
            How::Never => Vec::new(),
        };
        let request = self.requests.remove(at);
        match lines.last() {
            Some(line) if request.opens() && line.contains("\"error\"") => self.refused.extend(request.window()),
            Some(_) if request.opens() => self.granted.extend(request.window()),
            _ => {}
        }
        match how {
            How::Twice => lines.extend(lines.last().cloned()),
            How::Never => {
                self.forgotten.insert(request.id.to_string(), request);
            }
            _ => {}
        }
        lines
    }

    fn answer_well(&mut self, at: usize, now: i64, ground: &mut Ground) -> Vec<String> {
        let request = self.requests[at].clone();
        let id = &request.id;
        let session = request.session().unwrap_or_default().to_owned();
        let needs_login = request.method.starts_with("session/") && self.kind.is(Trait::WantsLogin) && !self.logged_in;
        if needs_login {
            let moment = ground.talk.next_moment();
            self.locked_since.get_or_insert(moment);
            return vec![failure(id, -32000, LOGIN)];
        }
        let is_known = self.disk(ground).sessions.contains_key(&session);
        let names_one = !matches!(request.method.as_str(), "session/new" | "session/list" | "session/delete")
            && !request.method.starts_with("session/list/");
        if request.method.starts_with("session/") && names_one && !is_known {
            return vec![failure(id, -32002, "no such session")];
        }
        let cwd = request.params["cwd"].as_str().unwrap_or("/").to_owned();
        match request.method.as_str() {
            "initialize" => vec![success(id, &self.kind.introduction())],
            "authenticate" | "logout" => {
                self.logged_in = request.method == "authenticate";
                self.was_unlocked |= self.logged_in;
                vec![success(id, &json!({}))]
            }
            "session/new" => {
                let made = self.disk(ground).create(&cwd, now, false);
                self.begun.insert(made.clone(), ground.talk.next_moment());
                self.opened_at.insert(made.clone(), request.at);
                self.open.insert(made.clone());
                vec![success(id, &self.opened(Some(&made)))]
            }
            "session/load" => {
                let mut lines = self.replay(at, usize::MAX, ground);
                self.opened_at.insert(session.clone(), request.at);
                self.open.insert(session);
                lines.push(success(id, &self.opened(None)));
                lines
            }
            "session/resume" => {
                self.opened_at.insert(session.clone(), request.at);
                self.open.insert(session);
                vec![success(id, &self.opened(None))]
            }
            "session/fork" => self.forked(at, &session, &cwd, now, ground),
            "session/list" => vec![success(id, &self.page(&request.params, ground))],
            "session/list/subscribe" if self.kind.is(Trait::TellsChanges) => {
                let mut page = self.page(&request.params, ground);
                page["subscriptionId"] = self.begin_telling(ground).into();
                vec![success(id, &page)]
            }
            "session/archive" | "session/unarchive" if self.kind.is(Trait::Archive) => {
                if let Some(kept) = self.kept(ground, &session) {
                    kept.archived = request.method == "session/archive";
                }
                vec![success(id, &json!({}))]
            }
            "session/set_title" if self.kind.is(Trait::Title) => {
                let title = request.params["title"].as_str().map(str::to_owned);
                if let Some(kept) = self.kept(ground, &session) {
                    kept.title = title;
                }
                vec![success(id, &json!({}))]
            }
            "session/close" => {
                // It does what it is asked in the order in which it is asked, whenever it says so.
                if self.opened_at.get(&session).is_none_or(|opened| *opened < request.at) {
                    self.open.remove(&session);
                }
                vec![success(id, &json!({}))]
            }
            "session/delete" => {
                // The same: what it has begun by this id since, or opened, is another session.
                let is_another = self.opened_at.get(&session).is_some_and(|opened| *opened > request.at);
                if is_another || self.kind.forgets() {
                    ground.talk.deleted_elsewhere.insert(session.clone());
                }
                if !is_another {
                    if self.open.remove(&session) && !request.is_of_open {
                        self.deleted_unseen.insert(session.clone());
                    }
                    self.disk(ground).sessions.remove(&session);
                }
                vec![success(id, &json!({}))]
            }
            "session/prompt" => self.turn_over(&request, now, ground),
            "session/set_config_option" => vec![success(id, &json!({"configOptions": options()}))],
            "session/set_mode" | "session/set_model" => vec![success(id, &json!({}))],
            _ => vec![failure(id, -32601, "no such method")],
        }
    }

    /// A page of its list. It says that it has no more what is gone.
    fn page(&mut self, params: &Value, ground: &mut Ground) -> Value {
        self.deny_what_is_gone(ground);
        let archives = self.kind.is(Trait::Archive);
        self.disk(ground).page(params, archives)
    }

    /// It says that it has not got what somebody has deleted at it.
    pub(super) fn deny_what_is_gone(&mut self, ground: &mut Ground) {
        let mut gone = ground.talk.gone_outside.clone();
        let disk = self.disk(ground);
        gone.retain(|id| !disk.sessions.contains_key(id));
        ground.talk.unlisted.extend(gone);
    }

    fn forked(&mut self, at: usize, parent: &str, cwd: &str, now: i64, ground: &mut Ground) -> Vec<String> {
        let replays = self.kind.is(Trait::ReplaysForks);
        let disk = self.disk(ground);
        let made = disk.create(cwd, now, false);
        let copied = disk.sessions.get(parent).map(|kept| (kept.pieces.clone(), kept.summed_up.clone()));
        if let (Some(copied), Some(kept)) = (copied, disk.sessions.get_mut(&made)) {
            (kept.pieces, kept.summed_up) = copied;
        }
        self.open.insert(made.clone());
        let id = self.requests[at].id.clone();
        let mut lines = Vec::new();
        if replays {
            self.requests[at].params["sessionId"] = made.clone().into();
            lines = self.replay(at, usize::MAX, ground);
        }
        lines.push(success(&id, &self.opened(Some(&made))));
        lines
    }

    fn turn_over(&mut self, request: &Request, now: i64, ground: &mut Ground) -> Vec<String> {
        let session = request.session().unwrap_or_default();
        let names = self.kind.is(Trait::TitlesByPrompt);
        let turn = turn_of(request, ground);
        let mut title = None;
        let mut known = Vec::new();
        let remarks = self.kind.is(Trait::Remarks) && request.cancelled;
        if let Some(kept) = self.kept(ground, session) {
            kept.updated = now;
            kept.pieces.extend(remarks.then(|| Piece { by_user: true, text: INTERRUPTED.to_owned() }));
            title = kept.title.clone().filter(|_| names);
            known = kept.marks();
        }
        for mark in &known {
            let said = &mut ground.talk.said[*mark];
            if said.beside == Beside::Another {
                said.beside = Beside::Covered;
            }
        }
        if let Some(turn) = turn {
            crate::checks::heard(self, ground, (turn, session), &known);
        }
        let info = title.map(|title| json!({"sessionUpdate": "session_info_update", "title": title}));
        let mut lines: Vec<String> = info.map(|info| update(session, &info)).into_iter().collect();
        let reason = if request.cancelled { "cancelled" } else { "end_turn" };
        lines.push(success(&request.id, &json!({ "stopReason": reason })));
        lines
    }

    fn opened(&self, made: Option<&str>) -> Value {
        let mut result = json!({});
        if let Some(made) = made {
            result["sessionId"] = made.into();
        }
        if self.kind.is(Trait::SendsModes) {
            let known = json!([{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]);
            result["modes"] = json!({"currentModeId": "ask", "availableModes": known});
            result["configOptions"] = options();
        }
        result
    }
}

fn options() -> Value {
    json!([{"id": "o", "name": "O", "type": "select", "currentValue": "a", "options": []}])
}

fn success(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

fn failure(id: &Value, code: i64, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}
