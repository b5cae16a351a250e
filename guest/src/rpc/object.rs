//! A JSON object of which only some members matter.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, values as sent. What is not touched is written as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            members.push((key.0, Cow::Borrowed(map.next_value::<&RawValue>()?.get())));
        }
        Ok(Object { members })
    }
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Object<'a> {
    /// Reads an object; `None` for any other JSON.
    pub fn parse(json: &'a str) -> Option<Self> {
        serde_json::Deserializer::from_str(json).deserialize_map(Members).ok()
    }

    /// Reads an object, or makes an empty one of anything else.
    pub fn parse_or_empty(json: &'a str) -> Self {
        Self::parse(json).unwrap_or_default()
    }

    /// A member's JSON; of one that is there twice the last, as most who read JSON take it.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().rfind(|(name, _)| name == key).map(|(_, value)| value.as_ref())
    }

    /// A member that is neither absent nor null.
    pub fn get_some(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|value| *value != "null")
    }

    /// A member that is a string.
    pub fn get_string(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|value| serde_json::from_str(value).ok())
    }

    /// Sets a member, in its place if it is there, else at the end.
    pub fn set(&mut self, key: &'a str, json: impl Into<Cow<'a, str>>) {
        match self.members.iter_mut().rfind(|(name, _)| name == key) {
            Some((_, value)) => *value = json.into(),
            None => self.members.push((Cow::Borrowed(key), json.into())),
        }
    }

    /// Removes a member.
    pub fn remove(&mut self, key: &str) {
        self.members.retain(|(name, _)| name != key);
    }

    /// Of a member that is there twice only the last stays.
    pub fn drop_doubles(&mut self) {
        let mut seen = BTreeSet::new();
        let mut stays: Vec<_> = self.members.iter().rev().map(|(name, _)| seen.insert(name.clone())).collect();
        self.members.retain(|_| stays.pop().unwrap_or(true));
    }

    /// The members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))
    }

    /// The object's JSON.
    pub fn to_json(&self) -> String {
        let size = self.members.iter().map(|(key, value)| key.len() + value.len() + 4).sum::<usize>();
        let mut json = String::with_capacity(size + 2);
        json.push('{');
        for (at, (key, value)) in self.members.iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            json.push_str(&serde_json::Value::from(key.as_ref()).to_string());
            json.push(':');
            json.push_str(value);
        }
        json.push('}');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_members_stay_byte_for_byte() {
        let text = r#"{"a":{ "x" : 1.50 },"ключ":"\u0041","n":null}"#;
        let mut object = Object::parse(text).unwrap();
        assert_eq!(object.to_json(), text);
        object.set("n", "true");
        object.set("z", "[]");
        assert_eq!(object.to_json(), r#"{"a":{ "x" : 1.50 },"ключ":"\u0041","n":true,"z":[]}"#);
        assert_eq!(object.get_some("n"), Some("true"));
        assert!(Object::parse("[1]").is_none());
    }

    #[test]
    fn of_a_member_that_is_there_twice_the_last_counts() {
        let mut object = Object::parse(r#"{"a":1,"b":2,"a":3,"c":4,"b":5}"#).unwrap();
        assert_eq!((object.get("a"), object.get("b")), (Some("3"), Some("5")));
        object.drop_doubles();
        assert_eq!(object.to_json(), r#"{"a":3,"c":4,"b":5}"#);
    }
}
