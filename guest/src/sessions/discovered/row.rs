//! A row of an agent's own list, as read.

use crate::rpc::Object;
use crate::sessions::info;
use crate::store::{ActivityState, Cost, directory, keys};
use crate::time;
use crate::transcript::own_words;

/// The longest name of a model that is taken from a list, in bytes.
const LONGEST_MODEL: usize = 200;

/// A row of an agent's list (protocol v1, `SessionInfo`).
#[derive(Debug, Clone)]
pub struct Row {
    /// The id that the agent knows the session by.
    pub agent_id: String,
    /// The directory, absolute. Of one that the agent began on behalf of another it may say none.
    pub cwd: Option<String>,
    /// Its title, unless it is empty or of the layer's own words.
    pub title: Option<String>,
    /// Milliseconds since 1970.
    pub updated: Option<i64>,
    /// When its user last prompted it, if the row says so (draft of list extensions), and so the next ones.
    pub prompted: Option<i64>,
    /// When its last turn ended.
    pub turn_ended: Option<i64>,
    /// The model of its last turn.
    pub model: Option<String>,
    /// What is being done in it.
    pub state: Option<ActivityState>,
    /// The session that it was forked from, by the agent's id.
    pub forked_from: Option<String>,
    /// What it has cost since it began.
    pub cost: Option<Cost>,
    /// When it was created, where the agent says so: as the draft had it, or as a layer in front of it does.
    pub created: Option<i64>,
    /// The further directories, if the row says which: an agent that leaves them out says nothing of them.
    pub directories: Option<Vec<String>>,
    /// Whether it is put away, if the row says so (unstable).
    pub archived: Option<bool>,
    /// `_meta` as JSON.
    pub meta: String,
    /// When the agent was asked for the list that it is of, or has told it by itself; milliseconds since 1970.
    pub asked: i64,
}

impl Row {
    /// Reads a row of a list that was asked for then; `None` where it names no session.
    pub fn read(json: &str, asked: i64) -> Option<Self> {
        let row = Object::parse(json)?;
        let agent_id = row.get_string("sessionId")?;
        let cwd = row.get_string("cwd").filter(|cwd| directory::normalise(cwd).is_some());
        let title = row.get_text("title").filter(|title| !own_words::is_ours(title));
        let meta = row.get_object("_meta");
        let layers = meta.get_object("acp-sessions");
        let created = row.get_string("createdAt").or_else(|| layers.get_string("createdAt"));
        let time = |member: &str| row.get_string(member).and_then(|text| time::of_session(&text));
        (!agent_id.is_empty()).then(|| Self {
            agent_id,
            cwd,
            title: title.as_deref().and_then(info::agents_title),
            updated: time("updatedAt"),
            prompted: time("lastPromptAt"),
            turn_ended: time("lastTurnEndedAt"),
            model: row.get_string("model").filter(|model| model.len() <= LONGEST_MODEL),
            state: row.get_string("state").and_then(|state| ActivityState::of_name(&state)),
            forked_from: row.get_string("forkedFrom").filter(|id| !id.is_empty() && id.len() <= keys::LONGEST_ID),
            cost: row.get_some("cost").and_then(Cost::read),
            created: created.and_then(|text| time::of_session(&text)),
            directories: directories(&row),
            archived: row.get_some("archived").and_then(|json| serde_json::from_str(json).ok()),
            meta: meta.to_json(),
            asked,
        })
    }

    /// Whether the agent has this title for it, or as much of it as it has room for.
    pub(super) fn is_named(&self, title: &str) -> bool {
        let Some(theirs) = &self.title else { return false };
        let kept = theirs.strip_suffix('…').or_else(|| theirs.strip_suffix("...")).map(str::trim_end);
        theirs == title || kept.is_some_and(|kept| !kept.is_empty() && title.starts_with(kept))
    }
}

/// The further directories. What among them is no text is passed over (protocol v1, `x-deserialize-skip-invalid-items`);
/// where nothing else is there, or one that is no absolute path, the row says nothing of them.
fn directories(row: &Object<'_>) -> Option<Vec<String>> {
    let said = row.get_array("additionalDirectories")?;
    let all: Vec<String> = said.iter().filter_map(|one| serde_json::from_str(one).ok()).collect();
    let says_something = said.is_empty() || !all.is_empty();
    (says_something && all.iter().all(|one| directory::normalise(one).is_some())).then_some(all)
}
