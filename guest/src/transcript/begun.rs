//! What the log has of a turn that is still under way, for whoever goes on with it after an instance was lost.

use std::collections::BTreeSet;

use super::entry::{Entry, Kind};
use super::open_calls::OpenCalls;
use super::told_calls::ToldCalls;
use crate::rpc::Object;
use crate::storage::{Bounds, Result, Storage};

/// How far back is looked, in entries.
const LOOK_BACK: u32 = 4000;
/// How much is read at a time.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 1024 * 1024 };

/// What the log has of a turn.
#[derive(Debug, Default)]
pub struct BegunTurn {
    /// The entries of its prompts: more than one where a client did not wait.
    pub prompts: Vec<String>,
    /// The number of the first of them.
    pub place: Option<u32>,
    /// Its tool calls that have not ended.
    pub calls: OpenCalls,
    /// Those that were told of.
    pub told_calls: ToldCalls,
}

/// Looks for the turn of this tag at the end of a log.
pub fn begun<S: Storage>(storage: &S, log: &str, tag: &str) -> Result<BegunTurn> {
    let mut begun = BegunTurn::default();
    each_of_turn(storage, log, tag, |seq, text, entry| {
        begun.told_calls.note(entry);
        match entry.kind {
            Kind::Prompt => {
                begun.place.get_or_insert(seq);
                begun.prompts.push(text.to_owned());
            }
            Kind::Update => {
                if let Some(update) = Object::parse_or_empty(entry.json).get("update") {
                    begun.calls.feed(update);
                }
            }
            _ => {}
        }
    })?;
    Ok(begun)
}

/// Each entry of the turn of this tag at the end of a log: its number, as the log holds it, and read.
pub(super) fn each_of_turn<S: Storage>(
    storage: &S,
    log: &str,
    tag: &str,
    mut meet: impl FnMut(u32, &str, &Entry<'_>),
) -> Result<()> {
    let behind = storage.log_end(log)?.saturating_sub(LOOK_BACK);
    each_behind(storage, log, behind, |seq, text| {
        if let Some(entry) = Entry::parse(&text).filter(|entry| entry.turn == Some(tag)) {
            meet(seq, &text, &entry);
        }
    })
}

/// The tag of the last turn behind this entry that has not ended and was begun by this prompt (its content blocks, JSON) to
/// this session of an agent (its name and its id for it).
pub fn begun_by<S: Storage>(
    storage: &S,
    log: &str,
    behind: u32,
    prompt: &str,
    with: (&str, &str),
) -> Result<Option<String>> {
    let mut begun: Vec<String> = Vec::new();
    each_behind(storage, log, behind, |_, text| {
        let Some(entry) = Entry::parse(&text) else { return };
        let Some(tag) = entry.turn else { return };
        let is_it = |(agent, id): (String, String)| (agent.as_str(), id.as_str()) == with;
        match entry.kind {
            Kind::TurnEnd => begun.retain(|begun| begun != tag),
            Kind::Prompt if entry.prompt() == Some(prompt) && entry.with().is_some_and(is_it) => {
                begun.push(tag.to_owned());
            }
            _ => {}
        }
    })?;
    Ok(begun.pop())
}

/// The tags of the turns of a window (what they begin with) that were begun behind this entry of a log.
pub fn turns_behind<S: Storage>(storage: &S, log: &str, behind: u32, window: &str) -> Result<BTreeSet<String>> {
    let mut tags = BTreeSet::new();
    each_behind(storage, log, behind, |_, text| {
        let prompt = Entry::parse(&text).filter(|entry| entry.kind == Kind::Prompt);
        let tag = prompt.and_then(|prompt| prompt.turn).filter(|tag| tag.starts_with(window));
        tags.extend(tag.map(str::to_owned));
    })?;
    Ok(tags)
}

/// Whether a log has the prompt with this id (JSON) behind this entry.
pub fn holds_prompt<S: Storage>(storage: &S, log: &str, behind: u32, message_id: &str) -> Result<bool> {
    let mut is_there = false;
    each_behind(storage, log, behind, |_, text| {
        let entry = Entry::parse(&text).filter(|entry| entry.kind == Kind::Prompt);
        is_there |= entry.and_then(|entry| entry.message_id()).is_some_and(|id| id == message_id);
    })?;
    Ok(is_there)
}

/// Each entry of a log behind this one: its number, and as the log holds it.
fn each_behind<S: Storage>(storage: &S, log: &str, behind: u32, mut meet: impl FnMut(u32, String)) -> Result<()> {
    let mut start = behind.saturating_add(1);
    loop {
        let page = storage.read_log(log, start, BATCH)?;
        let Some(last) = page.entries.last() else { return Ok(()) };
        start = last.seq.saturating_add(1);
        page.entries.into_iter().for_each(|entry| meet(entry.seq, entry.value));
        if !page.more {
            return Ok(());
        }
    }
}
