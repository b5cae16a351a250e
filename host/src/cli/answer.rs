//! What the engine answers, for people.

use crate::component::sessions::SessionError;

/// The answer of a call, or why there is none.
pub(super) fn plain<T>(called: wasmtime::Result<Result<T, SessionError>>) -> anyhow::Result<T> {
    let answer = called.map_err(|trap| anyhow::anyhow!("the session engine failed: {}", trap.root_cause()))?;
    answer.map_err(|error| match error {
        SessionError::Invalid(what) | SessionError::Storage(what) => anyhow::Error::msg(what),
        SessionError::NotFound(id) => anyhow::anyhow!("there is no session {id}"),
    })
}
