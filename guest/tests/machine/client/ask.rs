//! What a client sends.

use acp_sessions_guest::engine::Content;
use serde_json::{Value, json};

use super::{Asked, Client, Window};
use crate::case::{Ask, Bad, Pick};
use crate::disk::CWD;
use crate::ground::Ground;
use crate::kind::Kind;
use crate::talk::Life;

impl Client {
    /// A request; returns its line.
    pub(crate) fn request(&mut self, method: &str, params: &Value, asked: Asked) -> String {
        self.next += 1;
        let id = if self.next.is_multiple_of(5) { json!(format!("c{}", self.next)) } else { json!(self.next) };
        self.request_as(&id, method, params, asked)
    }

    fn request_as(&mut self, id: &Value, method: &str, params: &Value, asked: Asked) -> String {
        self.is_queued |= !self.is_initialized;
        // Whatever comes of it, nothing more of it need be shown.
        if let ("session/close" | "session/delete" | "session/archive", Some(session)) =
            (method, params["sessionId"].as_str())
        {
            self.heard.remove(session);
        }
        self.asked.entry(id.to_string()).or_default().push(asked);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    }

    /// Which session is meant.
    fn picked(&self, pick: Pick, kind: Kind, ground: &mut Ground) -> String {
        let nth = |at: u8, names: &[&String]| names.get(usize::from(at) % names.len().max(1)).map(|id| (*id).clone());
        let named = |at: u8, ground: &Ground| nth(at, &ground.talk.names.iter().rev().collect::<Vec<_>>());
        let id = match pick {
            Pick::Open(at) => nth(at, &self.open.iter().collect::<Vec<_>>()).or_else(|| named(at, ground)),
            Pick::Named(at) => named(at, ground),
            Pick::Agents(at) => ground.disk(kind).id_at(at).cloned(),
            Pick::Nobodys => None,
        };
        id.unwrap_or_else(|| "nobody's".to_owned())
    }

