//! What tool calls are called. An agent that asks permission for one may give no more than its id, when it has said before what
//! the call is.

use std::collections::BTreeMap;

use super::transcript::{BATCH_BYTES, BYTES};
use crate::rpc::Object;
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::{Entry, Kind, Part, Position, Progress, Replay, Start};

/// How many entries before a place are looked through, and about how many bytes.
const LOOK_BACK: u64 = 256;
const LOOK_BACK_BYTES: usize = 4 * BYTES;

/// What tool calls are called, by their ids, as was last said of each.
#[derive(Debug, Default)]
pub(super) struct CallTitles(BTreeMap<String, String>);

impl CallTitles {
    /// As was said soon before a place in a part of a session's transcript.
    pub(super) fn before<S: Storage>(storage: &S, session: &Session, part: Part, place: &Position) -> Result<Self> {
        let mut titles = Self::default();
        let mut left = place.reached().min(LOOK_BACK);
        let start = Start::At(Position::at(place.reached() - left));
        let mut replay = Replay::of(storage, session, part, start, &|_| true)?;
        let mut bytes = 0;
        while left > 0
            && bytes < LOOK_BACK_BYTES
            && let Progress::Entries(entries) = replay.next(storage, BATCH_BYTES)?
        {
            for (_, text) in entries {
                if left == 0 {
                    break;
                }
                left -= 1;
                bytes += text.len();
                if let Some(entry) = Entry::parse(&text) {
                    titles.note(&entry);
                }
            }
        }
        Ok(titles)
    }

    /// Takes in an entry, whatever it is.
    pub(super) fn note(&mut self, entry: &Entry<'_>) {
        // Most are something else, and some are long.
        if entry.kind != Kind::Update || !entry.json.contains("toolCallId") {
            return;
        }
        let params = Object::parse_or_empty(entry.json);
        let update = params.get_object("update");
        // The id is the title of one that was told of by a question without one.
        if let (Some(id), Some(title)) = (update.get_string("toolCallId"), update.get_text("title"))
            && id != title
        {
            self.0.insert(id, title);
        }
    }

    /// What the call of this id is called.
    pub(super) fn of(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}
