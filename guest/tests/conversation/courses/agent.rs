//! What the agent does as it is asked.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::habit::Keeps;
use super::heard::How;
use super::kept::listed;
use super::window::Turn;
use super::{COMMAND, Course, WORDS, Words};
use crate::desk::{Out, chunk, update};
use crate::scenes::IMAGE;

impl Course<'_> {
    /// The agent does what it is asked. What the client is told.
    pub(super) fn serve(&mut self, at: usize, out: Out) -> Out {
        let mut all = Out { client: out.client, agent: Vec::new() };
        let mut asked: VecDeque<Value> = out.agent.into();
        while let Some(message) = asked.pop_front() {
            let mut out = Out::default();
            match message["method"].as_str() {
                Some(method @ ("session/load" | "session/resume")) => {
                    let told = self.kept.told(self.habit);
                    self.opens(at, &told, method == "session/load");
                    if method == "session/load" {
                        self.are_told(&told);
                        for told in told {
                            out.extend(self.windows[at].desk.agent(update("s1", told)));
                        }
                    }
                    self.windows[at].last = self.kept.items.len().checked_sub(1);
                    out.extend(self.windows[at].desk.reply(&message, json!({})));
                }
                Some("session/list") => {
                    let listed = json!({"sessions": listed(self.kept_at)});
                    out = self.windows[at].desk.reply(&message, listed);
                }
                Some("session/prompt") if self.is_busy => {
                    let error = json!({"code": -32603, "message": "a turn is running"});
                    out = self.windows[at].desk.agent(json!({"id": message["id"], "error": error}));
                }
                Some("session/prompt") => {
                    let blocks = message["params"]["prompt"].as_array().unwrap().clone();
                    let word = blocks.last().unwrap()["text"].as_str().unwrap_or(IMAGE);
                    let number = word.trim_start_matches(|letter: char| !letter.is_ascii_digit());
                    let prompt = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
                    let (_, answer) = WORDS.into_iter().find(|(known, _)| *known == prompt).unwrap();
                    let answer = format!("{answer}{number}");
                    let is_command = prompt == COMMAND;
                    let (had, account) = self.is_asked(at, &blocks, word, is_command);
                    let (answers, items, kept, behind, begun_at) = Default::default();
                    let request = message;
                    let turn = Turn {
                        request,
                        blocks,
                        answer,
                        answers,
                        items,
                        kept,
                        is_command,
                        had,
                        account,
                        behind,
                        begun_at,
                    };
                    self.windows[at].queue.push_back(turn);
                    self.take_up(at);
                }
                Some("session/cancel") => out = self.stop(at),
                Some(_) if message.get("id").is_some() => out = self.windows[at].desk.reply(&message, json!({})),
                _ => {}
            }
            all.client.extend(out.client);
            asked.extend(out.agent);
        }
        all
    }

    /// The layer has been told these, also what it has no part in.
    pub(super) fn are_told(&mut self, told: &[Value]) {
        let is_told = |text: &str| told.iter().any(|told| told["content"]["text"] == text);
        let (told, rest): (BTreeSet<usize>, BTreeSet<usize>) =
            self.outside.iter().partition(|number| is_told(&outside(**number).0));
        self.outside = rest;
        for text in told.into_iter().map(outside).flat_map(|(prompt, answer)| [prompt, answer]) {
            *self.said.entry(text).or_default() += 1;
        }
    }

    /// A turn in a window of the agent's own, behind this.
    pub(super) fn outside(&mut self, mut behind: Option<usize>) {
        self.requests += 1;
        let (prompt, answer) = outside(self.requests);
        self.outside.insert(self.requests);
        self.asks(prompt.clone());
        let prompt = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": prompt}});
        for told in [prompt, chunk("agent_message_chunk", &answer)] {
            behind = Some(self.kept.add(behind, told, self.habit));
        }
    }

    pub(super) fn keep(&mut self, at: usize, told: Value) -> usize {
        self.kept_at = Some(self.world.now.get());
        let last = self.windows[at].last;
        let number = self.kept.add(last, told, self.habit);
        (self.windows[at].last, self.windows[at].has_kept) = (Some(number), true);
        number
    }

    pub(super) fn take_up(&mut self, at: usize) {
        if self.windows[at].running.is_some() {
            return;
        }
        let Some(mut turn) = self.windows[at].queue.pop_front() else { return };
        (turn.behind, turn.begun_at) = (self.windows[at].last, self.kept.items.len());
        for block in turn.blocks.clone() {
            let told = json!({"sessionUpdate": "user_message_chunk", "content": block});
            if matches!(self.habit.keeps, Keeps::AtOnce | Keeps::AnswersThatEndedWell) {
                turn.kept.push(self.keep(at, told));
            } else {
                turn.items.push(told);
            }
        }
        self.windows[at].running = Some(turn);
    }

    /// The agent says something, and something else the second time.
    pub(super) fn answer(&mut self, at: usize) -> Out {
        let window = &mut self.windows[at];
        let Some(turn) = &mut window.running else { return Out::default() };
        let text = if turn.answers == 0 {
            turn.answer.clone()
        } else {
            format!("More: {}", turn.answer.replace(['.', ' '], "_"))
        };
        turn.answers += 1;
        if matches!(self.words, Words::Different) && !turn.is_command && !turn.answer.starts_with("A picture") {
            self.had[turn.had].said.insert(text.clone());
            window.heard.insert(text.clone());
        }
        let told = chunk("agent_message_chunk", &text);
        *self.said.entry(text).or_default() += 1;
        if self.habit.keeps == Keeps::AtOnce {
            let number = self.keep(at, told.clone());
            self.windows[at].running.as_mut().unwrap().kept.push(number);
        } else {
            turn.items.push(told.clone());
        }
        self.windows[at].desk.agent(update("s1", told))
    }

    /// The agent tells what went wrong, which it does not keep.
    pub(super) fn notice(&mut self, at: usize) -> Out {
        let text = self.windows[at]
            .running
            .as_ref()
            .map_or_else(String::new, |turn| format!("Error: {}", turn.answer.replace(['.', ' '], "_")));
        *self.said.entry(text.clone()).or_default() += 1;
        if let Some(had) = self.windows[at].running.as_ref().map(|turn| turn.had) {
            self.had[had].how = How::Otherwise;
        }
        self.windows[at].desk.agent(update("s1", chunk("agent_message_chunk", &text)))
    }

    pub(super) fn end(&mut self, at: usize, how: &Value) -> Out {
        let Some(turn) = self.windows[at].running.take() else { return Out::default() };
        let is_kept_if_well = matches!(self.habit.keeps, Keeps::WhatEndedWell | Keeps::AnswersThatEndedWell);
        if !is_kept_if_well || how["result"]["stopReason"] == "end_turn" {
            for told in turn.items {
                self.keep(at, told);
            }
        }
        if self.habit.is_forgetful && (turn.is_command || turn.answers == 0) {
            self.kept.dropped.extend(turn.kept);
            self.windows[at].last =
                self.windows[at].last.filter(|last| !self.kept.dropped.contains(last)).or(turn.behind);
        }
        let mut answer = how.clone();
        answer["id"] = turn.request["id"].clone();
        let is_well =
            how["result"]["stopReason"] == "end_turn" && !turn.is_command && self.had[turn.had].how != How::Otherwise;
        let is_forgotten = self.habit.is_forgetful && turn.answers == 0;
        self.had[turn.had].how = if is_well && !is_forgotten { How::Well } else { How::Otherwise };
        if !is_well {
            self.lost_on_way.extend(turn.account.iter().cloned());
        }
        if how["error"].is_null() {
            let window = &mut self.windows[at];
            window.may_have_heard.retain(|said| !turn.account.contains(said));
            window.heard.extend(turn.account);
        }
        let out = self.windows[at].desk.agent(answer);
        self.take_up(at);
        out
    }

    /// What it refuses it does not keep, whoever has read it meanwhile.
    pub(super) fn refuse(&mut self, at: usize) -> Out {
        if let Some(turn) = &mut self.windows[at].running {
            turn.items.clear();
            turn.kept.clear();
            let (behind, begun_at) = (turn.behind, turn.begun_at);
            self.kept.items.truncate(begun_at);
            for window in &mut self.windows {
                window.last = window.last.filter(|last| *last < begun_at).or(behind);
            }
        }
        self.end(at, &json!({"error": {"code": -32602, "message": "refused"}}))
    }

    pub(super) fn stop(&mut self, at: usize) -> Out {
        let mut out = Out::default();
        while self.windows[at].running.is_some() {
            out.extend(self.end(at, &json!({"result": {"stopReason": "cancelled"}})));
        }
        out
    }
}

/// What is said in a turn in a window of the agent's own.
fn outside(number: usize) -> (String, String) {
    (format!("outside{number:02}"), format!("Elsewhere{number:02}"))
}
