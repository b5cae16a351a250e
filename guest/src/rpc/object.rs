//! A JSON object of which only some members matter.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::json;
use serde_json::value::RawValue;

use super::{elements, text};

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
        let mut json = serde_json::Deserializer::from_str(json);
        let object = json.deserialize_map(Members).ok()?;
        // Nothing stands behind it.
        json.end().ok()?;
        Some(object)
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

    /// A member that is a string for people; see [`text`].
    pub fn get_text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(text)
    }

    /// A member that is an object, or an empty one in the place of anything else.
    pub fn get_object(&self, key: &str) -> Object<'_> {
        self.get(key).and_then(Object::parse).unwrap_or_default()
    }

    /// The elements of a member that is an array.
    pub fn get_array(&self, key: &str) -> Option<Vec<&str>> {
        self.get(key).and_then(elements)
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

    /// The object's JSON with another value of a member.
    pub fn with(&self, key: &str, json: &str) -> String {
        let mut changed = self.clone();
        changed.set(key, json);
        changed.to_json()
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
            json.push_str(&json!(key).to_string());
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
        assert_eq!(object.with("z", "{}"), r#"{"a":{ "x" : 1.50 },"ключ":"\u0041","n":true,"z":{}}"#);
        assert!(Object::parse("[1]").is_none());
        assert!(Object::parse("{} 1").is_none());
    }

    #[test]
    fn members_may_be_objects_and_arrays() {
        let object = Object::parse(r#"{"o":{"a":1e400},"l":[ 1.50 ,{}],"n":null}"#).unwrap();
        assert_eq!(object.get_object("o").get("a"), Some("1e400"));
        assert_eq!(object.get_array("l"), Some(vec!["1.50", "{}"]));
        for other in ["n", "none"] {
            assert_eq!((object.get_object(other), object.get_array(other)), (Object::default(), None));
        }
        assert_eq!((object.get_object("l"), object.get_array("o")), (Object::default(), None));
    }

    #[test]
    fn of_a_member_that_is_there_twice_the_last_counts() {
        let mut object = Object::parse(r#"{"a":1,"b":2,"a":3,"c":4,"b":5}"#).unwrap();
        assert_eq!((object.get("a"), object.get("b")), (Some("3"), Some("5")));
        object.drop_doubles();
        assert_eq!(object.to_json(), r#"{"a":3,"c":4,"b":5}"#);
    }
}
