//! What can be wrong with a store, in words for people, and how far mending has to go to put it right.

use serde::{Deserialize, Serialize};

/// How far what is wrong is put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mending {
    /// Not at all: it is only told.
    Nothing,
    /// What follows from what is there is made anew. Nothing that cannot be read is touched.
    Derived,
    /// What cannot be read gives way to what is known in its place. For a copy of a store.
    Everything,
}

/// Something wrong, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub fault: Fault,
    /// A session's id, a record's key, or a log and the number of an entry.
    pub subject: String,
    /// Whether it has been put right.
    pub is_mended: bool,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The number of the last change is missing, is none, or is less than a session's.
    Revision,
    /// The layout of the indexes is unknown.
    Layout,
    /// The names of the agents are missing or cannot be read.
    Roster,
    /// A list row or another index entry is missing.
    IndexMissing,
    /// One says something else than the session's record.
    IndexWrong,
    /// One stands for nothing.
    IndexStray,
    /// What is said cannot be searched for.
    TextMissing,
    /// The text for search is another than what is said.
    TextWrong,
    /// There is text for search of what nobody has said.
    TextStray,
    /// It is not known which session an agent's id is of.
    MappingMissing,
    /// An agent's id is that of a session that is not there.
    MappingStray,
    /// It is not known, or known wrongly, who shares a log.
    Sharing,
    /// Something of a deleted session is still there.
    Deleted,
    /// Entries of a conversation are missing.
    EntryMissing,
    /// An entry has, or is said to have, a number that it cannot have.
    EntryAstray,
    /// A session's record cannot be read.
    Record,
    /// A session's record is missing, though there are words or list rows of it.
    Lost,
    /// What is last known of a session's mode, options and plan cannot be read.
    State,
    /// It is known of a session that is not there: the key is another than was written.
    StateStray,
    /// What a session has used cannot be read.
    Usage,
    /// It is known of a session that is not there: the key is another than was written.
    UsageStray,
    /// A session's record says another cost than what is kept of it by day.
    Cost,
    /// It cannot be read who shares a log.
    SharingUnreadable,
    /// A record of the layer's own cannot be read.
    Note,
    /// A record under a key that nobody knows.
    Unknown,
    /// An entry of a conversation cannot be read.
    Entry,
    /// A session's record, its state or an entry of a conversation can be read, but its checksum is that of another text.
    Altered,
    /// A part of a conversation cannot be read at all.
    Conversation,
}

impl Fault {
    /// In words.
    pub fn what(self) -> &'static str {
        match self {
            Self::Revision => "the number of the last change is missing or wrong",
            Self::Layout => "the indexes are of an earlier version, or what says so is damaged, and were not compared",
            Self::Roster => "names of agents are missing, so lists of all agents lack their sessions",
            Self::IndexMissing => "list rows or other index entries are missing",
            Self::IndexWrong => "list rows or other index entries are not what their session's record says",
            Self::IndexStray => "list rows or other index entries stand for nothing",
            Self::TextMissing => "search does not find what was said",
            Self::TextWrong => "search finds other words than were said",
            Self::TextStray => "search finds words that nobody has said",
            Self::MappingMissing => "ids of agents do not lead to their sessions",
            Self::MappingStray => "ids of agents lead to sessions that are not there",
            Self::Sharing => "it is not known, or known wrongly, which sessions share a conversation",
            Self::Deleted => "something of deleted sessions is still there",
            Self::EntryMissing => "entries of conversations are missing",
            Self::EntryAstray => "entries of conversations have, or are said to have, numbers that none can have",
            Self::Record => "sessions' records cannot be read",
            Self::Lost => "sessions' records are missing, though there are words or list rows of them",
            Self::State => "modes, options and plans of sessions cannot be read",
            Self::StateStray => "modes, options and plans are those of sessions that are not there",
            Self::Usage => "what sessions have used cannot be read",
            Self::UsageStray => "what was used was used in sessions that are not there",
            Self::Cost => "what sessions have cost is not what was said of them",
            Self::SharingUnreadable => "it cannot be read which sessions share a conversation",
            Self::Note => "records of the layer's own cannot be read",
            Self::Unknown => "there are records under keys that are none",
            Self::Entry => "entries of conversations cannot be read",
            Self::Altered => "records or entries of conversations can be read, but are not as they were written",
            Self::Conversation => "parts of conversations cannot be read from the file",
        }
    }

    /// How far mending has to go at least to put it right.
    pub fn remedy(self) -> Mending {
        match self {
            Self::EntryMissing
            | Self::EntryAstray
            | Self::Record
            | Self::Lost
            | Self::State
            | Self::StateStray
            | Self::Usage
            | Self::UsageStray
            | Self::SharingUnreadable
            | Self::Note
            | Self::Unknown
            | Self::Entry
            | Self::Altered
            | Self::Conversation => Mending::Everything,
            _ => Mending::Derived,
        }
    }
}
