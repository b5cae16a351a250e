//! As of when something is known of what an agent's own list says of a session.

use serde::{Deserialize, Serialize};

/// As of when that is known, in milliseconds since 1970. A list that was asked for before, in whichever window, may be older: what it
/// says of that is no news. A record of an earlier version does not tell: then every row counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsOf {
    /// When the list was asked for whose row last said something that was not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row: Option<i64>,
    /// When the agent last gave the session another title by itself, if that was since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<i64>,
    /// When the agent last answered that it has put the session away, or brought it back, if that was since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archived: Option<i64>,
}

impl AsOf {
    /// Whether nothing is known of that.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// A row of a list that was asked for then has said something that was not known.
    pub fn said(&mut self, asked: i64) {
        let is_later = |at: &i64| *at > asked;
        *self = Self { row: Some(asked), title: self.title.filter(is_later), archived: self.archived.filter(is_later) };
    }

    /// The agent has given the session another title.
    pub fn titled(&mut self, now: i64) {
        self.title = Some(now);
    }

    /// The agent has answered that it has put the session away, or brought it back.
    pub fn followed(&mut self, now: i64) {
        self.archived = Some(now);
    }

    /// Whether a list that was asked for then may say something of the session that is not known.
    pub fn may_be_news(&self, list: AskedAt) -> bool {
        list.is_since(self.row)
    }

    /// Whether a list that was asked for then may say a title of the session that is not known.
    pub fn may_be_other_title(&self, list: AskedAt) -> bool {
        self.may_be_news(list) && list.is_since(self.title)
    }

    /// Whether a list that was asked for then may say that the session was put away or brought back, where that is not
    /// known.
    pub fn may_be_moved(&self, list: AskedAt) -> bool {
        self.may_be_news(list) && list.is_since(self.archived)
    }
}

/// When a list was asked for, and what time it is.
#[derive(Debug, Clone, Copy)]
pub struct AskedAt {
    /// When it was asked for.
    pub at: i64,
    /// What time it is.
    pub now: i64,
}

impl AskedAt {
    /// Whether that was not before this. A time to come says that the clock was set back, and nothing of lists.
    fn is_since(self, known: Option<i64>) -> bool {
        known.is_none_or(|known| known <= self.at || self.now < known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(as_of: AsOf, at: i64) -> [bool; 3] {
        let list = AskedAt { at, now: 100 };
        [as_of.may_be_news(list), as_of.may_be_other_title(list), as_of.may_be_moved(list)]
    }

    #[test]
    fn a_list_that_was_asked_for_before_says_nothing_of_what_is_known_since() {
        let mut as_of = AsOf::default();
        assert_eq!(may(as_of, i64::MIN), [true; 3]);
        as_of.said(10);
        as_of.titled(20);
        as_of.followed(30);
        for (at, expected) in [
            (9, [false, false, false]),
            (10, [true, false, false]),
            (20, [true, true, false]),
            (30, [true, true, true]),
        ] {
            assert_eq!(may(as_of, at), expected, "{at}");
        }
        // What a later list says makes up for it.
        as_of.said(25);
        assert_eq!(may(as_of, 24), [false; 3]);
        assert_eq!(may(as_of, 25), [true, true, false]);
        as_of.said(30);
        assert_eq!(serde_json::to_string(&as_of).unwrap(), r#"{"row":30}"#);
    }

    #[test]
    fn where_the_clock_was_set_back_every_list_counts() {
        let mut as_of = AsOf::default();
        as_of.followed(101);
        assert_eq!(may(as_of, 50), [true; 3]);
    }
}
