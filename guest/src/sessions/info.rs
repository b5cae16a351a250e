//! Merging a `session_info_update` (protocol v1): omitted is unchanged, null is cleared, a value is set; `_meta` by
//! key. A value of the wrong type counts as omitted (`x-deserialize-default-on-error`), and so does an empty title.

use serde_json::json;
use serde_json::value::RawValue;

use super::title;
use crate::rpc::{self, Object};
use crate::storage::{Result, Storage};
use crate::store::{Decision, Session, Store, Title};
use crate::time;
use crate::transcript::own_words;

/// The longest title of an agent's, in characters.
pub const LONGEST_TITLE: usize = 500;

/// How many bytes of metadata are kept of a session: every change of it writes them again.
const MOST_META: usize = 1024 * 1024;

/// An agent's title as it is kept: one line of at most [`LONGEST_TITLE`] characters; `None` where there is nothing in
/// it, which counts as omitted.
pub fn agents_title(title: &str) -> Option<String> {
    let line = title::one_line(title);
    let cut = line.char_indices().nth(LONGEST_TITLE).map(|_| {
        // One character is the ellipsis.
        let head: String = line.chars().take(LONGEST_TITLE - 1).collect();
        format!("{}…", head.trim_end())
    });
    Some(cut.unwrap_or(line)).filter(|line| !line.is_empty())
}

/// The update without a title that is of the layer's own words: some agents name a session after the first prompt they
/// see, which may begin with an account of what was said before. `None` if nothing is left of it.
pub fn without_own_words(update: &str) -> Option<String> {
    let read = Object::parse_or_empty(update);
    if !read.get_text("title").is_some_and(|title| own_words::is_ours(&title)) {
        return Some(update.to_owned());
    }
    let mut rest = read;
    rest.remove("title");
    says_anything(&rest).then(|| rest.to_json())
}

/// Whether an update has more than its name.
fn says_anything(update: &Object<'_>) -> bool {
    update.iter().any(|(name, _)| name != "sessionUpdate")
}

/// Applies an update of this agent's to the session of this id, if there is one. Returns what of it counts: no title where the user has
/// set one; `None` if nothing does.
pub fn store<S: Storage>(
    store: &Store<S>,
    id: &str,
    (agent, update): (&str, &str),
    now: i64,
) -> Result<Option<String>> {
    let mut is_named = false;
    store.change(id).commit(|before, _, _| {
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        is_named = matches!(session.title, Title::Set(_));
        let title = session.title.clone();
        if !merge(&mut session, update, now) {
            return Ok(Decision::Keep);
        }
        if let Some(known) = session.agents.get_mut(agent).filter(|_| session.title != title) {
            // A list that was asked for before has the title that was.
            known.as_of.titled(now);
        }
        Ok(Decision::put(session))
    })?;
    Ok(as_listed(update, is_named, now))
}

/// The update with its title and its time as they stand in lists: clients sort by these times as texts. What counts as
/// omitted is left out, and so is a time to come, and a title where the user has set one; `None` if nothing is left.
pub fn as_listed(update: &str, is_named: bool, now: i64) -> Option<String> {
    let read = Object::parse_or_empty(update);
    let title = read.get_text("title").and_then(|title| agents_title(&title)).filter(|_| !is_named);
    let updated = read.get_string("updatedAt").and_then(|text| time::of_session(&text)).filter(|at| *at <= now);
    let mut shown = read.clone();
    let is_title_cleared = read.get("title") == Some("null") && !is_named;
    show(&mut shown, "title", title, is_title_cleared);
    show(&mut shown, "updatedAt", updated.map(time::format), read.get("updatedAt") == Some("null"));
    if shown.iter().eq(read.iter()) {
        return Some(update.to_owned());
    }
    says_anything(&shown).then(|| shown.to_json())
}

/// A member of an update as this text. Where there is none it is left out, unless it is taken back.
fn show<'a>(update: &mut Object<'a>, name: &'a str, text: Option<String>, is_cleared: bool) {
    match text {
        Some(text) if update.get_string(name).as_ref() != Some(&text) => {
            update.set(name, json!(text).to_string());
        }
        Some(_) => {}
        None if is_cleared => {}
        None => update.remove(name),
    }
}

