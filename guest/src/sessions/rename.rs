//! Setting a title by hand (unstable: `session/set_title`).

use super::title::one_line;
use crate::storage::{self, Storage, StorageError};
use crate::store::{Changed, Decision, Session, Store, Title};

/// The longest title, in characters.
pub const LONGEST: usize = 500;

/// Why a title was not set.
#[derive(Debug, thiserror::Error)]
pub enum RenameError {
    /// The title cannot be one; the text says why.
    #[error("the title {0}")]
    Invalid(String),
    /// There is no such session.
    #[error("no session has this id")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Sets the title, as one line, and returns the session as stored. The automatic title never replaces it.
pub fn rename<S: Storage>(store: &Store<S>, id: &str, title: &str) -> Result<Session, RenameError> {
    let title = one_line(title);
    if title.is_empty() {
        return Err(RenameError::Invalid("must not be empty".to_owned()));
    }
    if title.chars().count() > LONGEST {
        return Err(RenameError::Invalid(format!("must not be longer than {LONGEST} characters")));
    }
    let changed = store.change(id).durable().commit(|before, _, _| {
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        session.title = Title::Set(title.clone());
        session.agents.values_mut().for_each(|known| known.told_title = false);
        Ok(Decision::put(session))
    })?;
    match changed {
        Changed::Done { after: Some(session), .. } => Ok(*session),
        Changed::Done { after: None, .. } | Changed::Nothing => Err(RenameError::NotFound),
    }
}

/// Notes that the agent that knows a session by this id was told that its user calls it so, unless that is something else by
/// now.
pub fn told<S: Storage>(store: &Store<S>, id: &str, agent: &str, agent_id: &str, title: &str) -> storage::Result<()> {
    store.change(id).commit(|before, _, _| {
        let is_so = |session: &&Session| matches!(&session.title, Title::Set(set) if set == title);
        let Some(mut session) = before.filter(is_so).cloned() else { return Ok(Decision::Keep) };
        let known = session.agents.get_mut(agent).filter(|known| known.id == agent_id && !known.told_title);
        let Some(known) = known else { return Ok(Decision::Keep) };
        known.told_title = true;
        Ok(Decision::put(session))
    })?;
    Ok(())
}