    /// What it sends.
    pub(crate) fn ask(&mut self, ask: Ask, line: u8, kind: Kind, ground: &mut Ground) -> Vec<Content> {
        let about = |session: &str| json!({ "sessionId": session });
        let mut of = |pick: Pick| self.picked(pick, kind, ground);
        let text = match ask {
            Ask::New(cwd) => {
                let params = json!({"cwd": CWD[usize::from(cwd) % 2], "mcpServers": []});
                self.request("session/new", &params, Asked::New(ground.talk.names.len()))
            }
            Ask::Load(pick) => {
                let session = of(pick);
                self.load(&session, &json!({}), true, ground)
            }
            Ask::LoadLast(pick, last) => {
                let session = of(pick);
                self.load(&session, &json!({"acp-sessions": {"replay": {"last": last}}}), false, ground)
            }
            Ask::Resume(pick) => {
                let session = of(pick);
                let params = json!({"sessionId": session, "cwd": CWD[0], "_meta": {"machine": {"session": session}}});
                self.request("session/resume", &params, Asked::Resume(session))
            }
            Ask::Fork(pick) => {
                let session = of(pick);
                let required = ground.talk.required(&session);
                let params = json!({"sessionId": session, "cwd": CWD[0]});
                self.request("session/fork", &params, Asked::Fork(session, required, ground.talk.names.len()))
            }
            Ask::Prompt(pick, shape) => {
                let session = of(pick);
                self.prompt(&session, shape, line, ground)
            }
            Ask::Cancel(pick) => {
                let params = about(&of(pick));
                json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}).to_string()
            }
            Ask::CancelRequest(which) => {
                let Some(id) = self.some_open_id(which) else { return Vec::new() };
                let params = json!({ "requestId": id });
                json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}).to_string()
            }
            Ask::SetMode(pick) => {
                let params = json!({"sessionId": of(pick), "modeId": "code"});
                self.request("session/set_mode", &params, Asked::Other)
            }
            Ask::SetModel(pick) => {
                let params = json!({"sessionId": of(pick), "modelId": "large"});
                self.request("session/set_model", &params, Asked::Other)
            }
            Ask::SetOption(pick) => {
                let params = json!({"sessionId": of(pick), "configId": "o", "value": "b"});
                self.request("session/set_config_option", &params, Asked::Other)
            }
            Ask::SetTitle(pick) => {
                let session = of(pick);
                let title = format!("Named by the user {}", ground.talk.next_moment());
                let known = ground.talk.session(&session);
                known.title = None;
                known.is_titled = true;
                let params = json!({"sessionId": session, "title": title});
                self.request("session/set_title", &params, Asked::Title(session, title))
            }
            Ask::Close(pick) => {
                let session = of(pick);
                self.request("session/close", &about(&session), Asked::Close(session.clone()))
            }
            Ask::Delete(pick) => {
                let session = of(pick);
                self.delete(&session, ground)
            }
            Ask::Archive(pick) => {
                let session = of(pick);
                self.request("session/archive", &about(&session), Asked::Close(session.clone()))
            }
            Ask::Unarchive(pick) => {
                let params = about(&of(pick));
                self.request("session/unarchive", &params, Asked::Other)
            }
            Ask::Status(pick) => {
                let session = of(pick);
                self.request("session/status", &about(&session), Asked::Status(session.clone()))
            }
            Ask::List => self.request("session/list", &json!({}), Asked::List),
            Ask::Custom => self.request("_x/y", &json!({"a": 1}), Asked::Other),
            Ask::Authenticate => self.request("authenticate", &json!({"methodId": "m"}), Asked::Other),
            Ask::Logout => self.request("logout", &json!({}), Asked::Other),
            Ask::SameId(which) => {
                let Some(id) = self.some_open_id(which) else { return Vec::new() };
                self.request_as(&id, "_x/same", &json!({}), Asked::Other)
            }
            Ask::OwnId => {
                self.next += 1;
                let id = json!(format!("acp-sessions:{}", self.next));
                self.request_as(&id, "_x/own", &json!({}), Asked::Other)
            }
            Ask::Bad(bad) => return vec![self.bad(bad)],
            Ask::Permit(which) => match self.permit(which) {
                Some(line) => line,
                None => return Vec::new(),
            },
        };
        vec![Content::Line(text)]
    }

    fn some_open_id(&self, which: u8) -> Option<Value> {
        let id = self.asked.keys().nth(usize::from(which) % self.asked.len().max(1))?;
        serde_json::from_str(id).ok()
    }

    pub(crate) fn load(&mut self, session: &str, meta: &Value, whole: bool, ground: &mut Ground) -> String {
        let window = Window {
            session: session.to_owned(),
            required: ground.talk.required(session),
            since: ground.talk.next_moment(),
            until: None,
            seen: Vec::new(),
            whole,
            blurred: self.is_blurred(session),
            done: false,
            attached: None,
            refused: None,
        };
        for other in self.windows.iter_mut().filter(|other| !other.done && other.session == session) {
            other.blurred = true;
        }
        self.windows.push(window);
        let mut meta = meta.clone();
        // What the agent is asked for bears whom it is for, whatever id the agent has.
        meta["machine"] = json!({"session": session, "window": self.windows.len() - 1});
        let params = json!({"sessionId": session, "cwd": CWD[0], "mcpServers": [], "_meta": meta});
        self.request("session/load", &params, Asked::Load(self.windows.len() - 1))
    }

    pub(crate) fn delete(&mut self, session: &str, ground: &mut Ground) -> String {
        if let Some(known) = ground.talk.sessions.get_mut(session)
            && known.life == Life::Here
        {
            known.life = Life::Perhaps;
        }
        self.request("session/delete", &json!({ "sessionId": session }), Asked::Delete(session.to_owned()))
    }

    pub(crate) fn prompt(&mut self, session: &str, shape: u8, line: u8, ground: &mut Ground) -> String {
        let turn = ground.talk.begin(session, line);
        let mut text = || json!({"type": "text", "text": ground.talk.mark(Some(turn)).1});
        let prompt = match shape {
            0 => json!([text(), text()]),
            1 => json!([{"type": "resource_link", "name": "n", "uri": "file:///n"}, text()]),
            2 => {
                let mut block = text();
                block["text"] = format!("```py\n{}\n```", block["text"].as_str().unwrap_or_default()).into();
                json!([block])
            }
            _ => json!([text()]),
        };
        let params = json!({"sessionId": session, "prompt": prompt});
        self.request("session/prompt", &params, Asked::Prompt(turn))
    }

    /// Answers one of the agent's requests.
    pub(crate) fn permit(&mut self, which: u8) -> Option<String> {
        let at = usize::from(which) % self.requests.len().max(1);
        let id = (at < self.requests.len()).then(|| self.requests.remove(at))?;
        let result = json!({"outcome": {"outcome": "cancelled"}});
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    }

    fn bad(&mut self, bad: Bad) -> Content {
        let line = match bad {
            Bad::NotJson | Bad::Batch | Bad::NotText => {
                self.nameless += 1;
                match bad {
                    Bad::NotText => return Content::NotText("\u{fffd}{}".to_owned()),
                    Bad::Batch => "[]".to_owned(),
                    _ => "{\"jsonrpc\":\"2.0\",\"id\":".to_owned(),
                }
            }
            Bad::TooLong => {
                let line = self.request("session/prompt", &json!({"sessionId": "s"}), Asked::Other);
                return Content::TooLong(line[..line.len() - 2].to_owned());
            }
            Bad::NoParams => self.request("session/load", &Value::Null, Asked::Other),
            Bad::StrayAnswer => json!({"jsonrpc": "2.0", "id": "nobody's", "result": {}}).to_string(),
        };
        Content::Line(line)
    }
}
