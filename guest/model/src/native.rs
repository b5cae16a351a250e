//! The engine as a library.

use acp_sessions_guest::index::{self, Owner};
use acp_sessions_guest::rpc::RpcError;
use acp_sessions_guest::sessions::list::{self, Agents, Effort, ListError, Options};
use acp_sessions_guest::sessions::{archive, delete, rename};
use acp_sessions_guest::storage::{Storage, Write};
use acp_sessions_guest::store::{self, Decision, Known, Store, Title};
use acp_sessions_guest::transcript::{Entry, Kind, text};
use serde_json::{Value, json};

use crate::change::Change;
use crate::lister::{Lister, Refusal};
use crate::question;
use crate::session::{self, Session};
use crate::vocabulary::{AGENTS, WORDS, worktrees_of};

/// The engine's own code over any storage.
#[derive(Debug)]
pub struct Native<S> {
    store: Store<S>,
    options: Options,
    effort: Effort,
    searches_conversations: bool,
}

impl<S: Storage> Native<S> {
    /// Over a storage that can search texts.
    pub fn new(storage: S) -> Self {
        let own = Agents::Own(AGENTS[0].to_owned());
        let options = Options { page_size: 100, agents: own, agent: None, draft: false, extended: true, now: 0 };
        Self { store: Store::new(storage), options, effort: Effort::default(), searches_conversations: true }
    }

    /// Over one that cannot.
    pub fn without_text_search(storage: S) -> Self {
        Self { searches_conversations: false, ..Self::new(storage) }
    }

    /// Lists all agents' sessions where nothing else is said.
    #[must_use]
    pub fn of_all_agents(mut self) -> Self {
        self.options = Options {
            page_size: 100,
            agents: Agents::All,
            agent: Some(AGENTS[0].to_owned()),
            draft: false,
            extended: true,
            now: 0,
        };
        self
    }

    /// Searches with this effort.
    #[must_use]
    pub fn with(self, effort: Effort) -> Self {
        Self { effort, ..self }
    }

    /// The store.
    pub fn store(&self) -> &Store<S> {
        &self.store
    }

    fn create(&self, session: &Session) {
        let mut record = store::Session::new(session.id.clone(), session.cwd().to_owned(), session.created);
        record.touch(session.updated);
        record.prompted = session.prompted;
        record.undated = session.undated;
        for agent in &session.agents {
            record.agents.insert(AGENTS[*agent].to_owned(), known(&session.id));
        }
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
                let tokens = index::tokenise(&text::of_entry(&value));
                writes.push(Write::Append { log: session.id.clone(), seq, value });
                writes.push(Write::IndexText { owner: Owner::Log(&session.id).name(), part: seq, tokens });
            }
            Ok(Decision::put(record.clone()))
        });
        changed.expect("a new session");
    }

    fn change(&self, id: &str, change: impl Fn(&mut store::Session)) {
        let changed = self.store.change(id).commit(|before, _, _| {
            let mut session = before.expect("a session that is there").clone();
            change(&mut session);
            Ok(Decision::put(session))
        });
        changed.expect("a change");
    }
}

fn known(id: &str) -> Known {
    Known::new(id.to_owned(), 0)
}

impl<S: Storage> Lister for Native<S> {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(session) => self.create(session),
            Change::Touch { id, at } => self.change(id, |session| session.touch(*at)),
            Change::Prompt { id, at } => self.change(id, |session| session.prompt(*at)),
            Change::Know { id, agent, known: true } => self.change(id, |session| {
                session.agents.insert(AGENTS[*agent].to_owned(), known(id));
            }),
            Change::Know { id, agent, known: false } => self.change(id, |session| {
                session.agents.remove(AGENTS[*agent]);
            }),
            Change::Undate { id } => self.change(id, |session| session.undated = true),
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
        let answer = list::list_with(&self.store, &self.options, self.effort, &worktrees_of, Some(&params.to_string()));
        let refused = |error: RpcError| Refusal { code: error.code, message: error.message };
        match answer {
            Ok(page) => Ok(serde_json::from_str(&page).expect("a page is JSON")),
            Err(ListError::Invalid { field, message }) => Err(refused(RpcError::invalid_params(&field, message))),
            Err(ListError::Storage(error)) => Err(refused(error.into())),
        }
    }

    fn agents_by_default(&self) -> question::Agents {
        match self.options.agents {
            Agents::Own(_) => question::Agents::Own,
            Agents::All => question::Agents::All,
        }
    }

    fn searches_conversations(&self) -> bool {
        self.searches_conversations
    }
}
