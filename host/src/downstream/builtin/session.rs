//! The sessions that are open, with what can be set in them.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::turn::Turn;
use crate::downstream::rpc::Failure;

/// The modes: id, name.
const MODES: [(&str, &str); 2] = [("default", "Default"), ("plan", "Plan")];

/// The values of the one option: id, name.
const VERBOSITIES: [(&str, &str); 3] = [("brief", "Brief"), ("normal", "Normal"), ("detailed", "Detailed")];

/// The option's id.
const VERBOSITY: &str = "verbosity";

/// One open session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) cwd: String,
    pub(super) mode: &'static str,
    verbosity: &'static str,
    /// The prompt that is being answered.
    pub(super) turn: Option<Arc<Turn>>,
}

impl Session {
    fn new(cwd: String) -> Self {
        Self { cwd, mode: MODES[0].0, verbosity: VERBOSITIES[1].0, turn: None }
    }

    /// The result of `session/new`.
    fn describe(&self, id: &str) -> Value {
        let modes: Vec<Value> = MODES.iter().map(|(id, name)| json!({ "id": id, "name": name })).collect();
        json!({
            "sessionId": id,
            "modes": { "currentModeId": self.mode, "availableModes": modes },
            "configOptions": self.options(),
        })
    }

    fn options(&self) -> Value {
        let values: Vec<Value> = VERBOSITIES.iter().map(|(id, name)| json!({ "value": id, "name": name })).collect();
        json!([{
            "id": VERBOSITY,
            "name": "Verbosity",
            "type": "select",
            "currentValue": self.verbosity,
            "options": values,
        }])
    }

    fn cancel(&self) {
        if let Some(turn) = &self.turn {
            turn.cancel();
        }
    }
}

/// All open sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    by_id: HashMap<String, Session>,
}

impl Sessions {
    pub(super) fn create(&mut self, cwd: String) -> Result<Value, Failure> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| Failure::internal(format!("no randomness: {error}")))?;
        let id = format!("{:032x}", u128::from_ne_bytes(random));
        let session = Session::new(cwd);
        let described = session.describe(&id);
        self.by_id.insert(id, session);
        Ok(described)
    }

    pub(super) fn get(&mut self, id: &str) -> Result<&mut Session, Failure> {
        self.by_id.get_mut(id).ok_or_else(|| Failure::unknown_session(id))
    }

    pub(super) fn set_mode(&mut self, id: &str, mode: &str) -> Result<Value, Failure> {
        let session = self.get(id)?;
        session.mode =
            one_of(&MODES, mode).ok_or_else(|| Failure::invalid_params(format!("modeId: no mode `{mode}`")))?;
        Ok(json!({}))
    }

    pub(super) fn set_option(&mut self, id: &str, option: &str, value: &str) -> Result<Value, Failure> {
        let session = self.get(id)?;
        if option != VERBOSITY {
            return Err(Failure::invalid_params(format!("configId: no option `{option}`")));
        }
        session.verbosity = one_of(&VERBOSITIES, value)
            .ok_or_else(|| Failure::invalid_params(format!("value: `{option}` cannot be `{value}`")))?;
        Ok(json!({ "configOptions": session.options() }))
    }

    /// Cuts the session's turn short, if one is running.
    pub(super) fn cancel(&mut self, id: &str) {
        if let Some(session) = self.by_id.get(id) {
            session.cancel();
        }
    }

    pub(super) fn close(&mut self, id: &str) -> Result<Value, Failure> {
        let session = self.by_id.remove(id).ok_or_else(|| Failure::unknown_session(id))?;
        session.cancel();
        Ok(json!({}))
    }

    pub(super) fn cancel_all(&mut self) {
        self.by_id.values().for_each(Session::cancel);
    }

    /// A turn has ended; the session may have been closed since.
    pub(super) fn end_turn(&mut self, id: &str, turn: &Arc<Turn>) {
        if let Some(session) = self.by_id.get_mut(id)
            && session.turn.as_ref().is_some_and(|current| Arc::ptr_eq(current, turn))
        {
            session.turn = None;
        }
    }
}

fn one_of(choices: &[(&'static str, &str)], wanted: &str) -> Option<&'static str> {
    choices.iter().map(|(id, _)| *id).find(|id| *id == wanted)
}
