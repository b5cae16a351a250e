//! What an agent's own list may still say of a session's further directories, though they are others here by now.

use serde::{Deserialize, Deserializer, Serialize};

use super::directory;

/// What it may say that is no news, since the layer knows of what came behind it: folders were moved here, or a client has opened
/// the session with others. As soon as the agent says anything else, it is right.
///
/// First what it said, or knew, before; then what it was told since, as the session was opened: some agents take that up and say
/// it from then on, and others go on with what they had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Overtaken(Vec<Vec<String>>);

/// What an agent's list says of a session's further directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Something that was not known.
    News,
    /// What it said before, or was told.
    Overtaken,
}

impl Overtaken {
    /// Whether it may say nothing of the kind.
    pub fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    /// The further directories are others since folders were moved.
    pub fn moved(&mut self, before: &[String], after: &[String]) {
        if self.0.is_empty() {
            self.0.push(before.to_vec());
        }
        self.end_where_said(after);
    }

    /// The session was opened with some, where it had others before, or the same; now it has these.
    pub fn opened(&mut self, before: &[String], with: &[String], after: &[String]) {
        self.0.truncate(1);
        if self.0.is_empty() {
            self.0.push(before.to_vec());
        }
        if !self.0.iter().any(|said| directory::are_same(said, with)) {
            self.0.push(with.to_vec());
        }
        self.end_where_said(after);
    }

    /// The agent's list says this, where the session has these.
    pub fn said(&mut self, said: &[String], present: &[String]) -> Word {
        let Some(at) = self.0.iter().position(|overtaken| directory::are_same(overtaken, said)) else {
            self.0.clear();
            return Word::News;
        };
        // It has taken up what it was told: what it said before would be news again.
        self.0.drain(..at);
        self.end_where_said(present);
        Word::Overtaken
    }

    /// Whether whoever has opened the session with these has it elsewhere now, since folders were moved.
    pub fn has_moved_from(&self, directories: &[String]) -> bool {
        self.0.last().is_some_and(|last| directory::are_same(last, directories))
    }

    /// Nothing is overtaken where the only thing that it may say is what is so.
    fn end_where_said(&mut self, present: &[String]) {
        if let [said] = self.0.as_slice()
            && directory::are_same(said, present)
        {
            self.0.clear();
        }
    }
}

impl<'de> Deserialize<'de> for Overtaken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Stored::deserialize(deserializer).map(|stored| match stored {
            Stored::Earlier(directories) if directories.is_empty() => Self::default(),
            Stored::Earlier(directories) => Self(vec![directories]),
            Stored::Present(all) => Self(all),
        })
    }
}

/// As it is in records: of an earlier version there are only the directories that were so before folders were moved.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Earlier(Vec<String>),
    Present(Vec<Vec<String>>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn an_agent_may_go_on_with_what_it_said_or_take_up_what_it_was_told() {
        let [one, two, three] = [&["/one"], &["/two"], &["/three"]].map(|some| paths(some));
        let mut opened = Overtaken::default();
        opened.opened(&one, &one, &one);
        assert!(opened.is_nothing());
        opened.opened(&one, &two, &two);
        assert_eq!(opened.clone().said(&three, &two), Word::News);
        assert_eq!(opened.said(&one, &two), Word::Overtaken);
        assert!(!opened.is_nothing());
        assert_eq!(opened.said(&two, &two), Word::Overtaken);
        assert!(opened.is_nothing());
        opened.opened(&one, &two, &two);
        opened.moved(&two, &three);
        for said in [&one, &two, &two] {
            assert_eq!(opened.said(said, &three), Word::Overtaken, "{said:?}");
        }
        assert_eq!(opened.said(&one, &three), Word::News);
        assert!(opened.is_nothing());
        // It is opened with what its list says all along.
        opened.moved(&one, &two);
        opened.opened(&two, &one, &one);
        assert!(opened.is_nothing());
    }

    #[test]
    fn what_is_stored_is_read_again_also_of_an_earlier_version() {
        let read = |text: &str| serde_json::from_str::<Overtaken>(text).unwrap();
        assert!(read("[]").is_nothing());
        assert_eq!(read(r#"["/a","/b"]"#), Overtaken(vec![paths(&["/a", "/b"])]));
        let none = Overtaken(vec![Vec::new(), paths(&["/a"])]);
        assert_eq!(read(&serde_json::to_string(&none).unwrap()), none);
        assert_eq!(read("[[]]"), Overtaken(vec![Vec::new()]));
    }
}
