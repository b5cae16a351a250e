//! The engine as a library.

use acp_sessions_guest::rpc::RpcError;
use acp_sessions_guest::search::{self, Owner};
use acp_sessions_guest::sessions::list::{self, ListError, Options};
use acp_sessions_guest::sessions::{archive, delete, rename};
use acp_sessions_guest::storage::{Storage, Write};
use acp_sessions_guest::store::{self, Store, Title};
use acp_sessions_guest::transcript::{Entry, Kind};
use serde_json::{Value, json};

use crate::change::Change;
use crate::lister::{Lister, Refusal};
use crate::session::{self, Session};
use crate::vocabulary::WORDS;

/// The engine's own code over any storage.
#[derive(Debug)]
pub struct Native<S> {
    store: Store<S>,
    searches_conversations: bool,
}

impl<S: Storage> Native<S> {
    /// Over a storage that can search texts.
    pub fn new(storage: S) -> Self {
        Self { store: Store::new(storage), searches_conversations: true }
    }

    /// Over one that cannot.
    pub fn without_text_search(storage: S) -> Self {
        Self { store: Store::new(storage), searches_conversations: false }
    }

    /// The store.
    pub fn store(&self) -> &Store<S> {
        &self.store
    }

    fn create(&self, session: &Session) {
        let mut record = store::Session::new(session.id.clone(), session.cwd().to_owned(), session.created);
        record.touch(session.updated);
        record.title = session.title_text().map_or(Title::None, Title::Set);
        record.archived = session.archived;
        record.parent = session.subagent.then(|| "parent".to_owned());
        if let Some(word) = session.label
            && let Ok(value) = serde_json::value::to_raw_value(WORDS[word].written[0])
        {
            // Keys are found too; this one begins like no word.
            record.meta.insert("zone".to_owned(), value);
        }
        let said: Vec<String> = session.said.iter().map(session::write).collect();
        record.prompts = said.len() as u64;
        let changed = self.store.change(&session.id).commit(|_, _, writes| {
            for (seq, text) in (1..).zip(&said) {
                let params = json!({"update": {
                    "sessionUpdate": "agent_message_chunk",
                    "content": {"type": "text", "text": text},
                }});
                let value = Entry::text(Kind::Update, session.created, &params.to_string());
                let tokens = search::tokenise(&search::text::of_entry(&value));
                writes.push(Write::Append { log: session.id.clone(), seq, value });
                writes.push(Write::IndexText { owner: Owner::Log(&session.id).name(), part: seq, tokens });
            }
            Ok(Some(Some(record.clone())))
        });
        changed.expect("a new session");
    }

    fn touch(&self, id: &str, at: i64) {
        let changed = self.store.change(id).commit(|before, _, _| {
            let mut session = before.expect("a session that is there").clone();
            session.touch(at);
            Ok(Some(Some(session)))
        });
        changed.expect("activity");
    }
}

impl<S: Storage> Lister for Native<S> {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(session) => self.create(session),
            Change::Touch { id, at } => self.touch(id, *at),
            Change::Rename { id, title } => {
                rename::rename(&self.store, id, &session::write(title)).expect("a title");
            }
            Change::Archive { id, archived } => {
                archive::set_archived(&self.store, id, *archived).expect("a session that is there");
            }
            Change::Delete { id } => {
                let deleted = delete::delete(&self.store, id, 0).expect("a session that is there");
                assert_eq!(deleted.len(), 1);
            }
        }
    }

    fn list(&mut self, params: &Value) -> Result<Value, Refusal> {
        let answer = list::list(&self.store, &Options { page_size: 100 }, Some(&params.to_string()));
        let refused = |error: RpcError| Refusal { code: error.code, message: error.message };
        match answer {
            Ok(page) => Ok(serde_json::from_str(&page).expect("a page is JSON")),
            Err(ListError::Invalid { field, message }) => Err(refused(RpcError::invalid_params(&field, message))),
            Err(ListError::Storage(error)) => Err(refused(error.into())),
        }
    }

    fn searches_conversations(&self) -> bool {
        self.searches_conversations
    }
}
