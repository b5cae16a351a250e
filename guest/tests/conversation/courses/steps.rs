//! The steps of a course.

use serde_json::json;

use super::heard::How;
use super::window::Window;
use super::{COMMAND, Course, Words, opens};
use crate::desk::Out;
use crate::scenes::{IMAGE, leave};

impl Course<'_> {
    /// The user says this. It stands behind all that had come to its end.
    pub(super) fn asks(&mut self, prompt: String) {
        match self.in_order.last_mut().filter(|_| self.windows.iter().any(|window| window.running.is_some())) {
            Some(meanwhile) => meanwhile.push(prompt),
            None => self.in_order.push(vec![prompt]),
        }
    }

    /// Whether another prompt can be sent, which may be a command. Where an agent keeps no commands, and all of two windows in one
    /// transcript, what a command was answered cannot be told from what two others are while they are under way.
    pub(super) fn is_told_apart(&self, is_command: bool) -> bool {
        let open = || self.windows.iter().flat_map(|window| window.running.iter().chain(&window.queue));
        let has_command = is_command || open().any(|turn| turn.is_command);
        let is_one_transcript = self.habit.is_forgetful && !self.habit.has_branches;
        !(is_one_transcript && has_command && open().count() > 1)
    }

    /// Goes the next step, if it can be gone.
    pub(super) fn go(&mut self, step: char) -> bool {
        let at = match step {
            '3'..='5' => 2,
            step => usize::from(step.is_uppercase() || matches!(step, ':' | ';')),
        };
        if at == 2 && self.windows.len() == 2 {
            if step != '3' {
                return false;
            }
            self.opens_window();
            self.load(2);
        }
        let step = match step.to_ascii_lowercase() {
            '3' => 'y',
            '4' => '.',
            '5' => 'q',
            ';' => ',',
            step => step,
        };
        let window = &self.windows[at];
        let can = match step {
            ',' => window.running.as_ref().is_some_and(|turn| turn.answers == 0),
            'y' | 'c' | 'i' | 'm' => window.queue.len() < 2 && self.is_told_apart(step == 'm'),
            's' => window.running.as_ref().is_some_and(|turn| turn.answers < 2),
            // The agent refuses a prompt that is sent while a turn runs.
            'n' => window.running.is_some() && window.queue.is_empty(),
            'q' | 'k' | 'a' | 'l' | '~' => true,
            'o' => {
                let is_over = self.windows.iter().all(|window| window.running.is_none());
                // Behind what a window has only read it is as if somebody had gone back to there.
                is_over && (at == 0 || window.has_kept)
            }
            // Behind what others have said meanwhile nothing is taken out.
            'r' => window
                .running
                .as_ref()
                .is_some_and(|turn| turn.answers == 0 && self.kept.items.len() == turn.begun_at + turn.kept.len()),
            _ => window.running.is_some(),
        };
        if can {
            self.step(at, step);
        }
        can
    }

    pub(super) fn prompt(&mut self, at: usize, prompt: &str) -> Out {
        self.requests += 1;
        let number = match self.words {
            Words::Different => format!("{:02}", self.requests),
            Words::Same => String::new(),
        };
        let block = if prompt == IMAGE {
            json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="})
        } else {
            json!({"type": "text", "text": format!("{prompt}{number}")})
        };
        let said = if prompt == IMAGE { IMAGE.to_owned() } else { format!("{prompt}{number}") };
        if prompt != IMAGE && matches!(self.words, Words::Different) {
            self.asks(said.clone());
        }
        *self.said.entry(said).or_default() += 1;
        let request = format!("turn {}", self.requests);
        let params = json!({"sessionId": "s1", "prompt": [block]});
        self.windows[at].desk.client(json!({"id": request, "method": "session/prompt", "params": params}))
    }

    pub(super) fn step(&mut self, at: usize, step: char) {
        let out = match step {
            'y' => self.prompt(at, "yes"),
            'c' => self.prompt(at, "continue"),
            'i' => self.prompt(at, IMAGE),
            'm' => self.prompt(at, COMMAND),
            'n' => {
                self.is_busy = true;
                let out = self.prompt(at, "continue");
                self.serve(at, out);
                self.is_busy = false;
                Out::default()
            }
            's' => self.answer(at),
            '.' | ':' => {
                let is_silent = self.windows[at].running.as_ref().is_some_and(|turn| turn.answers == 0);
                let mut out = if is_silent { self.answer(at) } else { Out::default() };
                out.extend(self.end(at, &json!({"result": {"stopReason": "end_turn"}})));
                out
            }
            ',' => self.end(at, &json!({"result": {"stopReason": "end_turn"}})),
            'x' => {
                let params = json!({"sessionId": "s1"});
                self.windows[at].desk.client(json!({"method": "session/cancel", "params": params}))
            }
            'e' => self.end(at, &json!({"error": {"code": -32603, "message": "it failed"}})),
            'r' => self.refuse(at),
            'f' => {
                let out = self.notice(at);
                self.serve(at, out);
                self.end(at, &json!({"result": {"stopReason": "end_turn"}}))
            }
            'o' => {
                let behind = if at == 0 { self.kept.items.len().checked_sub(1) } else { self.windows[1].last };
                self.outside(behind);
                Out::default()
            }
            'a' => {
                self.is_cut_off(at);
                let window = &mut self.windows[at];
                (window.running, window.last) = (None, None);
                window.queue.clear();
                window.desk.revive(&opens(self.habit))
            }
            'l' => {
                self.load(at);
                return;
            }
            '~' => {
                self.world.now.set(self.world.now.get() + 60_000);
                Out::default()
            }
            'k' => {
                self.is_cut_off(at);
                self.windows[at] = Window::new(self.store, self.world, self.habit, self.kept_at);
                self.load(at);
                return;
            }
            _ => {
                self.is_cut_off(at);
                let opened = Window::new(self.store, self.world, self.habit, self.kept_at);
                leave(std::mem::replace(&mut self.windows[at], opened).desk);
                self.load(at);
                return;
            }
        };
        self.serve(at, out);
        for _ in 0..4 {
            for at in 0..self.windows.len() {
                let out = self.windows[at].desk.wait(300);
                self.serve(at, out);
            }
        }
    }

    /// What this window's program is at comes to no end.
    pub(super) fn is_cut_off(&mut self, at: usize) {
        let window = &self.windows[at];
        for turn in window.running.iter().chain(&window.queue) {
            self.lost_on_way.extend(turn.account.iter().cloned());
            self.had[turn.had].how = How::Otherwise;
        }
    }

    pub(super) fn opens_window(&mut self) {
        self.windows.push(Window::new(self.store, self.world, self.habit, self.kept_at));
    }
}
