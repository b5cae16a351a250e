//! What an agent tells of a history without what it tells its model alone, or has written into its words.

use crate::connection::live::session_update::Update;
use crate::rpc::{self, Object};
use crate::transcript::{
    Remark, UpdateKind, as_qwen_means, handed_on, may_be_after_interrupt, may_be_for_shell, may_be_handed_on,
    may_be_of_qwen, may_have_marks, said_after_interrupt, takes_summary, typed_in_shell, without_marks,
};

/// How an update is kept.
#[derive(Debug)]
pub(super) enum Plainly {
    AsTold,
    /// As this notification.
    As(String),
    /// As the end of a turn.
    AsEnd,
    /// Not at all.
    Nothing,
}

impl Plainly {
    /// `is_behind_summary`: it comes right behind a summary of what was said before. `before`: what was told as the user's before it.
    pub(super) fn of(
        update: &Update<'_>,
        remark: Option<Remark>,
        is_behind_summary: bool,
        before: Option<&str>,
    ) -> Self {
        match (update.kind, remark) {
            (_, Some(Remark::Hidden)) => Self::Nothing,
            (_, Some(Remark::Stopped)) => Self::AsEnd,
            (_, Some(Remark::Snapshot)) => {
                let mut thought = Object::parse_or_empty(update.update);
                thought.set("sessionUpdate", "\"agent_thought_chunk\"".to_owned());
                Self::As(with_update(update, thought.to_json()))
            }
            (UpdateKind::UserChunk, None) if may_be_for_shell(update.update) => {
                let typed = update.text().and_then(|text| typed_in_shell(&text));
                typed.map_or(Self::AsTold, |typed| Self::As(with_update(update, update.with_text(&typed))))
            }
            (UpdateKind::UserChunk, None) if may_be_after_interrupt(update.update) => {
                let text = update.text().unwrap_or_default();
                let said = said_after_interrupt(&text, before);
                said.map_or(Self::AsTold, |said| Self::As(with_update(update, update.with_text(&said))))
            }
            (UpdateKind::UserChunk, None) if may_be_of_qwen(update.update) => {
                as_qwen_means(update.update).map_or(Self::AsTold, |plain| Self::As(with_update(update, plain)))
            }
            (UpdateKind::Chunk, _) if update.name == "agent_message_chunk" => {
                Self::of_agents(update, is_behind_summary)
            }
            _ => Self::AsTold,
        }
    }

    fn of_agents(update: &Update<'_>, is_behind_summary: bool) -> Self {
        if !is_behind_summary && !may_have_marks(update.update) {
            return Self::AsTold;
        }
        let Some(text) = update.text() else { return Self::AsTold };
        let words = without_marks(&text);
        if is_behind_summary && takes_summary(words) {
            Self::Nothing
        } else if words.len() == text.len() {
            Self::AsTold
        } else if words.trim().is_empty() {
            Self::Nothing
        } else {
            Self::As(with_update(update, update.with_text(words)))
        }
    }
}

/// A summary that is told in one message with what was said behind it, or as the agent's own words: by itself, as the user's, and
/// then what was said, as notifications.
pub(super) fn parted(update: &Update<'_>) -> Option<(String, Option<String>)> {
    let is_users = update.kind == UpdateKind::UserChunk;
    if !(is_users || update.name == "agent_message_chunk") || !may_be_handed_on(update.update) {
        return None;
    }
    let text = update.text()?;
    let (summary, behind) = handed_on(&text).filter(|(_, behind)| !is_users || !behind.is_empty())?;
    let summary = update.with_text(summary);
    let mut summary = Object::parse_or_empty(&summary);
    summary.set("sessionUpdate", "\"user_message_chunk\"".to_owned());
    let behind = Some(behind).filter(|behind| !behind.is_empty());
    let behind = behind.map(|behind| with_update(update, update.with_text(behind)));
    Some((with_update(update, summary.to_json()), behind))
}

/// What a user's chunk is if no user has said it.
pub(super) fn remark_of(update: &Update<'_>) -> Option<Remark> {
    let is_users = update.kind == UpdateKind::UserChunk;
    Object::parse_or_empty(is_users.then_some(update.update)?).get("content").and_then(Remark::of)
}

/// The notification with another `update`.
fn with_update(update: &Update<'_>, with: String) -> String {
    let mut params = update.params.clone();
    params.set("update", with);
    rpc::notification("session/update", &params.to_json())
}
