//! What `show` reads of an update. It is taken from what was stored as an agent sent it, so whatever JSON can hold may be in
//! it, at any depth: only what is shown is looked at, and what cannot be read is passed over.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members that are shown; none where they are not there, or no text.
#[derive(Debug, Default)]
pub(super) struct Update {
    /// Of what kind it is.
    pub(super) kind: Option<String>,
    /// The message that it is a part of.
    pub(super) message: Option<String>,
    /// The tool call that it is about.
    pub(super) call: Option<String>,
    /// The title of a tool call.
    pub(super) title: Option<String>,
    /// The content of a message.
    pub(super) content: Content,
}

/// A content block.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Of what kind it is.
    pub(super) kind: Option<String>,
    /// What it says.
    pub(super) text: Option<String>,
}

impl Update {
    /// Reads it; none where it is no object.
    pub(super) fn read(json: &str) -> Option<Self> {
        let mut update = Self::default();
        members(json, |name, value| match name {
            "sessionUpdate" => update.kind = text(value),
            "messageId" => update.message = text(value),
            "toolCallId" => update.call = text(value),
            "title" => update.title = text(value),
            "content" => {
                update.content = Content::default();
                // That of a tool call is a list.
                let _ = members(value, |name, value| match name {
                    "type" => update.content.kind = text(value),
                    "text" => update.content.text = text(value),
                    _ => {}
                });
            }
            _ => {}
        })?;
        Some(update)
    }
}

/// A string of JSON, with U+FFFD for escapes that stand for no character.
fn text(json: &str) -> Option<String> {
    serde_json::from_str::<Text>(json).ok().map(|Text(text)| text)
}

/// Gives each member of an object, as it stands; none if it is no object.
fn members(json: &str, each: impl FnMut(&str, &str)) -> Option<()> {
    struct Each<F>(F);

    impl<'de, F: FnMut(&str, &str)> Visitor<'de> for Each<F> {
        type Value = ();

        fn expecting(&self, into: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            into.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some(Text(name)) = map.next_key()? {
                // Taken as it stands it may be nested to any depth.
                let value: &RawValue = map.next_value()?;
                (self.0)(&name, value.get());
            }
            Ok(())
        }
    }

    serde_json::Deserializer::from_str(json).deserialize_map(Each(each)).ok()
}

struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Text;

            fn expecting(&self, into: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                into.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }
        }

        // As bytes a string may have halves of surrogate pairs.
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_json_can_hold_does_no_harm() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let json = format!(
            r#"{{"\ud800":1e999,"sessionUpdate":"x","sessionUpdate":"agent_message_chunk","deep":{deep},
                "content":{{"n":-1e999,"text":"a\udfffb\u00e4","type":"text"}},"title":5}}"#
        );
        let update = Update::read(&json).expect("an object");
        assert_eq!(update.kind.as_deref(), Some("agent_message_chunk"));
        assert_eq!((update.title, update.content.kind.as_deref()), (None, Some("text")));
        let text = update.content.text.expect("a text");
        assert!(text.starts_with("a\u{fffd}") && text.ends_with("bä"), "{text}");
    }

    #[test]
    fn what_is_no_update_is_none() {
        for json in ["", "{", "[]", "5", "null", "\"x\"", "{\"a\":1"] {
            assert!(Update::read(json).is_none(), "{json}");
        }
    }
}
