//! Removing what nobody has touched for long: by the list's own index from its old end, a few at a time.
//!
//! What may go is decided in `rule`, in the commit that removes it.

mod cursor;
mod idle;
mod prune;
mod rule;

pub use prune::{Prune, PruneError, prune};

use super::{changes, open_marks};
use crate::storage::{Bounds, Result, Storage};
use crate::store::{Store, keys};
use idle::{BATCH_BYTES, old_rows};
use rule::{Kind, Rule};

/// How many index entries one call looks at: requests wait for it.
const LOOKED: u32 = 64;
/// What was created or touched within this time stays whatever a policy says, in milliseconds.
const SETTLES_IN: i64 = 3_600_000;

/// What is too old to keep. Times are milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Sessions without activity since then.
    pub idle_since: Option<i64>,
    /// Sessions without anything in them that were not touched since then.
    pub unprompted_since: Option<i64>,
}

/// What one call of [`sweep`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// How many sessions it removed.
    pub removed: u32,
    /// Where the next call goes on; none at the end.
    pub next: Option<String>,
}

/// Does a part of a sweep: removes about `most` sessions (one goes with all its sub-agents') and what killed processes
/// have left of open marks. Call it again with `next` until there is none.
///
/// What is kept costs the sweep nothing but a look: it goes on behind it.
pub fn sweep<S: Storage>(
    store: &Store<S>,
    policy: &Policy,
    now: i64,
    most: u32,
    after: Option<String>,
) -> Result<Swept> {
    let mut place = after.and_then(Place::parse).unwrap_or_default();
    let (mut removed, mut looked) = (0, 0);
    if most == 0 {
        return Ok(Swept { removed, next: None });
    }
    loop {
        let step = step(store, policy, now, &place, most - removed, LOOKED - looked)?;
        removed += step.removed;
        looked += step.looked;
        place = match (step.last, place.stage.next()) {
            (Some(behind), _) => Place { stage: place.stage, behind },
            (None, Some(stage)) => Place { stage, behind: String::new() },
            (None, None) => return Ok(Swept { removed, next: None }),
        };
        if removed >= most || looked >= LOOKED {
            return Ok(Swept { removed, next: Some(place.to_cursor()) });
        }
    }
}

/// What a sweep goes through, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum SweepStage {
    #[default]
    Marks,
    Heartbeats,
    Departures,
    Empty,
    Idle,
}

impl SweepStage {
    const ALL: [Self; 5] = [Self::Marks, Self::Heartbeats, Self::Departures, Self::Empty, Self::Idle];

    fn next(self) -> Option<Self> {
        Self::ALL.into_iter().skip_while(|stage| *stage != self).nth(1)
    }

    /// What its cursors begin with.
    fn prefix(self) -> &'static str {
        match self {
            Self::Marks => "m:",
            Self::Heartbeats => "h:",
            Self::Departures => "d:",
            Self::Empty => "e:",
            Self::Idle => "i:",
        }
    }
}

/// How far a sweep has come.
#[derive(Debug, Default)]
struct Place {
    stage: SweepStage,
    /// The last key that was looked at, if any was.
    behind: String,
}

impl Place {
    /// `None` for what [`Self::to_cursor`] does not make: a sweep then begins anew.
    fn parse(mut cursor: String) -> Option<Self> {
        let stage = SweepStage::ALL.into_iter().find(|stage| cursor.starts_with(stage.prefix()))?;
        cursor.drain(..stage.prefix().len());
        Some(Self { stage, behind: cursor })
    }

    fn to_cursor(&self) -> String {
        format!("{}{}", self.stage.prefix(), self.behind)
    }
}

/// What a part of a stage came to.
#[derive(Debug, Default)]
struct SweptPart {
    removed: u32,
    looked: u32,
    /// The last key that was looked at, unless the stage is over.
    last: Option<String>,
}

fn step<S: Storage>(
    store: &Store<S>,
    policy: &Policy,
    now: i64,
    place: &Place,
    most: u32,
    look: u32,
) -> Result<SweptPart> {
    let cleaned = match place.stage {
        SweepStage::Marks => open_marks::clean_marks(store, &place.behind, now, look)?,
        SweepStage::Heartbeats => open_marks::clean_heartbeats(store, &place.behind, now, look)?,
        SweepStage::Departures => changes::forget_departures(store, &place.behind, look)?,
        SweepStage::Empty => {
            let Some(since) = policy.unprompted_since else { return Ok(SweptPart::default()) };
            let bounds = Bounds { limit: look, max_bytes: BATCH_BYTES };
            let start = match &*place.behind {
                "" => keys::UNPROMPTED.to_owned(),
                behind => format!("{behind}\u{0}"),
            };
            let page = store.storage().scan(&start, &keys::unprompted_until(since.max(0)), false, bounds)?;
            let rule = Rule { kind: Kind::Empty, since, settled_since: Some(now - SETTLES_IN) };
            return remove_some(store, page.entries.into_iter().map(|entry| entry.key), rule, now, most);
        }
        SweepStage::Idle => {
            let Some(since) = policy.idle_since else { return Ok(SweptPart::default()) };
            let behind = Some(place.behind.as_str()).filter(|behind| !behind.is_empty());
            let rows = old_rows(store, None, since, behind, look)?;
            let rule = Rule { kind: Kind::Idle, since, settled_since: Some(now - SETTLES_IN) };
            return remove_some(store, rows.into_iter().map(|entry| entry.key), rule, now, most);
        }
    };
    Ok(SweptPart {
        removed: 0,
        looked: u32::try_from(cleaned.looked).unwrap_or(u32::MAX).min(look),
        last: cleaned.last,
    })
}

/// Removes of the sessions whose index keys these are those that may go, until there are `most`. A stage is over when
/// there are no keys.
fn remove_some<S: Storage>(
    store: &Store<S>,
    index_keys: impl Iterator<Item = String>,
    rule: Rule,
    now: i64,
    most: u32,
) -> Result<SweptPart> {
    let mut step = SweptPart::default();
    for key in index_keys {
        if step.removed >= most {
            break;
        }
        if let Some(id) = key.rsplit_once('/').and_then(|(_, id)| keys::decode(id)) {
            let gone = rule::remove(store, &id, now, rule)?;
            step.removed += u32::try_from(gone.len()).unwrap_or(u32::MAX);
        }
        step.looked += 1;
        step.last = Some(key);
    }
    // One session may have taken more of them along than were asked for.
    step.removed = step.removed.min(most);
    Ok(step)
}
