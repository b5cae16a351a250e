//! A session's record made anew, of what its list rows and its log say of it. What agents have heard of it is not known any
//! more, nor what was set aside.

use serde_json::value::RawValue;

use crate::rpc::Object;
use crate::sessions::title;
use crate::storage::{Bounds, Result, Storage};
use crate::store::{Holders, Origin, Segment, Session, Store, Title, keys};
use crate::time;
use crate::transcript::{Entry, Kind};

/// How much is read to find out how a log begins and ends.
const BEGINNING: Bounds = Bounds { limit: 64, max_bytes: 64 * 1024 };
/// How much is read of who shares logs at a time.
const SHARED: Bounds = Bounds { limit: 256, max_bytes: 256 * 1024 };

/// What a list row says of a session.
pub(super) fn of_row(json: &str) -> Option<Session> {
    let row = Object::parse(json)?;
    let meta = row.get_object("_meta");
    let own = meta.get_object("acp-sessions");
    let time = |of: &Object<'_>, member: &str| of.get_string(member).and_then(|text| time::parse(&text));
    let updated = time(&row, "updatedAt");
    let created = time(&own, "createdAt").or(updated)?;
    let mut session = Session::new(row.get_string("sessionId")?, row.get_string("cwd")?, created);
    session.updated = updated.unwrap_or(session.created).max(session.created);
    session.undated = updated.is_none();
    session.prompted = time(&row, "lastPromptAt");
    session.turn_ended = time(&row, "lastTurnEndedAt");
    session.model = row.get_string("model");
    session.forked_from = row.get_string("forkedFrom");
    session.title = row.get_string("title").map_or(Title::None, Title::Agent);
    session.archived = row.get("archived") == Some("true");
    session.agent = own.get_string("agent");
    session.parent = own.get_string("parent");
    if own.get_string("origin").as_deref() == Some("agent") {
        session.origin = Origin::Agent;
    }
    let directories = row.get_array("additionalDirectories").unwrap_or_default();
    session.directories = directories.into_iter().filter_map(|path| serde_json::from_str(path).ok()).collect();
    let others = meta.iter().filter(|(key, _)| *key != "acp-sessions");
    let raw = |value: &str| RawValue::from_string(value.to_owned()).ok();
    session.meta = others.filter_map(|(key, value)| Some((key.to_owned(), raw(value)?))).collect();
    Some(session)
}

/// The session of this id by what is said in it and, where there is one, what a row says of it.
pub(super) fn with_log<S: Storage>(store: &Store<S>, id: &str, row: Option<Session>, now: i64) -> Result<Session> {
    let storage = store.storage();
    let beginning = storage.read_log(id, 1, BEGINNING)?.entries;
    let end = storage.log_end(id)?;
    let last = storage.read_log(id, end, BEGINNING)?.entries;
    let time = |text: Option<&str>| text.and_then(Entry::parse).map(|entry| entry.time);
    let first = beginning.iter().find_map(|entry| time(Some(&entry.value)));
    let mut session = row.unwrap_or_else(|| {
        // Where it was is not known.
        let mut session = Session::new(id.to_owned(), "/".to_owned(), first.unwrap_or(now));
        session.touch(time(last.first().map(|entry| entry.value.as_str())).unwrap_or(session.created));
        session
    });
    let prompts = || beginning.iter().filter_map(|entry| Entry::parse(&entry.value));
    let prompt = prompts().find(|entry| entry.kind == Kind::Prompt);
    if session.title == Title::None {
        let named = prompt.and_then(|entry| entry.prompt().and_then(title::from_prompt));
        session.title = named.map_or(Title::None, Title::Auto);
    }
    if session.agent.is_none() {
        session.agent = prompt.and_then(|entry| entry.with()).map(|(agent, _)| agent);
    }
    session.segments = segments(store, id)?;
    if end > 0 {
        // Nobody is to take it for one in which nothing was ever said.
        session.prompts = 1;
        session.origin = Origin::Layer;
    }
    Ok(session)
}

/// The parts of other logs that the session has. In which order they stand is not known, but for when they begin.
fn segments<S: Storage>(store: &Store<S>, id: &str) -> Result<Vec<Segment>> {
    let (mut start, end) = (keys::SHARES.to_owned(), keys::range_end(keys::SHARES));
    let mut parts = Vec::new();
    loop {
        let page = store.storage().scan(&start, &end, false, SHARED)?;
        for entry in &page.entries {
            let until = Holders::parse(Some(&entry.value)).ok().and_then(|known| known.holders.get(id).copied());
            let log = entry.key.strip_prefix(keys::SHARES).and_then(keys::decode);
            let Some((log, until)) = log.zip(until) else { continue };
            let first = store.storage().read_log(&log, 1, Bounds { limit: 1, max_bytes: 1 })?.entries;
            let time = first.first().and_then(|entry| Entry::parse(&entry.value)).map(|entry| entry.time);
            parts.push((time, Segment { log, from: 1, until }));
        }
        let Some(last) = page.entries.last().filter(|_| page.more) else { break };
        start = format!("{}\u{0}", last.key);
    }
    parts.sort_by_key(|(time, _)| *time);
    Ok(parts.into_iter().map(|(_, segment)| segment).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_put_into_a_row_keeps_all_of_its_digits() {
        let row =
            r#"{"sessionId":"s","cwd":"/x","updatedAt":"2026-01-01T00:00:00Z","_meta":{"n":18446744073709551617}}"#;
        assert_eq!(of_row(row).unwrap().meta["n"].get(), "18446744073709551617");
        let row = row.replace("18446744073709551617", "1e400");
        assert_eq!(of_row(&row).map(|session| session.meta["n"].get().to_owned()).as_deref(), Some("1e400"));
    }
}
