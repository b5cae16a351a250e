//! How agents keep what is said, and open their sessions.

use serde_json::{Value, json};

/// When an agent keeps what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// A prompt as it is taken up, and each word of an answer as it is said.
    AtOnce,
    /// Both once the turn has come to its end.
    AtItsEnd,
    /// Both once the turn has come to its end, if that was a good one.
    WhatEndedWell,
    /// A prompt as it is taken up, and what is answered once that has come to a good end.
    AnswersThatEndedWell,
}

/// How an agent keeps what is said, and opens a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habit {
    pub(super) name: &'static str,
    pub(super) keeps: Keeps,
    /// Each of its programs goes on behind what it has itself; what is loaded is what leads to the last word of all.
    pub(super) has_branches: bool,
    pub(super) has_ids: bool,
    /// It keeps no commands, and nothing of what it was asked and did not answer.
    pub(super) is_forgetful: bool,
    pub(super) opens: Opens,
}

/// How an agent opens a session that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    /// It tells what it has.
    ByLoad,
    /// It tells nothing.
    ByResume,
    /// As it is asked; its list says when something was last kept.
    AsListed,
}

pub(super) const PLAIN: Habit = Habit {
    name: "one transcript",
    keeps: Keeps::AtOnce,
    has_branches: false,
    has_ids: false,
    is_forgetful: false,
    opens: Opens::ByLoad,
};

pub(super) const HABITS: [Habit; 15] = [
    PLAIN,
    Habit { name: "one transcript with ids", has_ids: true, ..PLAIN },
    Habit { name: "one transcript, turn by turn", keeps: Keeps::AtItsEnd, ..PLAIN },
    Habit { name: "what ended well", keeps: Keeps::WhatEndedWell, ..PLAIN },
    Habit { name: "prompts, and answers that ended well", keeps: Keeps::AnswersThatEndedWell, ..PLAIN },
    Habit { name: "branches", has_branches: true, ..PLAIN },
    Habit { name: "branches with ids", has_branches: true, has_ids: true, ..PLAIN },
    Habit { name: "one transcript of what was answered", is_forgetful: true, ..PLAIN },
    Habit { name: "branches, turn by turn", keeps: Keeps::AtItsEnd, has_branches: true, ..PLAIN },
    Habit { name: "branches of what ended well", keeps: Keeps::WhatEndedWell, has_branches: true, ..PLAIN },
    Habit { name: "branches of what was answered", has_branches: true, has_ids: true, is_forgetful: true, ..PLAIN },
    Habit { name: "one transcript, resumed", opens: Opens::ByResume, ..PLAIN },
    Habit { name: "branches, resumed", has_branches: true, opens: Opens::ByResume, ..PLAIN },
    Habit { name: "one transcript, listed", opens: Opens::AsListed, ..PLAIN },
    Habit { name: "branches, listed", has_branches: true, opens: Opens::AsListed, ..PLAIN },
];

pub(super) fn opens(habit: Habit) -> Value {
    match habit.opens {
        Opens::ByLoad => json!({"loadSession": true}),
        Opens::ByResume => json!({"sessionCapabilities": {"resume": {}}}),
        Opens::AsListed => json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "list": {}}}),
    }
}
