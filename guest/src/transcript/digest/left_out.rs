//! What is told after all of turns that an agent's own session took part in.
//!
//! An agent knows what was said in them, unless it says that it has no such session, which is asked of another program of its
//! then. And prompts that failed and that nobody answered need not have reached it.

use std::collections::BTreeSet;

use super::hearer::Hearer;
use super::parts::{LIMIT, Parts};
use super::said::said;
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::begun::each_of_turn;
use crate::transcript::ended::Ended;
use crate::transcript::entry::{Entry, Kind};

/// A turn that the agent's own session took part in.
#[derive(Debug)]
pub(super) struct LeftOut {
    tag: String,
    /// All that was said in it.
    all: Parts,
    /// What the user said in it, until the agent says or does something.
    unanswered: Parts,
    /// It has been told what failed, by others that it hears.
    has_heard_failed: bool,
}

impl LeftOut {
    pub(super) fn of(tag: &str, hearer: Hearer<'_>) -> Self {
        let has_heard_failed = hearer.window.is_none();
        Self { tag: tag.to_owned(), all: Parts::up_to(LIMIT), unanswered: Parts::up_to(LIMIT), has_heard_failed }
    }

    pub(super) fn is_of(&self, tag: Option<&str>) -> bool {
        tag == Some(&self.tag)
    }

    /// Takes an entry of it in. What is told of it after all comes with its end.
    pub(super) fn take_in(&mut self, entry: &Entry<'_>) -> Vec<(String, String)> {
        self.all.extend(entry.turn, said(entry));
        match (entry.kind, Ended::of(entry)) {
            (Kind::Prompt, _) => self.unanswered.extend(entry.turn, said(entry)),
            (_, Some(Ended::Refused)) => return self.all.take(),
            (_, Some(Ended::Failed)) if !self.has_heard_failed => return self.unanswered.take(),
            _ => self.unanswered.clear(),
        }
        Vec::new()
    }
}

/// Whether turns of which the prompt is not told went to an agent's session: the last one that it was asked of.
#[derive(Debug, Default)]
pub(super) struct Begun(Option<(String, bool)>);

impl Begun {
    /// Whether this is of a turn of the window's that this one takes part in, and whose prompt stands before what is told. What
    /// is told of it after all comes with its end.
    pub(super) fn is_of<S: Storage>(
        &mut self,
        storage: &S,
        session: &Session,
        entry: &Entry<'_>,
        hearer: Hearer<'_>,
    ) -> Result<bool> {
        let is_inside = !matches!(entry.kind, Kind::Prompt | Kind::TurnEnd);
        let Some(tag) = entry.turn.filter(|tag| is_inside && hearer.is_its_window(tag)) else { return Ok(false) };
        if let Some((_, took_part)) = self.0.as_ref().filter(|(known, _)| known == tag) {
            return Ok(*took_part);
        }
        let (mut is_met, mut took_part) = (false, false);
        // A fork's turns may have begun in what it has of its parents'.
        let inherited: BTreeSet<&String> = session.segments.iter().map(|segment| &segment.log).collect();
        for log in [&session.id].into_iter().chain(inherited) {
            each_of_turn(storage, log, tag, |_, _, entry| {
                is_met = true;
                took_part |= hearer.took_part(entry);
            })?;
            if is_met {
                break;
            }
        }
        self.0 = Some((tag.to_owned(), took_part));
        Ok(took_part)
    }
}

/// What is told of a turn that ends here and was begun before, if this one took part in it: it was left out of the account
/// that was made then.
pub(super) fn begun_before<S: Storage>(
    storage: &S,
    session: &Session,
    end: &Entry<'_>,
    hearer: Hearer<'_>,
) -> Result<Vec<(String, String)>> {
    let is_told = matches!(Ended::of(end), Some(Ended::Failed | Ended::Refused));
    let Some(tag) = end.turn.filter(|_| is_told) else { return Ok(Vec::new()) };
    let mut left_out: Option<LeftOut> = None;
    each_of_turn(storage, &session.id, tag, |_, _, entry| {
        if hearer.took_part(entry) {
            left_out.get_or_insert_with(|| LeftOut::of(tag, hearer));
        }
        if entry.kind != Kind::TurnEnd
            && let Some(left_out) = &mut left_out
        {
            left_out.take_in(entry);
        }
    })?;
    Ok(left_out.map(|mut left_out| left_out.take_in(end)).unwrap_or_default())
}
