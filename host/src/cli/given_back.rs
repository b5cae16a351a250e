//! Giving back to the disk what is free of the store's file, and saying what came of it.

use std::io::{self, Write as _};
use std::time::Duration;

use super::printable::Out;
use crate::store::Sqlite;
use crate::store::sqlite::GivenBack;

/// How long may be taken for reading what is kept, where others may want to write. Writing it takes about half as long again,
/// and others wait for ten seconds before they do without.
pub(super) const LONGEST: Duration = Duration::from_secs(5);

/// Gives it back. Whatever comes of it, all else is done.
pub(super) fn give_back(
    store: &mut Sqlite,
    longest: Duration,
    goes_on: impl Fn() -> bool + Clone + Send + 'static,
) -> Result<GivenBack, String> {
    store.give_back(longest, goes_on).map_err(|error| error.to_string())
}

/// Says what came of it: what was given back with all else that is told, why not as a note.
pub(super) fn tell(given: &Result<GivenBack, String>, out: &mut Out) -> io::Result<()> {
    let why = match given {
        Ok(GivenBack::Nothing) => return Ok(()),
        Ok(GivenBack::Bytes(bytes)) => return writeln!(out, "{} MiB given back to the disk.", bytes >> 20),
        Ok(GivenBack::Later) => {
            return writeln!(io::stderr(), "The store's file becomes smaller as soon as other programs let it.");
        }
        Ok(GivenBack::Busy) => "other programs are using it. acp-sessions doctor --rebuild makes it smaller later",
        Ok(GivenBack::GivenUp) => {
            "others would have to wait too long. acp-sessions doctor --rebuild makes it smaller while no other program has it \
             open"
        }
        Ok(GivenBack::NoRoom) => "there is no room on the disk to write anew what it keeps",
        Ok(GivenBack::Damaged) => "it is damaged. acp-sessions doctor says how",
        Err(why) => why,
    };
    writeln!(io::stderr(), "The store's file stays as large as it is: {why}.")
}
