//! Keeping account of requests: each gets exactly one answer.

use super::awaiting::Awaiting;
use crate::engine::{Engine, Output};
use crate::environment::Environment;
use crate::rpc::{Code, Id, RpcError};
use crate::storage::Storage;

/// The memo of a client's request.
pub(super) fn memo_key(id: &Id) -> String {
    format!("q/{}", id.as_json())
}

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Notes that a request of the client's waits for an answer. Refused while another of the same id does.
    pub(super) fn expect_answer(&mut self, id: &Id, awaiting: Awaiting) -> Result<(), RpcError> {
        if self.connection.awaiting.contains_key(id) {
            return Err(RpcError::new(Code::InvalidRequest, "Invalid request: a request with this id is still open"));
        }
        let value = serde_json::to_string(&awaiting).ok();
        self.outputs.push_back(Output::Keep { key: memo_key(id), value });
        self.connection.awaiting.insert(id.clone(), awaiting);
        Ok(())
    }

    /// Notes that it is answered; what it was.
    pub(super) fn settle(&mut self, id: &Id) -> Option<Awaiting> {
        let awaiting = self.connection.awaiting.remove(id)?;
        if !id.is_own() {
            self.outputs.push_back(Output::Keep { key: memo_key(id), value: None });
        }
        Some(awaiting)
    }

    /// Answers a request of the client's that the engine has kept open.
    pub(super) fn finish(&mut self, id: &Id, result: Result<String, RpcError>) {
        if self.settle(id).is_none() {
            return;
        }
        match result {
            Ok(result) => self.answer(id, &result),
            Err(error) => self.refuse(id, &error),
        }
    }
}
