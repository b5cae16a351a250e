//! Merging a `session_info_update` (protocol v1): omitted is unchanged, null is cleared, a value is set; `_meta` by
//! key. A value of the wrong type counts as omitted (`x-deserialize-default-on-error`).

use serde_json::value::RawValue;

use crate::rpc::Object;
use crate::store::{Session, Title};
use crate::time;

/// Applies an update (the notification's `update` member); says whether anything changed. `now` stands in where the
/// agent takes back its own `updatedAt`.
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
            if let Ok(title) = serde_json::from_str::<String>(title) {
                changed |= session.title != Title::Agent(title.clone());
                session.title = Title::Agent(title);
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
            if let Some(updated) = serde_json::from_str::<String>(updated).ok().and_then(|text| time::parse(&text)) {
                let before = (session.updated, session.undated);
                session.touch(updated);
                changed |= before != (session.updated, session.undated);
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
    fn the_time_can_be_set_and_taken_back() {
        let mut session = Session::new("s".into(), "/".into(), 1);
        assert!(merge(&mut session, r#"{"updatedAt":"2025-10-29T14:22:15Z"}"#, 7));
        assert_eq!((session.updated, session.undated), (1_761_747_735_000, false));
        assert!(merge(&mut session, r#"{"updatedAt":null}"#, 7));
        assert_eq!((session.updated, session.undated), (7, true));
        assert!(!merge(&mut session, r#"{"updatedAt":"soon"}"#, 9));
    }
}
