//! An entry on its way into the log, and adjacent chunks of one message, which are joined to one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::indexed::Indexed;
use crate::index;
use crate::transcript::entry::{Belongs, Entry, Kind};

/// An entry on its way into the log.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) text: String,
    /// What it is found by, made once; `None`: made when it is written, if it is indexed.
    pub(super) tokens: Option<String>,
    pub(super) time: i64,
    /// With which arrival its last part came; see [`super::Recorder::at`].
    pub(super) arrived: u64,
    /// Where it already stands, shorter: a run that was written before it was closed.
    pub(super) amends: Option<u32>,
    /// For a run: what of its text is not in the store yet, should its place be lost.
    pub(super) tail: Option<Box<Run>>,
}

impl Row {
    /// What it takes in memory and in a commit.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.tokens.as_ref().map_or(0, String::len)
    }
}

/// Adjacent chunks of one message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) kind: String,
    /// The JSON of its message id, the agent's or the engine's.
    pub(super) message_id: String,
    pub(super) minted: bool,
    time: i64,
    belongs: Belongs,
    /// As JSON, escaped, without its quotes.
    pub(super) text: String,
    indexed: Indexed,
    /// With which arrival its last part came; see [`super::Recorder::at`].
    pub(super) arrived: u64,
    written: Written,
}

/// How much of a run stands in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Written {
    Nothing,
    /// So much of the text, in this place.
    At(u32, usize),
    /// All that the run had before this text, in a place that cannot be written to any more.
    Before,
}

/// A chunk with nothing in it but text can be joined with its neighbours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainChunk<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    content: PlainText<'a>,
    #[serde(borrow, rename = "messageId", default)]
    pub(super) message_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainText<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: &'a RawValue,
}

/// A plain chunk and its text, as JSON without its quotes.
pub(super) fn plain_text(update: &str) -> Option<(PlainChunk<'_>, &str)> {
    let chunk = serde_json::from_str::<PlainChunk<'_>>(update).ok().filter(|chunk| chunk.content.kind == "text")?;
    let text = chunk.content.text.get().strip_prefix('"')?.strip_suffix('"')?;
    Some((chunk, text))
}

impl Run {
    /// A run that is still empty.
    pub(super) fn new(kind: String, message_id: String, minted: bool, time: i64, belongs: Belongs) -> Self {
        let (text, indexed) = (String::new(), Indexed::default());
        Self { kind, message_id, minted, time, belongs, text, indexed, arrived: 0, written: Written::Nothing }
    }

    /// Whether some of it is not in the store yet.
    pub(super) fn is_dirty(&self) -> bool {
        match self.written {
            Written::Nothing => true,
            Written::At(_, length) => length < self.text.len(),
            Written::Before => !self.text.is_empty(),
        }
    }

    /// The run as an entry of the log, as long as it is now. `is_indexed`: it will be, for certain.
    pub(super) fn row(&mut self, is_indexed: bool) -> Row {
        let amends = match self.written {
            Written::At(seq, _) => Some(seq),
            Written::Nothing | Written::Before => None,
        };
        let tail = amends.map(|_| Box::new(self.unwritten()));
        Row {
            text: Entry::of(Kind::Update, self.time, &self.belongs, &self.update()),
            tokens: is_indexed.then(|| self.indexed.tokens(&self.text, index::tokenise)),
            time: self.time,
            arrived: self.arrived,
            amends,
            tail,
        }
    }

    /// All of it stands in the store, here.
    pub(super) fn written_at(&mut self, seq: u32) {
        self.written = Written::At(seq, self.text.len());
    }

    /// Its place in the store cannot be written to any more: what is not there yet gets a place of its own.
    pub(super) fn lose_place(&mut self) {
        if let Written::At(..) = self.written {
            *self = self.unwritten();
        }
    }

    fn update(&self) -> String {
        format!(
            "{{\"update\":{{\"sessionUpdate\":\"{}\",\"content\":{{\"type\":\"text\",\"text\":\"{}\"}},\"messageId\":{}}}}}",
            self.kind, self.text, self.message_id
        )
    }

    /// The rest of the same message, of which nothing has come yet.
    pub(super) fn gone_on(&self) -> Self {
        let (kind, message_id) = (self.kind.clone(), self.message_id.clone());
        let rest = Self::new(kind, message_id, self.minted, self.time, self.belongs.clone());
        Self { arrived: self.arrived, written: Written::Before, ..rest }
    }

    /// The run without what is already written, to be recorded in a place of its own.
    fn unwritten(&self) -> Self {
        let (done, written) = match self.written {
            Written::At(_, length) => (length, Written::Before),
            written => (0, written),
        };
        Self {
            kind: self.kind.clone(),
            message_id: self.message_id.clone(),
            minted: self.minted,
            time: self.time,
            belongs: self.belongs.clone(),
            text: self.text[done..].to_owned(),
            indexed: Indexed::default(),
            arrived: self.arrived,
            written,
        }
    }
}
