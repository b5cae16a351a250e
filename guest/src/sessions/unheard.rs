//! A prompt that ended before its agent had it: what its user has said is part of the conversation all the same.

use serde_json::json;

use crate::rpc::Object;
use crate::storage::{Durability, Result, Storage, Write};
use crate::store::{Decision, Session, Store, Title};
use crate::transcript::{Flushed, Kind, Recorder};

/// How many entries it comes to: itself, and the end of its turn.
const ENTRIES: u32 = 2;

/// Such a prompt.
#[derive(Debug)]
pub struct Unheard<'a> {
    /// Its content blocks, as JSON.
    pub prompt: &'a str,
    /// The id of its message, as JSON.
    pub message_id: &'a str,
    /// The name of the agent that it was for.
    pub agent: &'a str,
    /// What the entries of its turn are marked with.
    pub tag: &'a str,
    /// How that ended, as JSON.
    pub end: &'a str,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What its session is to be called, if it has no title.
    pub title: Option<&'a str>,
    /// Where it was kept while it waited ([`super::unsent`]), if it was.
    pub unsent: Option<&'a str>,
}

/// Where it stands in the session's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// Behind this entry.
    pub behind: u32,
    /// Up to this one.
    pub end: u32,
    /// What the session is called since.
    pub named: Option<String>,
}

/// Writes it to the session of this id, as a turn that went to no session of the agent's: so all that it says is left to be
/// told to that. `None` where the session is gone.
pub fn note<S: Storage>(store: &Store<S>, id: &str, unheard: &Unheard<'_>) -> Result<Option<Noted>> {
    if store.session(id)?.is_none() {
        return Ok(None);
    }
    let mut recorder = Recorder::new(id);
    recorder.set_turn(Some(unheard.tag.to_owned()));
    let mut entry = Object::default();
    entry.set("prompt", unheard.prompt);
    entry.set("messageId", unheard.message_id);
    entry.set("with", json!([unheard.agent, ""]).to_string());
    recorder.push(Kind::Prompt, unheard.at, &entry.to_json());
    recorder.push(Kind::TurnEnd, unheard.at, unheard.end);
    let mut noted = Noted { behind: 0, end: 0, named: None };
    let (flushed, _) = recorder.flush_with_end(store, Durability::Durable, |before, end, _, writes| {
        (noted.end, noted.behind) = (end.last, end.last.saturating_sub(ENTRIES));
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        noted.named = unheard.title.filter(|_| session.title == Title::None).map(str::to_owned);
        unheard.change(&mut session);
        writes.extend(unheard.unsent.map(|key| Write::Remove { key: key.to_owned() }));
        Ok(Decision::put(session))
    })?;
    Ok((flushed == Flushed::Written).then_some(noted))
}

impl Unheard<'_> {
    /// What the record is to say of it.
    fn change(&self, session: &mut Session) {
        session.touch(self.at.max(session.updated));
        session.prompts += 1;
        session.prompted = Some(self.at);
        session.end_turn(self.at, self.at);
        if let (Title::None, Some(title)) = (&session.title, self.title) {
            session.title = Title::Auto(title.to_owned());
        }
    }
}
