//! The whole corpus, held against whoever plays it.

use std::io;

use crate::case::Case;
use crate::file::{all, folder, read};

/// The corpus has more cases than this: with fewer, something has got lost.
const FEWEST: usize = 200;

/// Where the two differ first.
pub fn difference(wanted: &Case, played: &Case) -> Option<String> {
    for (nth, (wanted, played)) in wanted.steps.iter().zip(&played.steps).enumerate() {
        if wanted != played {
            return Some(format!("step {nth}\n  wanted {wanted:?}\n  played {played:?}"));
        }
    }
    (wanted.end != played.end).then(|| format!("the end\n  wanted {:?}\n  played {:?}", wanted.end, played.end))
}

/// Plays every case, and returns what comes out otherwise than it was recorded, each with the case's name.
pub fn differences(mut play: impl FnMut(&Case) -> Case) -> io::Result<Vec<String>> {
    let paths = all()?;
    if paths.len() < FEWEST {
        return Err(io::Error::other(format!("there are only {} cases", paths.len())));
    }
    let mut found = Vec::new();
    for path in &paths {
        let name = path.strip_prefix(folder()).unwrap_or(path).display();
        let wanted = read(path).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        found.extend(difference(&wanted, &play(&wanted)).map(|difference| format!("{name}: {difference}")));
    }
    Ok(found)
}
