//! What is told after all of turns that an agent's own session took part in.
//!
//! An agent knows what was said in them, unless it says that it has no such session, which is asked of another program of its
//! then. And prompts that failed and that nobody answered need not have reached it.

use super::hearer::Hearer;
use super::parts::Contributions;
use super::said::said;
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::begun::each_of_turn;
use crate::transcript::ended::Ended;
use crate::transcript::entry::{Entry, Kind};
use crate::transcript::spans::{BATCH, Spans};

/// A turn that the agent's own session took part in.
#[derive(Debug)]
pub(super) struct LeftOut {
    tag: String,
    /// All that was said in it.
    all: Contributions,
    /// What the user said in it, until the agent says or does something.
    unanswered: Contributions,
    /// It has been told what failed, by others that it hears.
    has_heard_failed: bool,
}

impl LeftOut {
    pub(super) fn of(tag: &str, hearer: Hearer<'_>) -> Self {
        let has_heard_failed = hearer.window.is_none();
        Self {
            tag: tag.to_owned(),
            all: Contributions::default(),
            unanswered: Contributions::default(),
            has_heard_failed,
        }
    }

    pub(super) fn is_of(&self, tag: Option<&str>) -> bool {
        tag == Some(&self.tag)
    }

    /// Takes an entry of it in. What is told of it after all comes with its end.
    pub(super) fn take_in(&mut self, entry: &Entry<'_>) -> Contributions {
        self.all.extend(entry.turn, said(entry));
        match (entry.kind, Ended::of(entry)) {
            (Kind::Prompt, _) => self.unanswered.extend(entry.turn, said(entry)),
            (_, Some(Ended::Refused)) => return std::mem::take(&mut self.all),
            (_, Some(Ended::Failed)) if !self.has_heard_failed => return std::mem::take(&mut self.unanswered),
            _ => self.unanswered = Contributions::default(),
        }
        Contributions::default()
    }
}

/// How far back of what is known of a turn its prompt is looked for, in entries.
const LOOK_BACK: u64 = 4000;

/// Whether turns of which the prompt is not told went to an agent's session: the last one that it was asked of.
#[derive(Debug)]
pub(super) struct TurnsWithoutPrompt {
    /// What is told stands behind this place.
    start: u64,
    /// It is all that is to be told; otherwise more may be read.
    is_all: bool,
    known: Option<(String, bool)>,
}

impl TurnsWithoutPrompt {
    pub(super) fn before(start: u64, is_all: bool) -> Self {
        Self { start, is_all, known: None }
    }

    /// Whether this is of a turn that it has heard and this one takes part in, and whose prompt stands before what is told. What
    /// is told of it after all comes with its end. Where not all that is to be told was read it counts as one without being
    /// looked for: it comes before all other turns, so that an account that is full without it has no room for it.
    pub(super) fn is_of<S: Storage>(
        &mut self,
        storage: &S,
        session: &Session,
        entry: &Entry<'_>,
        hearer: Hearer<'_>,
    ) -> Result<bool> {
        let is_inside = !matches!(entry.kind, Kind::Prompt | Kind::TurnEnd);
        let Some(tag) = entry.turn.filter(|tag| is_inside && hearer.has_heard(tag)) else { return Ok(false) };
        if !self.is_all {
            return Ok(true);
        }
        if let Some((_, took_part)) = self.known.as_ref().filter(|(known, _)| known == tag) {
            return Ok(*took_part);
        }
        let took_part = self.took_part(storage, session, tag, hearer)?;
        self.known = Some((tag.to_owned(), took_part));
        Ok(took_part)
    }

    /// Looks back for a prompt of the turn, as far as there is something of it. In a fork it may stand in what that has of its
    /// parents'.
    fn took_part<S: Storage>(&self, storage: &S, session: &Session, tag: &str, hearer: Hearer<'_>) -> Result<bool> {
        let spans = Spans::of(storage, session)?;
        let (mut end, mut quiet) = (self.start.min(spans.length()), 0);
        while end > 0 && quiet < LOOK_BACK {
            let begin = end.saturating_sub(u64::from(BATCH.limit));
            quiet += end - begin;
            let (mut is_prompted, mut took_part) = (false, false);
            spans.each(storage, begin, end, |_, text| {
                let Some(entry) = Entry::parse(text).filter(|entry| entry.turn == Some(tag)) else { return };
                quiet = 0;
                is_prompted |= entry.kind == Kind::Prompt;
                took_part |= hearer.took_part(&entry);
            })?;
            if is_prompted {
                return Ok(took_part);
            }
            end = begin;
        }
        // It was taken out of the conversation, if another window has taken over what the agent has said behind it.
        let mut took_part = false;
        each_of_turn(storage, &session.id, tag, |_, _, entry| {
            took_part |= entry.kind == Kind::Prompt && hearer.took_part(entry);
        })?;
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
) -> Result<Contributions> {
    let is_told = matches!(Ended::of(end), Some(Ended::Failed | Ended::Refused));
    let Some(tag) = end.turn.filter(|_| is_told) else { return Ok(Contributions::default()) };
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
