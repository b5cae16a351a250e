//! The draft that preceded the stable protocol, in requests that are passed on to somebody who takes no request for one of the
//! draft by itself.

use super::{DRAFT_FIELDS, DRAFT_ROWS};
use crate::rpc::Object;

/// The params of a list as those of a request of the draft; none where they are that as they are, or are no params.
///
/// The draft is known by its fields, of which a page's length is the one that a list has anyway.
pub fn as_of_the_draft(params: Option<&str>) -> Option<String> {
    let mut root = Object::parse(params.unwrap_or("{}"))?;
    if DRAFT_FIELDS.iter().any(|field| root.get_some(field).is_some()) {
        return None;
    }
    let asked = root.get_object("_meta").get_object("acp-sessions").get_some("limit").map(str::to_owned);
    root.set("limit", asked.unwrap_or_else(|| DRAFT_ROWS.to_string()));
    Some(root.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_otherwise_stays() {
        for (asked, expected) in [
            (None, Some(r#"{"limit":50}"#)),
            (Some("{}"), Some(r#"{"limit":50}"#)),
            (Some(r#"{"cursor":"x", "of": 1.50}"#), Some(r#"{"cursor":"x","of":1.50,"limit":50}"#)),
            (Some(r#"{"limit":null,"cwd":"/x"}"#), Some(r#"{"limit":50,"cwd":"/x"}"#)),
            (Some(r#"{"limit":5}"#), None),
            (Some(r#"{"limit":"many"}"#), None),
            (Some(r#"{"search":"x"}"#), None),
            (
                Some(r#"{"_meta":{"acp-sessions":{"limit":7}}}"#),
                Some(r#"{"_meta":{"acp-sessions":{"limit":7}},"limit":7}"#),
            ),
            (Some(r#"{"_meta":{"acp-sessions":5}}"#), Some(r#"{"_meta":{"acp-sessions":5},"limit":50}"#)),
            (Some("[]"), None),
        ] {
            assert_eq!(as_of_the_draft(asked).as_deref(), expected, "{asked:?}");
        }
    }
}