/// Applies an update (the notification's `update` member); says whether anything changed. `now` stands in where the
/// agent takes back its own `updatedAt`. A time to come is not followed, as in the agent's list: it would stand before all
/// else until it has come.
pub fn merge(session: &mut Session, update: &str, now: i64) -> bool {
    let update = Object::parse_or_empty(update);
    let mut changed = false;
    match update.get("title") {
        // A user's title stays.
        Some(_) if matches!(session.title, Title::Set(_)) => {}
        Some("null") => {
            changed |= session.title != Title::Cleared;
            session.title = Title::Cleared;
        }
        Some(title) => {
            if let Some(title) = rpc::text(title).and_then(|title| agents_title(&title)).map(Title::Agent) {
                changed |= session.title != title;
                session.title = title;
            }
        }
        None => {}
    }
    match update.get("updatedAt") {
        Some("null") => {
            session.touch(now);
            session.undated = true;
            changed = true;
        }
        Some(updated) => {
            let updated = serde_json::from_str::<String>(updated).ok().and_then(|text| time::of_session(&text));
            if let Some(updated) = updated.filter(|at| *at <= now) {
                let before = (session.created, session.updated, session.undated);
                session.date(updated, now);
                changed |= before != (session.created, session.updated, session.undated);
            }
        }
        None => {}
    }
    match update.get("_meta") {
        Some("null") => {
            changed |= !session.meta.is_empty();
            session.meta.clear();
        }
        Some(meta) => {
            for (key, value) in Object::parse_or_empty(meta).iter() {
                if value == "null" {
                    changed |= session.meta.remove(key).is_some();
                } else if !has_room(session, key, value) {
                    // What was there is out of date.
                    changed |= session.meta.remove(key).is_some();
                } else if let Ok(value) = RawValue::from_string(value.to_owned()) {
                    changed |= session.meta.get(key).is_none_or(|old| old.get() != value.get());
                    session.meta.insert(key.to_owned(), value);
                }
            }
        }
        None => {}
    }
    changed
}

