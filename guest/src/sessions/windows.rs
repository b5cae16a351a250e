//! The other windows on a session: connections that have it open, each of which marks what is said in its turns as its own.

use super::open_marks;
use crate::storage::{Result, Storage};
use crate::store::{ActivityState, Store};
use crate::transcript::WINDOW;

/// How many characters tell a window's turns apart.
const TURN: usize = 7;

/// What the tags of the turns begin with of a window that was opened on the connection of this name.
pub fn window_of(connection: &str) -> String {
    base36(u64::from_str_radix(connection, 16).unwrap_or_default(), WINDOW)
}

/// What the entries of a new turn of this window are marked with, so that a reader tells them from another's.
pub fn turn_tag(window: &str, random: u64) -> String {
    format!("{window}{}", base36(random, TURN))
}

/// The last digits, so many, of a number that is random: short, and each of them a letter or a digit.
fn base36(number: u64, digits: usize) -> String {
    let digit = |at: usize| {
        let at = u32::try_from(at).unwrap_or_default();
        char::from_digit(u32::try_from(number / 36_u64.pow(at) % 36).unwrap_or_default(), 36)
    };
    (0..digits).rev().filter_map(digit).collect()
}

/// The windows of other connections on one session, as far as these may be believed to be there.
#[derive(Debug)]
pub struct OtherWindows(Vec<Window>);

#[derive(Debug)]
struct Window {
    /// What the tags of its turns begin with, unless it is that of an instance that was lost.
    turns: String,
    /// Whether it says that it is at a turn, or does not say that it is not.
    is_working: bool,
}

impl OtherWindows {
    /// Those that have this session open.
    pub fn read<S: Storage>(store: &Store<S>, id: &str, connection: &str, now: i64) -> Result<Self> {
        let others = open_marks::open_elsewhere(store, id, connection, now)?.into_iter();
        let window = |(name, state): (String, Option<ActivityState>)| Window {
            turns: window_of(&name),
            is_working: state != Some(ActivityState::Idle),
        };
        Ok(Self(others.map(window).collect()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them says that it is at work, or does not say that it is not.
    pub fn is_any_at_work(&self) -> bool {
        self.0.iter().any(|window| window.is_working)
    }

    /// Whether one of them may be at the turn with this tag; `begun` are the tags of all turns that have begun and not ended.
    /// A turn without one may be anybody's. One whose window is not there may be that of a window that has lost an instance:
    /// such a window is at a turn, and none of those that have begun has its name.
    pub fn may_be_at(&self, turn: Option<&str>, begun: &[impl AsRef<str>]) -> bool {
        let Some(turn) = turn else { return !self.is_empty() };
        self.0.iter().any(|window| {
            let is_its_own = |tag: &str| tag.starts_with(&window.turns);
            is_its_own(turn) || (window.is_working && !begun.iter().any(|tag| is_its_own(tag.as_ref())))
        })
    }
}
