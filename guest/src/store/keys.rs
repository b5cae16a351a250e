//! The layout of keys. Everything in them is ASCII: ids and names in other scripts are percent-encoded.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::Shelf;

/// The longest id that a session may have, in bytes.
pub const LONGEST_ID: usize = 128 * 1024;

/// The record that counts changes.
pub const REVISION: &str = "r";

/// The record that says which layout the indexes have.
pub const LAYOUT: &str = "v";

/// The record that names the agents with list rows of their own.
pub const ROSTER: &str = "i";

/// The record that tells this store from others.
pub const IDENTITY: &str = "k";

/// Where it stands what each session has used.
pub const USAGES: &str = "u/";

/// The end of the range of all keys that begin with `prefix`, which must end in a character below `~`.
pub fn range_end(prefix: &str) -> String {
    format!("{prefix}~")
}

/// An id as a part of a key: no separators, ASCII, one to one, and sorted like nothing in particular.
pub fn encode(id: &str) -> String {
    let mut encoded = String::with_capacity(id.len());
    let mut rest = id;
    // Most ids have nothing to be encoded, and each key has one.
    while let Some((at, found)) = rest.char_indices().find(|(_, c)| !stands_for_itself(*c)) {
        encoded.push_str(&rest[..at]);
        let end = at + found.len_utf8();
        for byte in rest[at..end].bytes() {
            let _ = write!(encoded, "%{byte:02X}");
        }
        rest = &rest[end..];
    }
    encoded.push_str(rest);
    encoded
}

