//! A session's record made anew, of what its list rows and its log say of it. What agents have heard of it is not known any
//! more, nor what was set aside.

use serde_json::Value;
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
    let row: Value = serde_json::from_str(json).ok()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let own = &row["_meta"]["acp-sessions"];
    let created = own["createdAt"].as_str().and_then(time::parse);
    let updated = row["updatedAt"].as_str().and_then(time::parse);
    let mut session = Session::new(text(&row["sessionId"])?, text(&row["cwd"])?, created.or(updated)?);
    session.updated = updated.unwrap_or(session.created).max(session.created);
    session.undated = updated.is_none();
    session.prompted = row["lastPromptAt"].as_str().and_then(time::parse);
    session.turn_ended = row["lastTurnEndedAt"].as_str().and_then(time::parse);
    session.model = text(&row["model"]);
    session.forked_from = text(&row["forkedFrom"]);
    session.title = text(&row["title"]).map_or(Title::None, Title::Agent);
    session.archived = row["archived"].as_bool().unwrap_or_default();
    session.agent = text(&own["agent"]);
    session.parent = text(&own["parent"]);
    if own["origin"] == "agent" {
        session.origin = Origin::Agent;
    }
    let directories = row["additionalDirectories"].as_array().into_iter().flatten();
    session.directories = directories.filter_map(text).collect();
    // What others have put there keeps all of its digits only as it stands.
    let whole = Object::parse_or_empty(json);
    let meta = Object::parse_or_empty(whole.get_some("_meta").unwrap_or("{}"));
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
    }
}
