//! The calls of a storage, and what they return, in the words of the WIT.

use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, Result, Storage, TextHit, TextPage, TextScope, TextTerm,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::WriteBy;
use crate::watched::error_value;

/// A function with its arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)] // Their words are those of the WIT.
pub enum Call {
    Get { keys: Vec<String> },
    Scan { start: String, end: String, descending: bool, limit: u32, max_bytes: u32 },
    LogEnd { log: String },
    ReadLog { log: String, start: u32, limit: u32, max_bytes: u32 },
    SearchText { term: Term, after: Option<Hit>, limit: u32 },
    FindText { term: Term, scopes: Vec<Scope> },
    TextOwners { after: Option<String>, limit: u32 },
    ReadTexts { owner: String, start: u32, limit: u32, max_bytes: u32 },
    LogNames { after: Option<String>, limit: u32 },
    Commit { expected: Vec<Expected>, writes: Vec<WriteBy>, durability: Wanted },
}

/// A `text-term`.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs)]
pub struct Term {
    pub tokens: Vec<String>,
    pub prefix: bool,
}

/// A `text-hit`.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs)]
pub struct Hit {
    pub owner: String,
    pub part: u32,
}

/// A `text-scope`.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs)]
pub struct Scope {
    pub owner: String,
    pub until: u32,
}

/// An `expectation`.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs)]
pub struct Expected {
    pub key: String,
    pub value: Option<String>,
}

/// A `durability`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Wanted {
    Relaxed,
    Durable,
}

impl Call {
    /// What a storage answers to it.
    pub(super) fn answer<S: Storage>(&self, store: &S) -> Value {
        let answered = match self.clone() {
            Self::Get { keys } => store.get(&keys).map(|values| json!(values)),
            Self::Scan { start, end, descending, limit, max_bytes } => {
                store.scan(&start, &end, descending, Bounds { limit, max_bytes }).map(|page| {
                    let entry = |entry| {
                        let acp_sessions_guest::storage::Entry { key, value } = entry;
                        json!({ "key": key, "value": value })
                    };
                    json!({ "entries": page.entries.into_iter().map(entry).collect::<Vec<_>>(), "more": page.more })
                })
            }
            Self::LogEnd { log } => store.log_end(&log).map(Value::from),
            Self::ReadLog { log, start, limit, max_bytes } => {
                store.read_log(&log, start, Bounds { limit, max_bytes }).map(|page| {
                    let entries =
                        page.entries.into_iter().map(|entry| json!({ "seq": entry.seq, "value": entry.value }));
                    json!({ "entries": entries.collect::<Vec<_>>(), "more": page.more })
                })
            }
            Self::SearchText { term, after, limit } => {
                let after = after.map(|hit| TextHit { owner: hit.owner, part: hit.part });
                let hits = store.search_text(&term.into(), after.as_ref(), limit);
                hits.map(|hits| hits.iter().map(|(owner, part)| json!({ "owner": owner, "part": part })).collect())
            }
            Self::FindText { term, scopes } => {
                let scopes: Vec<_> = scopes.into_iter().map(TextScope::from).collect();
                store.find_text(&term.into(), &scopes).map(|found| json!(found))
            }
            Self::TextOwners { after, limit } => store.text_owners(after.as_deref(), limit).map(Value::from),
            Self::ReadTexts { owner, start, limit, max_bytes } => {
                store.read_texts(&owner, start, Bounds { limit, max_bytes }).map(|page| texts_value(&owner, page))
            }
            Self::LogNames { after, limit } => store.log_names(after.as_deref(), limit).map(Value::from),
            Self::Commit { expected, writes, durability } => commit(store, expected, writes, durability),
        };
        match answered {
            Ok(answer) => json!({ "ok": answer }),
            Err(error) => json!({ "error": error_value(&error) }),
        }
    }
}

fn texts_value(owner: &str, page: TextPage) -> Value {
    let text =
        |text: acp_sessions_guest::storage::Text| json!({ "owner": owner, "part": text.part, "tokens": text.tokens });
    json!({ "texts": page.texts.into_iter().map(text).collect::<Vec<_>>(), "more": page.more })
}

fn commit<S: Storage>(store: &S, expected: Vec<Expected>, writes: Vec<WriteBy>, durability: Wanted) -> Result<Value> {
    let expected: Vec<_> =
        expected.into_iter().map(|expected| Expectation { key: expected.key, value: expected.value }).collect();
    let durability = match durability {
        Wanted::Relaxed => Durability::Relaxed,
        Wanted::Durable => Durability::Durable,
    };
    store.commit(&expected, writes.into_iter().map(Into::into).collect(), durability).map(|()| Value::Null)
}

impl From<Term> for TextTerm {
    fn from(Term { tokens, prefix }: Term) -> Self {
        Self { tokens, prefix }
    }
}

impl From<Scope> for TextScope {
    fn from(Scope { owner, until }: Scope) -> Self {
        Self { owner, until }
    }
}
