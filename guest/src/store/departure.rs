//! Sessions that lists of one kind or another show no more: whoever follows a list is told so.

use super::{Session, directory, keys};
use crate::storage::Write;

/// Where a session was that was deleted, or is in another directory or with other agents since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// Its directory, as [`keys::name_hash`] of what lists normalise it to; none where it had no absolute one.
    folder: Option<String>,
    /// The agents that knew it, likewise.
    agents: Vec<String>,
}

impl Departure {
    /// What it leaves, if `after` is not everywhere where `before` was.
    fn of(before: &Session, after: Option<&Session>) -> Option<Self> {
        let leaves = after.is_none_or(|after| {
            directory::is_other(&before.cwd, &after.cwd)
                || before.agents.keys().any(|agent| !after.agents.contains_key(agent))
                || (before.parent.is_none() && after.parent.is_some())
        });
        (leaves && before.parent.is_none()).then(|| Self {
            folder: directory::normalise(&before.cwd).map(|cwd| keys::name_hash(&cwd)),
            agents: before.agents.keys().map(|agent| keys::name_hash(agent)).collect(),
        })
    }

    /// What is written of it with the change that has this revision.
    pub(super) fn write(before: Option<&Session>, after: Option<&Session>, revision: u64) -> Option<Write> {
        let before = before?;
        let departure = Self::of(before, after)?;
        Some(Write::Put { key: keys::departed(revision, &before.id), value: departure.to_text() })
    }

    fn to_text(&self) -> String {
        let folder = self.folder.as_deref().unwrap_or("-");
        std::iter::once(folder).chain(self.agents.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }

    /// Reads such a record; `None` where it is damaged.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hash = |part: &&str| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut parts = text.split(' ');
        let folder = match parts.next()? {
            "-" => None,
            folder => Some(Some(folder).filter(is_hash)?.to_owned()),
        };
        let agents = parts.map(|part| Some(part).filter(is_hash).map(str::to_owned)).collect::<Option<_>>()?;
        Some(Self { folder, agents })
    }

    /// Whether it was in one of these directories (normalised; among none is every one), and known to this agent, if one is
    /// given.
    pub fn was_among(&self, directories: &[&str], agent: Option<&str>) -> bool {
        let was_in = |directory: &&str| self.folder.as_ref() == Some(&keys::name_hash(directory));
        let was_known = |agent: &str| self.agents.contains(&keys::name_hash(agent));
        (directories.is_empty() || directories.iter().any(was_in)) && agent.is_none_or(was_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(cwd: &str, agents: &[&str]) -> Session {
        let mut session = Session::new("s".to_owned(), cwd.to_owned(), 1);
        for agent in agents {
            session.give_to(agent, "theirs", 0);
        }
        session
    }

    #[test]
    fn a_session_departs_from_where_it_was_and_is_not_any_more() {
        let before = session("/a", &["one", "two"]);
        for (after, departs) in [
            (Some(session("/a", &["one", "two"])), false),
            (Some(session("/a/", &["one", "two", "three"])), false),
            (Some(session("/b", &["one", "two"])), true),
            (Some(session("/a", &["one"])), true),
            (None, true),
        ] {
            assert_eq!(Departure::of(&before, after.as_ref()).is_some(), departs, "{after:?}");
        }
    }

    #[test]
    fn what_is_written_of_it_tells_where_it_was() {
        let departure = Departure::of(&session("/a", &["one"]), None).unwrap();
        let read = Departure::parse(&departure.to_text()).unwrap();
        assert_eq!(read, departure);
        for (directories, agent, expected) in [
            (&[][..], None, true),
            (&["/a"], Some("one"), true),
            (&["/b", "/a"], None, true),
            (&["/b"], None, false),
            (&["/a"], Some("two"), false),
        ] {
            assert_eq!(read.was_among(directories, agent), expected, "{directories:?} {agent:?}");
        }
        for damaged in ["", "x", "- x", "0123"] {
            assert_eq!(Departure::parse(damaged), None, "{damaged}");
        }
    }
}
