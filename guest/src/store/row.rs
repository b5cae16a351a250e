//! The list row: what a page shows of a session, ready to send, kept in the index itself.

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::activity::ActivityState;
use super::session::{Origin, Session};
use crate::time;

/// The most bytes of a row that holds any of its session's own metadata.
const LARGEST: usize = 64 * 1024;

/// A row as stored: `<created, 15 digits> <revision, 16 digits> <letter> <SessionInfo as JSON>`. The letter is `d`, or `u`
/// for a session without a date; a capital where [`RowHead::plain`] holds. Where the row has members of the draft of list
/// extensions, the letter is `p`, or `q` without a date, and before the JSON stand `<updated, 15 digits> <their length, 6
/// digits> <they>`.
///
/// The JSON begins with `{"sessionId":`, has nothing but strings before its `_meta`, and ends with the members of
/// `_meta["acp-sessions"]` and three closing braces, so that members can be added at the root and in there without parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// What it begins with.
    pub head: RowHead,
    /// The members that the draft of list extensions adds to `SessionInfo`, each with a comma before it.
    pub extension: &'a str,
    /// `SessionInfo`.
    pub json: &'a str,
}

/// What a row begins with, which decides whether it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowHead {
    /// When the session was created.
    pub created: i64,
    /// The revision that last changed the session.
    pub revision: u64,
    /// Its last activity; none where that is what the row stands by.
    pub updated: Option<i64>,
    /// Whether its last activity only orders it; see [`Session::undated`].
    pub undated: bool,
    /// Whether its texts are known to be its heading and all of its own log, and nothing else.
    pub plain: bool,
}

const CREATED: usize = 15;
const REVISION: usize = 16;
const UPDATED: usize = 15;
const LENGTH: usize = 6;
const META: &str = ",\"_meta\":";
/// Where the JSON begins, or what is before it.
const JSON: usize = CREATED + 1 + REVISION + 1 + 1 + 1;
/// Where what stands behind the time begins.
const BEHIND_UPDATED: usize = JSON + UPDATED + 1;

impl<'a> Row<'a> {
    /// The row of a session, as stored: of its metadata as much as [`LARGEST`] leaves room for.
    pub fn text(session: &Session) -> String {
        let extension = extension(session);
        let date = match (extension.is_empty(), session.undated) {
            (true, false) => 'd',
            (true, true) => 'u',
            (false, false) => 'p',
            (false, true) => 'q',
        };
        let date = if session.is_plain() { date.to_ascii_uppercase() } else { date };
        let between = if extension.is_empty() {
            String::new()
        } else {
            format!("{:015} {:06} {extension}", session.updated, extension.len())
        };
        format!("{:015} {:016} {date} {between}{}", session.created, session.revision, info(session, LARGEST))
    }

    /// Reads a stored row; `None` where it is damaged.
    pub fn parse(text: &'a str) -> Option<Self> {
        let head = RowHead::parse(text)?;
        let (extension, json) = if head.updated.is_none() {
            ("", text.get(JSON..)?)
        } else {
            let (length, rest) = text.get(BEHIND_UPDATED..)?.split_at_checked(LENGTH + 1)?;
            rest.split_at_checked(length.strip_suffix(' ')?.parse().ok()?)?
        };
        (json.starts_with("{\"sessionId\":") && json.ends_with("}}}")).then_some(Self { head, extension, json })
    }

    /// `SessionInfo` with what the draft of list extensions adds, and with what is being done in the session, if anybody
    /// knows.
    pub fn extended(self, state: Option<ActivityState>) -> String {
        with_members(self.json, self.extension, state)
    }
}

impl RowHead {
    /// What a stored row begins with.
    pub fn text(row: &str) -> &str {
        let has_time = Self::parse(row).is_some_and(|head| head.updated.is_some());
        row.get(..if has_time { BEHIND_UPDATED } else { JSON }).unwrap_or(row)
    }

    /// Reads what a stored row begins with; `None` where it is damaged.
    pub fn parse(text: &str) -> Option<Self> {
        let created = text.get(..CREATED)?.parse().ok()?;
        let revision = text.get(CREATED + 1..CREATED + 1 + REVISION)?.parse().ok()?;
        let letter = text.get(CREATED + 1 + REVISION..JSON)?.strip_prefix(' ')?.strip_suffix(' ')?;
        let (undated, is_extended) = match letter {
            "d" | "D" => (false, false),
            "u" | "U" => (true, false),
            "p" | "P" => (false, true),
            "q" | "Q" => (true, true),
            _ => return None,
        };
        let active = match text.get(JSON..BEHIND_UPDATED) {
            Some(time) if is_extended => Some(time.strip_suffix(' ')?.parse().ok()?),
            None if is_extended => return None,
            _ => None,
        };
        let plain = letter.chars().all(char::is_uppercase);
        Some(Self { created, revision, updated: active, undated, plain })
    }
}

