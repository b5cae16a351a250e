//! The `_meta` of clients' lists that the agent's own list is still to be read with.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::connection::list_meta::ListMeta;

/// How many may wait, and of how many bytes together; the earliest gives way. One may be of any length.
const MOST: usize = 16;
const MOST_BYTES: usize = 1024 * 1024;

/// One of them.
#[derive(Debug, Serialize, Deserialize)]
struct Wanted {
    meta: ListMeta,
    /// Not before this time.
    due: i64,
}

/// All of them, in the order in which they came.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WantedMetas(VecDeque<Wanted>);

impl WantedMetas {
    /// The agent is to be asked with this, not before `due`. Those that ask for the same are one.
    pub(super) fn add(&mut self, meta: ListMeta, due: i64) {
        if let Some(same) = self.0.iter_mut().find(|wanted| wanted.meta.asks_as(&meta)) {
            same.due = same.due.min(due);
            return;
        }
        self.0.push_back(Wanted { meta, due });
        while self.0.len() > 1 && (self.0.len() > MOST || self.size() > MOST_BYTES) {
            self.0.pop_front();
        }
    }

    fn size(&self) -> usize {
        self.0.iter().map(|wanted| wanted.meta.size()).sum()
    }

    /// Whether the agent is to be asked with any by now.
    pub(super) fn are_due(&self, now: i64) -> bool {
        self.0.iter().any(|wanted| wanted.due <= now)
    }

    /// The next one: where none is due, the first, for the list is read all the same.
    pub(super) fn take(&mut self, now: i64) -> Option<ListMeta> {
        let at = self.0.iter().position(|wanted| wanted.due <= now).unwrap_or_default();
        self.0.remove(at).map(|wanted| wanted.meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(json: &str) -> ListMeta {
        ListMeta::read(Some(json))
    }

    #[test]
    fn each_meta_is_taken_once_and_those_that_ask_for_the_same_are_one() {
        let mut wanted = WantedMetas::default();
        for (json, due) in [(r#"{"a":1}"#, 50), (r#"{"b":1}"#, 0), (r#"{"b": 1,"traceparent":"x"}"#, 0)] {
            wanted.add(meta(json), due);
        }
        assert!(wanted.are_due(0));
        assert!(wanted.take(0).is_some_and(|taken| taken.asks_as(&meta(r#"{"b":1}"#))));
        assert!(!wanted.are_due(0) && wanted.are_due(50));
        assert!(wanted.take(0).is_some_and(|taken| taken.asks_as(&meta(r#"{"a":1}"#))));
        assert!(wanted.take(0).is_none());
        for json in
            [r#"{"a":1e400}"#, r#"{"a":1e500}"#, r#"{"a":1e400,"tracestate":1e500}"#, "{}", r#"{"b":1,"a":1e400}"#]
        {
            wanted.add(meta(json), 0);
        }
        assert_eq!(wanted.0.len(), 4, "what few can read is not the same as something else that few can");
    }

    #[test]
    fn no_more_metas_wait_than_there_is_room_for() {
        let mut wanted = WantedMetas::default();
        (0..2 * MOST).for_each(|number| wanted.add(meta(&format!("{{\"a\":{number}}}")), 0));
        assert_eq!(wanted.0.len(), MOST);
        assert!(wanted.take(0).is_some_and(|first| first.asks_as(&meta(&format!("{{\"a\":{MOST}}}")))));
        wanted.add(meta(&format!("{{\"a\":\"{}\"}}", "x".repeat(2 * MOST_BYTES))), 0);
        assert_eq!(wanted.0.len(), 1, "a long one alone");
    }
}
