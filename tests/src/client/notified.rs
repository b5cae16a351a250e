//! What a client is told without having asked for it just now.

use std::collections::VecDeque;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::Value;

use super::Client;

impl Client {
    /// Takes the notifications that are like this and came since they were last taken: their methods and params.
    pub fn take_notified(&mut self, is_it: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
        let is_ours = |message: &Value| {
            let method = message["method"].as_str().unwrap_or_default();
            message["id"].is_null() && is_it(method, &message["params"])
        };
        let (ours, others): (VecDeque<_>, VecDeque<_>) = self.inbox.drain(..).partition(is_ours);
        self.inbox = others;
        let take = |mut message: Value| {
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            (method, message["params"].take())
        };
        ours.into_iter().map(take).collect()
    }

    /// Takes in the next message for as long, if one comes; says whether one came.
    pub fn hear(&mut self, patience: Duration) -> bool {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                let message = self.accept(&line);
                self.sort_in(message);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => panic!("the program has ended its output"),
        }
    }
}
