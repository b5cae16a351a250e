//! What comes to the agent.

use serde_json::Value;

use super::{Agent, Request, text_chunk, update};
use crate::disk::Piece;
use crate::ground::Ground;
use crate::kind::Trait;
use crate::talk::marks;

impl Agent {
    /// Takes a line; returns what the agent says to it at once.
    pub(crate) fn hear(&mut self, line: &str, ground: &mut Ground) -> Vec<String> {
        let Ok(mut message) = serde_json::from_str::<Value>(line) else {
            ground.broke("envelope", format!("the agent was sent {line}"));
            return Vec::new();
        };
        let method = message["method"].as_str().map(str::to_owned);
        match (method, message.get("id").is_some()) {
            (Some(method), true) => {
                let (id, params) = (message["id"].take(), message["params"].take());
                let at = ground.talk.next_moment();
                let is_of_open = params["sessionId"].as_str().is_some_and(|session| self.open.contains(session));
                let request = Request { id, method, params, at, is_of_open, replayed: 0, cancelled: false };
                self.check_address(&request, ground);
                let said =
                    if request.method == "session/prompt" { self.prompted(&request, ground) } else { Vec::new() };
                self.requests.push(request);
                said
            }
            (Some(method), false) => {
                if method == "session/cancel" {
                    let session = message["params"]["sessionId"].as_str();
                    let prompts = self.requests.iter_mut().filter(|request| request.method == "session/prompt");
                    for request in prompts.filter(|request| request.session() == session) {
                        request.cancelled = true;
                    }
                }
                Vec::new()
            }
            (None, _) => {
                if let Some(asked) = self.asked.get_mut(&message["id"].to_string()) {
                    asked.answered += 1;
                    if asked.answered > 1 {
                        ground.broke("answers", format!("the agent's request was answered again: {line}"));
                    }
                }
                Vec::new()
            }
        }
    }

    /// What concerns an open session must name one that the agent has open.
    fn check_address(&self, request: &Request, ground: &mut Ground) {
        let needs_open = ["session/prompt", "session/set_mode", "session/set_model", "session/set_config_option"];
        let session = request.session().unwrap_or_default();
        let is_there = self.open.contains(session) || self.deleted_unseen.contains(session);
        if needs_open.contains(&request.method.as_str()) && !is_there {
            ground
                .broke("addressed", format!("{} for `{session}`, which the agent does not have open", request.method));
        }
    }

    /// The user's words, as the agent keeps them; returns the echo of an agent that has one.
    fn prompted(&mut self, request: &Request, ground: &mut Ground) -> Vec<String> {
        let prompt = &request.params["prompt"];
        let turn = marks(&prompt.to_string()).pop().and_then(|mark| ground.talk.said[mark].turn);
        let now = ground.talk.next_moment();
        let turn = turn.map(|turn| &mut ground.talk.turns[turn]);
        let layers = turn.map(|turn| {
            turn.given.get_or_insert(now);
            turn.session.clone()
        });
        let session = request.session().unwrap_or_default().to_owned();
        let blocks = prompt.as_array().cloned().unwrap_or_default();
        let mut texts: Vec<String> =
            blocks.iter().filter_map(|block| block["text"].as_str().map(str::to_owned)).collect();
        if self.kind.is(Trait::Joins) {
            texts = vec![texts.join("\n\n")];
        }
        let (names, echoes) = (self.kind.is(Trait::TitlesByPrompt), self.kind.is(Trait::Echoes));
        let Some(kept) = self.kept(ground, &session) else { return Vec::new() };
        kept.layers = layers.or(kept.layers.take());
        let known_as = kept.layers.clone();
        if names && kept.title.is_none() {
            kept.title = texts.first().cloned();
        }
        kept.pieces.extend(texts.iter().map(|text| Piece { by_user: true, text: text.clone() }));
        kept.is_cut = false;
        ground.talk.goes_on(self.began, self.kind.name(), &session, known_as.as_deref().unwrap_or(&session));
        let echo = texts.iter().map(|text| update(&session, &text_chunk("user_message_chunk", text)));
        if echoes { echo.collect() } else { Vec::new() }
    }
}
