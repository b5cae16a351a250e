//! Checking JSON to its last member without building anything of it: an image in a prompt may be of many megabytes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// How many objects this array holds, if it is an array of objects, and whatever they hold can be read: a number that is
/// one, text that is text.
pub fn count_objects(json: &str) -> Option<usize> {
    serde_json::from_str::<Objects>(json).ok().map(|Objects(count)| count)
}

/// So many objects.
struct Objects(usize);

impl<'de> Deserialize<'de> for Objects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Self(0))
    }
}

impl<'de> Visitor<'de> for Objects {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Self, A::Error> {
        while sequence.next_element::<Members>()?.is_some() {
            self.0 += 1;
        }
        Ok(self)
    }
}

struct Members;

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Anything).map(|Anything| Self)
    }
}

/// A value that is read and let go. Unlike one that is ignored, it is looked at: text must be text, numbers must fit.
struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Anything {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self, A::Error> {
        while sequence.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn what_it_refuses_is_what_cannot_be_read_as_objects() {
        let deep = |levels: usize| format!("[{{\"a\":{}{}}}]", "[".repeat(levels), "]".repeat(levels));
        let mut refused = 0;
        let cases = [
            "[]",
            "[{}]",
            r#"[{"type":"text","text":"a"},{"type":"image","data":"x","n":[1,-1,0.5,1e3,true,false,null,{"a":{}}]}]"#,
            r#"[{"a":1,"a":2}]"#,
            r#"[{"text":"\n\u00e9\ud83d\ude00"}]"#,
            r#"[{"text":"\ud800"}]"#,
            r#"[{"text":"\ud800\u0041"}]"#,
            r#"[{"text":"\x"}]"#,
            "[{\"text\":\"a\nb\"}]",
            r#"[{"n":1e999}]"#,
            r#"[{"n":123456789012345678901234567890}]"#,
            r#"[{"n":01}]"#,
            r#"[{"n":1.}]"#,
            r#"[{"\ud800":1}]"#,
            r#"[{"a":1,}]"#,
            r#"[{"a" 1}]"#,
            r"[{1:1}]",
            "[null]",
            "[1]",
            r#"["text"]"#,
            "[[]]",
            "[{},]",
            "[{}] x",
            "{}",
            "null",
            "",
            "[",
            "[{\"a\":",
            &deep(100),
            &deep(125),
            &deep(126),
            &deep(127),
            &deep(1000),
        ];
        for json in cases {
            let expected = serde_json::from_str::<Vec<Map<String, Value>>>(json).is_ok();
            assert_eq!(count_objects(json).is_some(), expected, "{json}");
            refused += usize::from(!expected);
        }
        assert!((10..cases.len() - 5).contains(&refused), "{refused} of {}", cases.len());
    }
}