/// `SessionInfo` with all of the session's metadata, however much that is, with what the draft of list extensions adds, and
/// with what is being done in it.
pub fn whole_row(session: &Session, state: Option<ActivityState>) -> String {
    with_members(&info(session, usize::MAX), &extension(session), state)
}

/// `SessionInfo` with these members, and with what is being done in the session, if anybody knows.
fn with_members(info: &str, members: &str, state: Option<ActivityState>) -> String {
    // Before it are nothing but strings, in which quotes are escaped.
    let Some(end) = info.find(META) else { return info.to_owned() };
    let (root, meta) = info.split_at(end);
    match state {
        None => [root, members, meta].concat(),
        Some(state) => [root, members, ",\"state\":\"", state.name(), "\"", meta].concat(),
    }
}

/// `SessionInfo`. What of the metadata would make it larger than `largest` is left out and named, the largest first.
fn info(session: &Session, largest: usize) -> String {
    let (root, own) = (open_object(&Root::of(session)), open_object(&Own::of(session)));
    let members = members(session);
    let frame = root.len() + ",\"_meta\":{\"acp-sessions\":}}}".len() + own.len();
    let kept = ShownMetadata::choose(&members, largest.saturating_sub(frame));
    let mut meta = String::new();
    for member in kept.members {
        meta.push_str(&member.text);
        meta.push(',');
    }
    let omitted = match kept.omitted {
        None => String::new(),
        Some(names) => format!(",\"omitted\":[{}]", names.join(",")),
    };
    format!("{root},\"_meta\":{{{meta}\"acp-sessions\":{own}{omitted}}}}}}}")
}

/// An object as JSON without the brace that closes it.
fn open_object(of: &impl Serialize) -> String {
    let mut json = serde_json::to_string(of).unwrap_or_default();
    json.pop();
    json
}

/// What `SessionInfo` has before its `_meta`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Root<'a> {
    session_id: &'a str,
    cwd: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    additional_directories: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    archived: bool,
}

impl<'a> Root<'a> {
    fn of(session: &'a Session) -> Self {
        Self {
            session_id: &session.id,
            cwd: &session.cwd,
            additional_directories: &session.directories,
            title: session.title.text(),
            updated_at: (!session.undated).then(|| time::format(session.updated)),
            archived: session.archived,
        }
    }
}

/// What `_meta["acp-sessions"]` says of a session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Own<'a> {
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside: Option<u64>,
}

impl<'a> Own<'a> {
    fn of(session: &'a Session) -> Self {
        Self {
            created_at: time::format(session.created),
            agent: session.agent.as_deref(),
            origin: (session.origin == Origin::Agent).then_some("agent"),
            parent: session.parent.as_deref(),
            set_aside: (!session.aside.is_empty()).then(|| session.set_aside()),
        }
    }
}

/// What the draft of list extensions adds to `SessionInfo`, each member with a comma before it.
fn extension(session: &Session) -> String {
    let mut members = String::new();
    let mut add = |name: &str, value: String| {
        members.extend([",\"", name, "\":", &value]);
    };
    if session.prompted.is_some() {
        add("lastPromptAt", json!(time::format(session.recency())).to_string());
    }
    if let Some(model) = &session.model {
        add("model", json!(model).to_string());
    }
    if let Some(parent) = &session.forked_from {
        add("forkedFrom", json!(parent).to_string());
    }
    if let Some(ended) = session.turn_ended {
        add("lastTurnEndedAt", json!(time::format(ended)).to_string());
    }
    // With all of its digits, which a number of JSON in memory has not.
    if let Some(cost) = session.cost.as_ref().and_then(|cost| serde_json::to_string(cost).ok()) {
        add("cost", cost);
    }
    members
}

/// A member of a session's metadata.
struct Member {
    /// Its name, as JSON.
    name: String,
    /// Name and value.
    text: String,
}

fn members(session: &Session) -> Vec<Member> {
    let member = |key: &str, value: &RawValue| {
        let name = json!(key).to_string();
        Member { text: format!("{name}:{}", value.get()), name }
    };
    let others = session.meta.iter().filter(|(key, _)| *key != "acp-sessions");
    others.map(|(key, value)| member(key, value)).collect()
}

/// What a row shows of the metadata, and the names of what it does not.
struct ShownMetadata<'m> {
    members: Vec<&'m Member>,
    /// `None` where nothing had to be left out.
    omitted: Option<Vec<&'m str>>,
}

