//! A history on its way to a client: a little at a time, as far as the client has room.

use std::borrow::Cow;

use serde_json::json;

use super::answer;
use super::asked::AskedFor;
use crate::rpc::{self, RpcError};
use crate::sessions::place;
use crate::storage::Storage;
use crate::store::{Session, Store};
use crate::transcript::{Entry, LaidOut, Part, Replay, Shown, Start};

/// The first piece of a history is small, so that it is there at once.
pub(super) const FIRST_PIECE: usize = 16 * 1024;

/// What a client is still to be shown of a session.
#[derive(Debug)]
pub(super) struct Showing {
    /// The record as it was when the history began.
    session: Session,
    part: Part,
    history: Replay,
    /// What the client has asked for.
    asked: AskedFor,
    /// Some of it is on its way.
    begun: bool,
    /// The state follows the history.
    state_due: bool,
}

impl Showing {
    /// Shows a part of the history from `start` on.
    pub(super) fn open<S: Storage>(
        store: &Store<S>,
        session: &Session,
        part: Part,
        start: Start,
        asked: AskedFor,
    ) -> Result<Self, RpcError> {
        const FIELD: &str = "_meta.acp-sessions.replay";
        let history = Replay::of(store.storage(), session, part, start, &|name| asked.admits(name))?;
        if !history.contains(history.position()) {
            return Err(RpcError::invalid_params(FIELD, "names a place this session does not have"));
        }
        Ok(Self { session: session.clone(), part, history, asked, begun: false, state_due: true })
    }

    /// Whether none of it is on its way yet.
    pub(super) fn is_to_begin(&self) -> bool {
        !self.begun
    }

    /// Whether the state is still to be shown; it is from now on taken as shown.
    pub(super) fn take_state_due(&mut self) -> bool {
        std::mem::replace(&mut self.state_due, false)
    }

    /// Whether all of it has been shown.
    pub(super) fn is_over(&self) -> bool {
        !self.state_due
    }

    /// Where the history stands that was shown; nowhere in the conversation where that was none of it.
    pub(super) fn cursor(&self) -> Option<String> {
        let is_conversation = self.part == Part::Conversation;
        is_conversation.then(|| place::to_cursor(&self.session, self.part, self.history.position()))
    }

    /// How much of the session's own log was shown, where all of the conversation was.
    pub(super) fn shown(&self) -> Option<Shown> {
        (self.part == Part::Conversation).then(|| self.history.shown(&self.session))
    }

    /// How the transcript is laid out that is shown.
    pub(super) fn laid_out(&self) -> LaidOut {
        LaidOut::of(&self.session)
    }

    /// The next lines and their size; `None` at the end as it was known when the history began or was last extended.
    pub(super) fn next<S: Storage>(
        &mut self,
        store: &Store<S>,
        id: &str,
        room: usize,
    ) -> Result<Option<Vec<String>>, RpcError> {
        self.begun = true;
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let Some(entries) = self.history.next_texts(store.storage(), room)? else { return Ok(None) };
        // Nobody is to take what was set aside for a part of the conversation.
        let mark = (self.part == Part::SetAside).then(|| json!({ "setAside": true }).to_string());
        Ok(Some(lines_of(&entries, id, self.asked, |_| mark.clone())))
    }

    /// Takes in what was recorded since; says whether anything was.
    pub(super) fn extend<S: Storage>(&mut self, store: &Store<S>) -> Result<bool, RpcError> {
        Ok(self.part == Part::Conversation && self.history.extend(store.storage(), &self.session)?)
    }
}

/// The lines by which a client is told these entries of a session, of what it has asked for; each bears the mark (JSON).
pub(super) fn lines_of(
    entries: &[String],
    id: &str,
    asked: AskedFor,
    mark: impl Fn(&Entry<'_>) -> Option<String>,
) -> Vec<String> {
    let session_id = json!(id).to_string();
    let mut lines = Vec::with_capacity(entries.len());
    let entries = entries.iter().filter_map(|text| Entry::parse(text));
    for entry in entries {
        let shown = match entry.update_name() {
            Some(name) => asked.params_shown(&name, entry.json),
            None => Some(Cow::Borrowed(entry.json)),
        };
        let Some(json) = shown.as_deref() else { continue };
        let mark = mark(&entry);
        Entry { json, ..entry }.replay(&session_id, |params| {
            lines.push(match &mark {
                None => rpc::notification("session/update", &params),
                Some(mark) => rpc::notification("session/update", &answer::marked(&params.to_string(), mark)),
            });
        });
    }
    lines
}