/// Whether a session's metadata stays within its bounds with this member.
fn has_room(session: &Session, key: &str, value: &str) -> bool {
    let others = session.meta.iter().filter(|(other, _)| *other != key);
    let size = others.map(|(key, value)| key.len() + value.get().len()).sum::<usize>();
    size + key.len() + value.len() <= MOST_META
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_null_and_value_are_three_things() {
        let mut session = Session::new("s".into(), "/".into(), 1);
        for (update, changed, title, meta) in [
            (r#"{"title":"One"}"#, true, Some("One"), ""),
            (r"{}", false, Some("One"), ""),
            (r#"{"title":5}"#, false, Some("One"), ""),
            (r#"{"_meta":{"a":1,"b":[2]}}"#, true, Some("One"), "a=1 b=[2]"),
            (r#"{"_meta":{"b":null,"c":{}}}"#, true, Some("One"), "a=1 c={}"),
            (r#"{"title":null}"#, true, None, "a=1 c={}"),
            (r#"{"title":"Two","_meta":null}"#, true, Some("Two"), ""),
        ] {
            assert_eq!(merge(&mut session, update, 2), changed, "{update}");
            assert_eq!(session.title.text(), title);
            let found: Vec<_> = session.meta.iter().map(|(key, value)| format!("{key}={}", value.get())).collect();
            assert_eq!(found.join(" "), meta);
        }
    }

    #[test]
    fn an_agents_title_is_one_line_that_says_something() {
        let long = "long ".repeat(200);
        for (title, expected) in [
            ("Fix the bug", Some("Fix the bug".to_owned())),
            ("  Fix\r\n\n the\u{0}bug\t \u{2028}now\u{7f}\u{85}", Some("Fix the bug now".to_owned())),
            ("two  spaces", Some("two  spaces".to_owned())),
            ("", None),
            (" \n\t\u{7} ", None),
            (&"é".repeat(500), Some("é".repeat(500))),
            (&"é".repeat(501), Some("é".repeat(499) + "…")),
            (&long, Some("long ".repeat(100).trim_end()[..499].to_owned() + "…")),
        ] {
            let mut session = Session::new("s".into(), "/".into(), 1);
            let update = serde_json::json!({ "title": title }).to_string();
            assert_eq!(merge(&mut session, &update, 2), expected.is_some(), "{title:?}");
            assert_eq!(session.title.text(), expected.as_deref(), "{title:?}");
            assert!(session.title.text().is_none_or(|title| title.chars().count() <= LONGEST_TITLE));
            assert!(!merge(&mut session, &update, 3), "{title:?} again");
            session.title = Title::Set("The user's".to_owned());
            assert!(!merge(&mut session, &update, 4), "{title:?} over the user's");
            assert_eq!(session.title.text(), Some("The user's"));
        }
    }

    #[test]
    fn the_time_can_be_set_and_taken_back() {
        let mut session = Session::new("s".into(), "/".into(), 1);
        let (update, at) = (r#"{"updatedAt":"2025-10-29T14:22:15Z"}"#, 1_761_747_735_000);
        assert!(!merge(&mut session, update, at - 1), "it is still to come");
        assert_eq!(session.updated, 1);
        assert!(merge(&mut session, update, at));
        assert_eq!((session.updated, session.undated), (at, false));
        assert!(merge(&mut session, r#"{"updatedAt":null}"#, 7));
        assert_eq!((session.updated, session.undated), (7, true));
        assert!(!merge(&mut session, r#"{"updatedAt":"soon"}"#, 9));
    }

    #[test]
    fn clients_are_told_the_times_that_lists_have() {
        for (update, told) in [
            (r#"{"updatedAt":"1970-01-01T00:00:01.000Z"}"#, Some(r#"{"updatedAt":"1970-01-01T00:00:01.000Z"}"#)),
            (r#"{"updatedAt":"1970-01-01T01:00:01+01:00"}"#, Some(r#"{"updatedAt":"1970-01-01T00:00:01.000Z"}"#)),
            (r#"{"title":"One","updatedAt":"1970-01-01T00:00:02.001Z"}"#, Some(r#"{"title":"One"}"#)),
            (r#"{"title":"One","updatedAt":"0001-01-01T00:00:00Z"}"#, Some(r#"{"title":"One"}"#)),
            (r#"{"title":"One","updatedAt":"1960-01-01T00:00:00Z"}"#, Some(r#"{"title":"One"}"#)),
            (r#"{"title":"One","updatedAt":"1970-01-01T00:00:00Z"}"#, Some(r#"{"title":"One"}"#)),
            (r#"{"title":"One","updatedAt":"soon"}"#, Some(r#"{"title":"One"}"#)),
            (r#"{"title":5,"updatedAt":5,"_meta":{ }}"#, Some(r#"{"_meta":{ }}"#)),
            (r#"{"updatedAt": null}"#, Some(r#"{"updatedAt": null}"#)),
            (r#"{"sessionUpdate":"session_info_update","updatedAt":"soon"}"#, None),
        ] {
            assert_eq!(as_listed(update, false, 2000).as_deref(), told);
        }
    }

    #[test]
    fn clients_are_told_the_titles_that_lists_have() {
        for (update, told, told_if_named) in [
            (r#"{"title": "One"}"#, Some(r#"{"title": "One"}"#), None),
            (r#"{"title":" One\n","_meta":{}}"#, Some(r#"{"title":"One","_meta":{}}"#), Some(r#"{"_meta":{}}"#)),
            (r#"{"title":"","_meta":{}}"#, Some(r#"{"_meta":{}}"#), Some(r#"{"_meta":{}}"#)),
            (r#"{"title":"One \ud83d"}"#, Some("{\"title\":\"One \u{fffd}\"}"), None),
            (r#"{"title":null}"#, Some(r#"{"title":null}"#), None),
        ] {
            assert_eq!(as_listed(update, false, 1).as_deref(), told);
            assert_eq!(as_listed(update, true, 1).as_deref(), told_if_named);
        }
    }
}
