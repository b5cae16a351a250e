//! All that is derived agrees with what it is derived from, as a checkup of the store sees it.

use acp_sessions_guest::sessions::checkup::{Mending, check};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;

use crate::ground::Broke;

/// A checkup finds nothing.
pub(crate) fn sound(memory: &Memory) -> Vec<Broke> {
    let store = Store::new(memory);
    let (mut broken, mut cursor) = (Vec::new(), None);
    loop {
        let part = match check(&store, Mending::Nothing, cursor.as_deref(), 256, 0) {
            Ok(part) => part,
            Err(error) => return vec![Broke::new("sound", format!("no checkup: {error}"))],
        };
        let text = |finding| Broke::new("sound", format!("{finding:?}"));
        broken.extend(part.findings.iter().map(text));
        cursor = part.next;
        if cursor.is_none() {
            return broken;
        }
    }
}
