//! What the agent says of its own accord.

use serde_json::json;

use super::{Agent, Asked, Request, text_chunk, update};
use crate::case::Deed;
use crate::disk::Piece;
use crate::ground::Ground;
use crate::talk::{Life, marks};

impl Agent {
    /// Does something; returns the lines that it says.
    pub(crate) fn act(&mut self, deed: Deed, now: i64, ground: &mut Ground) -> Vec<String> {
        let mut lines = self.tell_changes(ground);
        lines.extend(self.act_on(deed, now, ground));
        lines.extend(self.tell_changes(ground));
        lines
    }

    fn act_on(&mut self, deed: Deed, now: i64, ground: &mut Ground) -> Vec<String> {
        match deed {
            Deed::Answer(which, how) => self.answer(which, how, now, ground),
            Deed::Say(at) => self.chunk(at, "agent_message_chunk", now, ground),
            Deed::Think(at) => self.chunk(at, "agent_thought_chunk", now, ground),
            // No more than a chunk, see there.
            Deed::Tool(at) if self.is_told_apart_by_nobody(at, ground) => Vec::new(),
            Deed::Tool(at) => {
                let call =
                    json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Look", "status": "pending"});
                self.tell(at, &call)
            }
            Deed::Subagent(at, times) => self.start_subagent(at, times, now, ground),
            Deed::Plan(at) => self.tell(at, &json!({"sessionUpdate": "plan", "entries": []})),
            Deed::Mode(at) => self.tell(at, &json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"})),
            Deed::Title(at) => {
                let Some(session) = self.open_at(at) else { return Vec::new() };
                let title = format!("Named by the agent {}", ground.talk.next_moment());
                if let Some(kept) = self.kept(ground, &session) {
                    kept.title = Some(title.clone());
                }
                vec![update(&session, &json!({"sessionUpdate": "session_info_update", "title": title}))]
            }
            Deed::Permission(at) => self.ask_permission(at),
            Deed::Replay(which) => self.replay_some(which, ground),
            Deed::Stray => vec![json!({"jsonrpc": "2.0", "id": "nobody's", "result": {}}).to_string()],
            Deed::Garbage => vec!["{ this is no message".to_owned()],
        }
    }

    fn tell(&self, at: u8, what: &serde_json::Value) -> Vec<String> {
        self.open_at(at).map(|session| update(&session, what)).into_iter().collect()
    }

    /// A chunk of an answer; it belongs to the turn under way, if there is one.
    fn chunk(&mut self, at: u8, kind: &str, now: i64, ground: &mut Ground) -> Vec<String> {
        let Some(session) = self.open_at(at) else { return Vec::new() };
        if self.is_told_apart_by_nobody(at, ground) {
            return Vec::new();
        }
        let mut prompts = self.requests.iter().filter(|request| request.method == "session/prompt");
        let prompt = prompts.rfind(|request| request.session() == Some(&session));
        let is_unasked = prompt.is_none();
        let turn = prompt.and_then(|prompt| turn_of(prompt, ground));
        // What is said for a turn that the client takes for ended belongs to none.
        let turn = turn.filter(|turn| ground.talk.turns[*turn].ended.is_none());
        let (mark, text) = ground.talk.mark(turn);
        ground.talk.said[mark].crossed = self.kept(ground, &session).is_some_and(|kept| kept.is_cut);
        // Agents keep their thoughts to themselves.
        let is_thought = kind == "agent_thought_chunk";
        ground.talk.said[mark].thought = is_thought;
        if let Some(kept) = self.kept(ground, &session).filter(|_| !is_thought) {
            kept.pieces.push(Piece { by_user: false, text: text.clone() });
            // The layer may not listen to it any more: its list tells that there is more, as at the end of a turn.
            if is_unasked {
                kept.change_at(now);
            }
            let known_as = kept.layers.clone().unwrap_or_else(|| session.clone());
            ground.talk.goes_on(self.began, self.kind.name(), &session, &known_as);
        }
        vec![update(&session, &text_chunk(kind, &text))]
    }

    /// What an agent says unasked before it has answered a load of the session cannot be told from what it replays, and what
    /// it says for a turn that the client takes for ended neither.
    fn is_told_apart_by_nobody(&self, at: u8, ground: &Ground) -> bool {
        let Some(session) = self.open_at(at) else { return false };
        let mut its = self.requests.iter().filter(|request| request.session() == Some(&session));
        let is_turn = |request: &Request| request.method == "session/prompt" && !is_ended(request, ground);
        its.clone().any(|request| request.method == "session/load") && !its.any(is_turn)
    }

    fn start_subagent(&mut self, at: u8, times: u8, now: i64, ground: &mut Ground) -> Vec<String> {
        let Some(session) = self.open_at(at) else { return Vec::new() };
        let cwd = self.kept(ground, &session).map(|kept| kept.cwd.clone()).unwrap_or_default();
        let child = self.disk(ground).create(&cwd, now, false);
        self.open.insert(child.clone());
        // It goes with its parent, whenever that goes.
        if !ground.talk.is_real(&child) {
            ground.talk.session(&child).life = Life::Perhaps;
        }
        let line = update(&session, &json!({"sessionUpdate": "subagent_update", "sessionId": child, "title": "Sub"}));
        vec![line; usize::from(times)]
    }

    fn ask_permission(&mut self, at: u8) -> Vec<String> {
        let Some(session) = self.open_at(at) else { return Vec::new() };
        let id = json!(self.next_request);
        self.next_request += 1;
        self.asked.insert(id.to_string(), Asked::default());
        let params = json!({"sessionId": session, "toolCall": {"toolCallId": "t1"}, "options": []});
        vec![json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}).to_string()]
    }

    /// A piece of the history of a session that is being loaded.
    fn replay_some(&mut self, which: u8, ground: &mut Ground) -> Vec<String> {
        let loads: Vec<usize> =
            (0..self.requests.len()).filter(|at| self.requests[*at].method == "session/load").collect();
        let Some(at) = loads.get(usize::from(which) % loads.len().max(1)).copied() else { return Vec::new() };
        self.replay(at, 1, ground)
    }

    /// So many further pieces of the history that a request is for.
    pub(super) fn replay(&mut self, at: usize, most: usize, ground: &mut Ground) -> Vec<String> {
        let Some(session) = self.requests[at].session().map(str::to_owned) else { return Vec::new() };
        if self.is_prompted_behind(at, &session, ground) {
            return Vec::new();
        }
        let from = self.requests[at].replayed;
        let pieces = self.kept(ground, &session).map(|kept| kept.pieces.clone()).unwrap_or_default();
        let pieces: Vec<_> = pieces.into_iter().skip(from).take(most).collect();
        self.requests[at].replayed += pieces.len();
        let kind = |piece: &Piece| if piece.by_user { "user_message_chunk" } else { "agent_message_chunk" };
        pieces.iter().map(|piece| update(&session, &text_chunk(kind(piece), &piece.text))).collect()
    }

    /// Whether a turn of the session is under way that began behind this request, which was not waited for any longer: what it
    /// tells cannot be told from what is said in that turn.
    fn is_prompted_behind(&self, at: usize, session: &str, ground: &Ground) -> bool {
        let mut behind = self.requests[at + 1..].iter().filter(|request| request.method == "session/prompt");
        behind.any(|prompt| prompt.session() == Some(session) && !is_ended(prompt, ground))
    }
}

/// The turn that a prompt belongs to.
pub(super) fn turn_of(prompt: &Request, ground: &Ground) -> Option<usize> {
    let mark = marks(&prompt.params["prompt"].to_string()).pop()?;
    ground.talk.said[mark].turn
}

/// Whether the client takes the turn of a prompt for ended.
fn is_ended(prompt: &Request, ground: &Ground) -> bool {
    turn_of(prompt, ground).is_some_and(|turn| ground.talk.turns[turn].ended.is_some())
}
