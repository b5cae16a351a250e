//! What kind of agent it is.

use std::fmt;

use serde_json::{Value, json};

use crate::world::Dice;

/// An ability or habit of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    Load,
    Resume,
    List,
    Fork,
    Delete,
    Close,
    /// Has an `agentInfo`.
    Named,
    /// Is the other one of the two agents.
    Other,
    /// Repeats the prompt as `user_message_chunk`.
    Echoes,
    /// Takes a prompt's blocks for one text.
    Joins,
    /// Replays the parent on its own fork.
    ReplaysForks,
    /// Its sessions end with its process.
    Forgets,
    /// Its session ids begin anew with each start.
    CountsAnew,
    /// Answers -32000 until `authenticate`.
    WantsLogin,
    /// Names a session after the first prompt it sees, whoever wrote it.
    TitlesByPrompt,
    /// Answers `initialize` when a step has it answer.
    StartsSlowly,
    /// Tells its modes and options.
    SendsModes,
    /// Puts sessions away, and leaves those out of its list unless it is asked for them.
    Archive,
    /// Takes the titles that a user gives.
    Title,
    /// Tells those who subscribe what changes in its list.
    TellsChanges,
    /// Notes in its user's name that a turn was cancelled, and, as a summary, what it has compacted.
    Remarks,
}

impl Trait {
    pub(crate) const ALL: [Self; 21] = [
        Self::Load,
        Self::Resume,
        Self::List,
        Self::Fork,
        Self::Delete,
        Self::Close,
        Self::Named,
        Self::Other,
        Self::Echoes,
        Self::Joins,
        Self::ReplaysForks,
        Self::Forgets,
        Self::CountsAnew,
        Self::WantsLogin,
        Self::TitlesByPrompt,
        Self::StartsSlowly,
        Self::SendsModes,
        Self::Archive,
        Self::Title,
        Self::TellsChanges,
        Self::Remarks,
    ];

    /// How many of a hundred agents have it.
    fn chance(self) -> u8 {
        match self {
            Self::Named => 95,
            Self::Load => 60,
            Self::Resume | Self::List | Self::Delete | Self::Close => 50,
            Self::Fork | Self::TitlesByPrompt | Self::SendsModes => 30,
            Self::Other | Self::Echoes | Self::Joins | Self::ReplaysForks | Self::Forgets => 25,
            Self::CountsAnew => 10,
            Self::WantsLogin => 6,
            Self::StartsSlowly => 12,
            // They are dealt out apart from the others.
            Self::Archive | Self::Title | Self::TellsChanges | Self::Remarks => 0,
        }
    }
}

/// What kind of agent it is: a bit for each trait it has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(pub(crate) u32);

impl Kind {
    pub(crate) fn random(dice: &Dice) -> Self {
        let dealt = Trait::ALL.into_iter().filter(|habit| habit.chance() > 0);
        let chosen = dealt.filter(|habit| dice.percent(habit.chance()));
        Self(chosen.fold(0, |bits, habit| bits | 1 << habit as u32))
    }

    pub(crate) fn is(self, habit: Trait) -> bool {
        self.0 & 1 << habit as u32 != 0
    }

    pub(crate) fn with(self, habit: Trait) -> Self {
        Self(self.0 | 1 << habit as u32)
    }

    pub(crate) fn without(self, habit: Trait) -> Self {
        Self(self.0 & !(1 << habit as u32))
    }

    /// Whether its ids begin anew: an agent that keeps sessions would mistake one for another.
    pub(crate) fn counts_anew(self) -> bool {
        let keeps = [Trait::Load, Trait::Resume, Trait::List, Trait::Fork];
        self.is(Trait::CountsAnew) && !keeps.into_iter().any(|habit| self.is(habit))
    }

    /// Whether its sessions end with its process.
    pub(crate) fn forgets(self) -> bool {
        self.is(Trait::Forgets) || self.counts_anew()
    }

    pub(crate) fn name(self) -> Option<&'static str> {
        let name = if self.is(Trait::Other) { "b" } else { "a" };
        self.is(Trait::Named).then_some(name)
    }

    /// What it answers to `initialize`.
    pub(crate) fn introduction(self) -> Value {
        let markers = [
            (Trait::Resume, "resume"),
            (Trait::List, "list"),
            (Trait::Fork, "fork"),
            (Trait::Delete, "delete"),
            (Trait::Close, "close"),
            (Trait::Archive, "archive"),
            (Trait::Title, "title"),
        ];
        let can = markers.into_iter().filter(|(habit, _)| self.is(*habit));
        let mut session: serde_json::Map<_, _> = can.map(|(_, marker)| (marker.to_owned(), json!({}))).collect();
        if let Some(list) = session.get_mut("list").filter(|_| self.is(Trait::TellsChanges)) {
            list["subscribe"] = json!({});
        }
        let mut result = json!({
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": self.is(Trait::Load), "sessionCapabilities": session},
        });
        if let Some(name) = self.name() {
            result["agentInfo"] = json!({"name": name, "version": "1"});
        }
        result
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let habits: Vec<_> = Trait::ALL.into_iter().filter(|habit| self.is(*habit)).collect();
        write!(formatter, "Kind({:#x}) /* {habits:?} */", self.0)
    }
}
