//! A session, as a list shows it to somebody who has no connection.

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::rpc::{self, Object};
use crate::store::{ActivityState, Cost};

/// The layer's own part of a row's `_meta`.
const OWN: &str = "acp-sessions";

/// A session, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Session {
    /// The id its clients know it by.
    pub id: String,
    /// Its directory.
    pub cwd: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// Its last activity; none where the agent took it back.
    pub updated_at: Option<String>,
    /// When its user last prompted it.
    pub last_prompt_at: Option<String>,
    /// When its last turn ended.
    pub last_turn_ended_at: Option<String>,
    /// The model of its last turn.
    pub model: Option<String>,
    /// The session that it was forked from.
    pub forked_from: Option<String>,
    /// What is being done in it, if anybody knows.
    #[serde(serialize_with = "state_name")]
    pub state: Option<ActivityState>,
    /// What it has cost.
    #[serde(serialize_with = "cost_members")]
    pub cost: Option<Cost>,
    /// Whether it is put away.
    pub archived: bool,
    /// The agent it is with.
    pub agent: Option<String>,
    /// Its metadata, a JSON object.
    pub meta: Option<String>,
    /// Where a search matched.
    pub matched_in: Option<String>,
    /// A piece of the text there.
    pub snippet: Option<String>,
    /// How many entries were taken out of the conversation.
    pub set_aside: u32,
}

/// By the name that the WIT has.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn state_name<S: Serializer>(state: &Option<ActivityState>, to: S) -> Result<S::Ok, S::Error> {
    state.map(|state| state.name().replace('_', "-")).serialize(to)
}

/// With the amount as text, exactly.
#[expect(clippy::ref_option, reason = "it is what serde asks with")]
fn cost_members<S: Serializer>(cost: &Option<Cost>, to: S) -> Result<S::Ok, S::Error> {
    let members = |cost: &Cost| json!({ "amount": cost.amount.to_string(), "currency": cost.currency });
    cost.as_ref().map(members).serialize(to)
}

impl Session {
    /// Of a list row, member by member. What others have put there keeps all of its digits only as it stands.
    pub(super) fn of_row(row: &str) -> Self {
        let row = Object::parse_or_empty(row);
        let meta = row.get_object("_meta");
        let own = meta.get_object(OWN);
        let found = own.get_object("match");
        let mut others = meta.clone();
        others.remove(OWN);
        Self {
            id: row.get_string("sessionId").unwrap_or_default(),
            cwd: row.get_string("cwd").unwrap_or_default(),
            title: row.get_string("title"),
            created_at: own.get_string("createdAt").unwrap_or_default(),
            updated_at: row.get_string("updatedAt"),
            last_prompt_at: row.get_string("lastPromptAt"),
            last_turn_ended_at: row.get_string("lastTurnEndedAt"),
            model: row.get_string("model"),
            forked_from: row.get_string("forkedFrom"),
            state: row.get_string("state").and_then(|state| ActivityState::of_name(&state)),
            cost: row.get("cost").and_then(|cost| serde_json::from_str(cost).ok()),
            archived: row.get("archived") == Some("true"),
            agent: own.get_string("agent"),
            meta: others.iter().next().is_some().then(|| others.to_json()),
            matched_in: found.get_string("in"),
            snippet: found.get_string("snippet"),
            set_aside: own
                .get("setAside")
                .and_then(rpc::whole_number)
                .map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_put_into_a_row_keeps_all_of_its_digits() {
        let row = r#"{"sessionId":"s","cwd":"/x","_meta":{"n":[0.10000000000000000001,18446744073709551617],"acp-sessions":{}}}"#;
        let session = Session::of_row(row);
        assert_eq!(session.meta.as_deref(), Some(r#"{"n":[0.10000000000000000001,18446744073709551617]}"#));
        assert_eq!(Session::of_row(r#"{"_meta":{"acp-sessions":{}}}"#).meta, None);
    }
}
