//! The end of a delete: what was said goes out of the store's files.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use super::given_back;
use super::printable::Out;
use crate::sessions::Sessions;
use crate::store::Sqlite;

/// How long others are waited for that keep the files from being cleaned.
const WAITS: Duration = Duration::from_secs(5);

/// Removes what deleted sessions have left, to the last byte of it in the store's files. Whoever does not wait for the end
/// of it leaves the rest to whatever uses the store next. What is free then is given back to the disk.
pub(super) fn finish(mut sessions: Sessions<'_, Sqlite>, out: &mut Out) -> anyhow::Result<()> {
    let mut notes = io::stderr();
    if notes.is_terminal() {
        writeln!(notes, "Clearing it out of the store's files ...")?;
    }
    while sessions.finish_deletes()? {}
    let mut store = sessions.into_storage()?;
    if store.clean_all(WAITS)? {
        given_back::tell(&given_back::give_back(&mut store, given_back::LONGEST, || true), out)?;
    } else {
        writeln!(
            notes,
            "Other programs keep the store busy, so copies of what was deleted remain in its files until they let these be cleaned."
        )?;
    }
    Ok(())
}