fn stands_for_itself(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// The id that was encoded; `None` for what cannot be read as one.
pub fn decode(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = tail.get(..2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Whether a part of a key is as [`encode`] writes an id.
pub fn is_encoded(part: &str) -> bool {
    decode(part).is_some_and(|id| encode(&id) == part)
}

/// Where the records of sessions are.
pub const SESSIONS: &str = "s/";

/// A session's record.
pub fn session(id: &str) -> String {
    format!("{SESSIONS}{}", encode(id))
}

/// Where the states of sessions are.
pub const STATES: &str = "g/";

/// A session's state.
pub fn state(id: &str) -> String {
    format!("{STATES}{}", encode(id))
}

/// What a session has used.
pub fn usage(id: &str) -> String {
    format!("{USAGES}{}", encode(id))
}

/// What is kept beside a session's record, and goes with it.
pub fn beside(id: &str) -> [String; 2] {
    [state(id), usage(id)]
}

/// Where the marks of deleted sessions are.
pub const TOMBSTONES: &str = "x/";

/// The mark of a deleted session.
pub fn tombstone(id: &str) -> String {
    format!("{TOMBSTONES}{}", encode(id))
}

/// Where the marks of deleted sessions are by the ids that their agents know them by.
pub const AGENT_TOMBSTONES: &str = "y/";

/// The mark of a deleted session, by the id its agent knows it by.
pub fn agent_tombstone(agent: &str, agent_id: &str) -> String {
    format!("{AGENT_TOMBSTONES}{}/{}", encode(agent), encode(agent_id))
}

/// Where it stands which session an agent knows by an id.
pub const AGENT_SESSIONS: &str = "a/";

/// Which session an agent knows by this id.
pub fn agent_session(agent: &str, agent_id: &str) -> String {
    format!("{}{}", agent_sessions(agent), encode(agent_id))
}

/// Where the deletes are that agents have not confirmed yet.
pub const PENDING_DELETES: &str = "d/";

/// A delete that the agent has not confirmed yet.
pub fn pending_delete(agent: &str, agent_id: &str) -> String {
    format!("{}{}", pending_deletes(agent), encode(agent_id))
}

/// All deletes that an agent has not confirmed yet.
pub fn pending_deletes(agent: &str) -> String {
    format!("{PENDING_DELETES}{}/", encode(agent))
}

/// All sessions that an agent knows.
pub fn agent_sessions(agent: &str) -> String {
    format!("{AGENT_SESSIONS}{}/", encode(agent))
}

/// Where it stands when the lists of agents were last read to their ends.
pub const AGENT_LISTS: &str = "n/";

/// When the list of an agent was last read to its end.
pub fn agent_list(agent: &str) -> String {
    format!("{AGENT_LISTS}{}", encode(agent))
}

/// Where it stands what agents have been found to do.
pub const HABITS: &str = "b/";

/// Whether an agent tells all that it has of a conversation behind its answer to a load.
pub fn told_behind(agent: &str) -> String {
    format!("{HABITS}{}", encode(agent))
}

/// Whether an agent tells all windows one sum of what a session has cost.
pub fn one_sum(agent: &str) -> String {
    format!("{HABITS}{}/u", encode(agent))
}

/// Where the logs stand into which agents' replays are recorded.
pub const STAGINGS: &str = "w/";

/// A log into which a connection records what an agent tells.
pub fn staging(connection: &str, log: &str) -> String {
    format!("{STAGINGS}{}/{}", encode(connection), encode(log))
}

/// Where the records are of who shares a log.
pub const SHARES: &str = "l/";

/// Who shares a log.
pub fn log_holders(log: &str) -> String {
    format!("{SHARES}{}", encode(log))
}

/// Where it is noted which repositories directories are of.
pub const FOLDERS: &str = "f/";

/// Which repository a directory (normalised) is of.
pub fn folder(cwd: &str) -> String {
    format!("{FOLDERS}{:032x}", hash(cwd))
}

/// Where the list rows of a shelf begin that are of sessions in the directory of such a note: what follows [`FOLDERS`] in its
/// key names it.
pub fn rows_in(shelf: char, agent: Option<&str>, folder: &str) -> String {
    format!("{}c/{folder}/", rows_of(shelf, agent))
}

/// Where it is noted what is to be removed of logs.
pub const REMOVALS: &str = "q/";

/// From which entry on a log is to be removed.
pub fn removal(log: &str) -> String {
    format!("{REMOVALS}{}", encode(log))
}

/// Where the marks of open sessions are.
pub const OPEN_MARKS: &str = "o/";

/// A connection that has a session open.
pub fn open_mark(id: &str, connection: &str) -> String {
    format!("{}{}", open_marks(id), encode(connection))
}

/// All connections that have a session open.
pub fn open_marks(id: &str) -> String {
    format!("{OPEN_MARKS}{}/", encode(id))
}

/// Where the prompts are that wait for their sessions.
pub const UNSENT: &str = "m/";

/// Where a prompt waits for its session: the session's id and the connection on which it does, behind which entry of the session's
/// log it came, and behind how many others that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsent {
    /// The session.
    pub session: String,
    /// The last entry of its log then.
    pub behind: u32,
    /// A number greater than those of the others that waited when it came.
    pub number: u32,
    /// The connection.
    pub connection: String,
}

impl Unsent {
    /// They stand in the order in which they came.
    pub fn key(&self) -> String {
        let (of, connection) = (unsent_of(&self.session), encode(&self.connection));
        format!("{of}{:010}-{:010}/{connection}", self.behind, self.number)
    }

    /// What a key says.
    pub fn read(key: &str) -> Option<Self> {
        let (session, rest) = key.strip_prefix(UNSENT)?.split_once('/')?;
        let (numbers, connection) = rest.split_once('/')?;
        let (behind, number) = numbers.split_once('-')?;
        Some(Self {
            session: decode(session)?,
            behind: behind.parse().ok()?,
            number: number.parse().ok()?,
            connection: decode(connection)?,
        })
    }
}

/// All prompts that wait for a session.
pub fn unsent_of(id: &str) -> String {
    format!("{UNSENT}{}/", encode(id))
}

/// How many connections have come: raised with the first heartbeat of each, so that whoever has looked at all
/// connections there are can expect that there are no others.
pub const CONNECTIONS: &str = "c";

/// Where the heartbeats of all connections begin.
pub const HEARTBEATS: &str = "c/";

/// Until when a connection may be believed.
pub fn heartbeat(connection: &str) -> String {
    format!("{HEARTBEATS}{}", encode(connection))
}

/// Where the sessions are that agents of others started.
pub const SUBAGENTS: &str = "p/";

/// A session that another one's agent started, under that one.
pub fn subagent(parent: &str, id: &str) -> String {
    format!("{}{}", subagents(parent), encode(id))
}

/// All sessions that a session's agent started.
pub fn subagents(parent: &str) -> String {
    format!("{SUBAGENTS}{}/", encode(parent))
}

/// Each session under the revision that last changed it.
pub const CHANGES: &str = "t/";

/// A session under the revision that last changed it.
pub fn changed(revision: u64, id: &str) -> String {
    format!("{CHANGES}{revision:016}/{}", encode(id))
}

/// Revision and session of such a key.
pub fn changed_place(key: &str) -> Option<(u64, String)> {
    place_of(key.strip_prefix(CHANGES)?)
}

fn place_of(place: &str) -> Option<(u64, String)> {
    let (revision, id) = place.split_once('/')?;
    Some((revision.parse().ok()?, decode(id)?))
}

/// Where it stands which sessions were deleted or put elsewhere.
pub const DEPARTURES: &str = "z/";

/// A session that was deleted or put elsewhere with this revision.
pub fn departed(revision: u64, id: &str) -> String {
    format!("{DEPARTURES}{revision:016}/{}", encode(id))
}

/// Revision and session of such a key.
pub fn departed_place(key: &str) -> Option<(u64, String)> {
    place_of(key.strip_prefix(DEPARTURES)?)
}

/// Where the sessions are that never got a prompt, by when they were created.
pub const UNPROMPTED: &str = "e/";

/// A session that never got a prompt.
pub fn unprompted(created: i64, id: &str) -> String {
    format!("{}/{}", unprompted_until(created), encode(id))
}

/// The end of the range of those that were created before this time.
pub fn unprompted_until(created: i64) -> String {
    format!("{UNPROMPTED}{created:015}")
}

/// Where the rows of lists are.
pub const ROWS: &str = "i/";

/// Where the list rows of a shelf begin that are of sessions an agent knows, or of those that no agent knows: all or
/// those of one directory (normalised).
pub fn rows(shelf: char, agent: Option<&str>, cwd: Option<&str>) -> String {
    rows_of(shelf, agent) + &among(cwd)
}

/// Whether this can be the key of such a row, whichever shelf's and agent's.
pub fn is_row(key: &str, cwd: Option<&str>) -> bool {
    let Some((shelf, rest)) = key.strip_prefix(ROWS).and_then(|rest| rest.split_once('/')) else { return false };
    let is_shelf = Shelf::ALL.into_iter().any(|known| shelf.chars().eq([known.letter()]));
    is_shelf && rest.split_once('/').is_some_and(|(_, place)| place.starts_with(&among(cwd)))
}

/// Where rows stand among those of a shelf and agent: all, or those of one directory.
fn among(cwd: Option<&str>) -> String {
    match cwd {
        None => "u/".to_owned(),
        Some(cwd) => format!("c/{:032x}/", hash(cwd)),
    }
}

fn rows_of(shelf: char, agent: Option<&str>) -> String {
    match agent {
        None => format!("{ROWS}{shelf}/-/"),
        Some(agent) => format!("{ROWS}{shelf}/{:032x}/", hash(agent)),
    }
}

/// Where the sessions of such a range of rows stand that had activity for so long: under [`Span::number`].
///
/// [`Span::number`]: super::Span::number
pub fn rows_by_span(shelf: char, agent: Option<&str>, span: u32) -> String {
    format!("{}b/{span:02}/", rows_of(shelf, agent))
}

/// Where those of such a range of rows stand once more whose activity went on for long after the last prompt.
pub fn rows_with_long_tails(shelf: char, agent: Option<&str>) -> String {
    rows_of(shelf, agent) + "l/"
}

/// Where the list rows of a shelf begin in the layout before the present one, which had no agents: all or those of one
/// directory (normalised).
pub fn older_rows(shelf: char, cwd: Option<&str>) -> String {
    format!("{ROWS}{shelf}/{}", among(cwd))
}

/// Where the list rows of a shelf begin, in the layout before the present one, that are those of directories,
/// whichever.
pub fn older_rows_by_directory(shelf: char) -> String {
    format!("{ROWS}{shelf}/c/")
}

/// A stable hash of a name or normalised directory, so that keys stay short whatever is in them.
fn hash(text: &str) -> u128 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish128().as_u128()
}

/// A name or normalised directory where only whether it is the same matters.
pub fn name_hash(text: &str) -> String {
    format!("{:032x}", hash(text))
}

/// Which of two sessions stands later in a range of rows, by recency and id: as [`row_place`] has them.
pub fn compare_places(a: (i64, &str), b: (i64, &str)) -> Ordering {
    a.0.cmp(&b.0).then_with(|| encode(a.1).cmp(&encode(b.1)))
}

/// Where in a range of rows a session stands.
pub fn row_place(recency: i64, id: &str) -> String {
    format!("{recency:015}/{}", encode(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_any_script_come_back() {
        for id in ["", "sess_1", "a/b", "100%", "ключ", "会話", "\u{0}\n~"] {
            assert!(encode(id).is_ascii());
            assert_eq!(decode(&encode(id)).as_deref(), Some(id));
        }
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%zz"), None);
    }

    #[test]
    fn places_are_compared_as_their_keys_are() {
        let places = [(0, "a"), (5, "a/b"), (5, "a"), (5, "a-b"), (5, "é"), (7, ""), (10, "a")];
        for a in places {
            for b in places {
                let keys = [a, b].map(|(recency, id)| row_place(recency, id));
                assert_eq!(compare_places(a, b), keys[0].cmp(&keys[1]), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_part_of_a_key_that_encode_does_not_write_is_none() {
        for part in ["%4", "%zz", "!", "a b", "%41", "%2f"] {
            assert!(!is_encoded(part), "{part}");
        }
        for id in ["", "sess_1", "a/b", "100%", "ключ"] {
            assert!(is_encoded(&encode(id)), "{id}");
        }
    }
}
