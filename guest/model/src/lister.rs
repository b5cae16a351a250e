//! What is tested.

use serde_json::Value;

use crate::change::Change;
use crate::question::Agents;

/// Something that keeps sessions and lists them.
pub trait Lister {
    /// Makes a change. Every change is to a session that is there, and no id is used twice.
    fn apply(&mut self, change: &Change);

    /// Answers these params of `session/list`.
    fn list(&mut self, params: &Value) -> Result<Value, Refusal>;

    /// Whose sessions a list shows that does not say.
    fn agents_by_default(&self) -> Agents {
        Agents::Own
    }

    /// Whether conversations can be searched, and not only titles and metadata.
    fn searches_conversations(&self) -> bool {
        true
    }
}

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind.
    pub code: i64,
    /// For people.
    pub message: String,
}