impl<'m> ShownMetadata<'m> {
    /// As much as there is room for. Each member and each name comes with a comma.
    fn choose(members: &'m [Member], room: usize) -> Self {
        let mut size: usize = members.iter().map(|member| member.text.len() + 1).sum();
        if size <= room {
            return Self { members: members.iter().collect(), omitted: None };
        }
        size += ",\"omitted\":[]".len();
        let mut by_size: Vec<usize> = (0..members.len()).collect();
        by_size.sort_by_key(|&at| Reverse(members[at].text.len()));
        let mut is_kept = vec![true; members.len()];
        for at in by_size {
            if size <= room {
                break;
            }
            is_kept[at] = false;
            size = size - members[at].text.len() + members[at].name.len();
        }
        let of = |wanted: bool| members.iter().zip(&is_kept).filter(move |(_, is)| **is == wanted).map(|(of, _)| of);
        // Where even the names are too many, some go without saying.
        let mut excess = size.saturating_sub(room);
        let named = of(false).filter(|member| {
            let goes = excess > 0;
            excess = excess.saturating_sub(if goes { member.name.len() + 1 } else { 0 });
            !goes
        });
        let omitted = named.map(|member| member.name.as_str()).collect();
        Self { members: of(true).collect(), omitted: Some(omitted) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn shown(session: &Session) -> Value {
        let text = Row::text(session);
        let row = Row::parse(&text).unwrap();
        assert!(row.head.undated == session.undated && row.head.created == session.created);
        serde_json::from_str(row.json).unwrap()
    }

    fn with_meta(members: &[(&str, usize)]) -> Session {
        let mut session = Session::new("s".to_owned(), "/x".to_owned(), 1);
        for (key, length) in members {
            let value = serde_json::value::to_raw_value(&"v".repeat(*length)).unwrap();
            session.meta.insert((*key).to_owned(), value);
        }
        session
    }

    #[test]
    fn the_largest_metadata_is_left_out_of_a_row_and_named() {
        let long_names: Vec<String> = (0..200).map(|nth| format!("{nth}{}", "n".repeat(1000))).collect();
        let many: Vec<(&str, usize)> = long_names.iter().map(|name| (name.as_str(), 1000)).collect();
        for (meta, kept, omitted) in [
            (vec![], vec![], None),
            (vec![("a", 10), ("b", 60_000)], vec!["a", "b"], None),
            (vec![("a", 10), ("b", 70_000), ("c", 20)], vec!["a", "c"], Some(vec!["b"])),
            (vec![("a", 30_000), ("b", 40_000), ("c", 36_000)], vec!["a"], Some(vec!["b", "c"])),
            (vec![("a", 1_000_000), ("acp-sessions", 1_000_000)], vec![], Some(vec!["a"])),
        ] {
            let session = with_meta(&meta);
            let row = shown(&session);
            let mut names: Vec<&str> = row["_meta"].as_object().unwrap().keys().map(String::as_str).collect();
            names.retain(|name| *name != "acp-sessions");
            assert_eq!(names, kept, "{meta:?}");
            let said = row["_meta"]["acp-sessions"].get("omitted").map(|names| names.as_array().unwrap().clone());
            assert_eq!(said, omitted.map(|names| names.into_iter().map(|name| json!(name)).collect()), "{meta:?}");
            let whole: Value = serde_json::from_str(&whole_row(&session, None)).unwrap();
            let length = |(name, length): &(&str, usize)| {
                *name == "acp-sessions" || whole["_meta"][name].as_str().unwrap().len() == *length
            };
            assert!(meta.iter().all(length), "{meta:?}");
        }
        let row = shown(&with_meta(&many));
        let named = row["_meta"]["acp-sessions"]["omitted"].as_array().unwrap().len();
        let kept = row["_meta"].as_object().unwrap().len() - 1;
        assert!(row.to_string().len() <= LARGEST && named > 0 && named + kept < 200, "{named} named, {kept} kept");
    }

    #[test]
    fn a_row_is_never_larger_than_it_may_be_and_wastes_no_room() {
        for length in (LARGEST - 200..LARGEST).chain([2 * LARGEST]) {
            let session = with_meta(&[("a", 5), ("b", length)]);
            let (row, whole) = (shown(&session).to_string(), whole_row(&session, None));
            assert!(row.len() <= LARGEST);
            assert_eq!(row == whole, whole.len() <= LARGEST);
        }
    }

    #[test]
    fn further_directories_are_shown_where_there_are_any() {
        let mut session = with_meta(&[]);
        assert_eq!(shown(&session).get("additionalDirectories"), None);
        session.directories = vec!["/y".to_owned(), "/z".to_owned()];
        assert_eq!(shown(&session)["additionalDirectories"], json!(["/y", "/z"]));
    }

    #[test]
    fn what_is_no_row_is_not_read() {
        let text = Row::text(&with_meta(&[("é", 3)]));
        assert!(Row::parse(&text).is_some());
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            assert_eq!(Row::parse(&text[..at]), None);
        }
        assert_eq!(Row::parse(&text.replacen(" D ", " ", 1)), None);
    }
}
