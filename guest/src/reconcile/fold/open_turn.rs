//! The turn under way where entries are read one by one.

use super::attached::AttachedPrompts;
use super::heard::Heard;
use super::messages::Messages;
use super::review::Review;
use crate::reconcile::turn::places::Gathered;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::text::Writer;
use crate::reconcile::turn::{Half, Strip};
use crate::transcript::mend::is_end_of_turn;
use crate::transcript::{Ended, Entry};

/// The turn under way.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) places: Gathered,
    pub(super) tag: Option<String>,
    /// It went through the layer, so its end is in the log if it had one.
    pub(super) is_ours: bool,
    /// The user called a slash command.
    pub(super) is_command: bool,
    pub(super) took_part: Option<bool>,
    pub(super) said: Speaking,
    /// What the agent tells of a review, as far as it waits for the answer to that.
    pub(super) review: Review,
    /// A plan of the agent's that waits for what is said behind it.
    plan: String,
    /// What messages the answer is made of.
    pub(super) messages: Messages,
    /// The message that its last entry is a part of; long ones have several.
    pub(super) message: Option<String>,
    /// How it ended, if it did.
    pub(super) ended: Option<Ended>,
    /// When its entries were made, as far as they can be read.
    pub(super) made: Option<Made>,
}

/// When the entries of a turn were made, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    pub(super) began: i64,
    pub(super) ended: i64,
    last: u64,
    /// The last that was made before that.
    before: u64,
    /// Another window has put an end to it, all at once.
    is_mended: bool,
}

impl Made {
    /// Where the last entry stands that its own window has written, of a turn whose last is this one.
    pub(super) fn ended_at(self, last: u64) -> u64 {
        if self.is_mended { self.before } else { last }
    }
}

/// Who is speaking in it, and what was said.
#[derive(Debug)]
pub(super) enum Speaking {
    /// The user is speaking; the layer's own words are still to be taken out of this.
    User(Heard),
    /// The user is speaking at length.
    UserAtLength(Writer),
    /// The user is done.
    Agent {
        user: Sum,
        agent: Writer,
        held: Vec<Half>,
        /// The prompts that it begins with, and goes on.
        begins: Vec<Sum>,
    },
}

impl Open {
    pub(super) fn at(number: u64) -> Self {
        let places = Gathered::one(number);
        Self {
            places,
            tag: None,
            is_ours: false,
            is_command: false,
            took_part: None,
            said: Speaking::User(Heard::default()),
            review: Review::default(),
            plan: String::new(),
            messages: Messages::default(),
            message: None,
            ended: None,
            made: None,
        }
    }

    /// What the user said before another message in it, and that, to which these places belong, as a turn by itself.
    pub(super) fn parted(&mut self, places: Gathered, before: Heard, behind: Heard) -> Self {
        self.said = Speaking::User(before);
        Self {
            places,
            tag: self.tag.clone(),
            took_part: self.took_part,
            said: Speaking::User(behind),
            message: self.message.clone(),
            made: self.made,
            ..Self::at(0)
        }
    }

    /// The last entry so far is this one.
    pub(super) fn note_time(&mut self, number: u64, entry: &Entry<'_>) {
        let Entry { time, .. } = *entry;
        let first = Made { began: time, ended: time, last: number, before: number, is_mended: false };
        let made = self.made.get_or_insert(first);
        if time != made.ended {
            made.before = made.last;
        }
        (made.ended, made.last) = (time, number);
        made.is_mended |= is_end_of_turn(entry);
    }

    /// What comes next is no part of the same message.
    pub(super) fn end_message(&mut self) {
        if let Speaking::Agent { agent, .. } = &self.said {
            self.messages.end(agent.sum());
        }
    }

    /// The agent says this. A plan comes behind what is said with it, in whichever order the two are told: Codex tells it behind that
    /// while it is had, and before that in a replay.
    pub(super) fn hear(&mut self, text: &str, is_plan: bool) {
        let Speaking::Agent { agent, .. } = &mut self.said else { return };
        if is_plan {
            self.plan.push_str(text);
        } else {
            self.review.hear(text, agent);
        }
    }

    /// Nothing more is said with a plan.
    pub(super) fn end_plan(&mut self) {
        if self.plan.is_empty() {
            return;
        }
        self.end_message();
        let plan = std::mem::take(&mut self.plan);
        if let Speaking::Agent { agent, .. } = &mut self.said {
            self.review.hear(&plan, agent);
        }
        self.end_message();
    }

    /// Whether the user has said something in words.
    pub(super) fn has_words(&self) -> bool {
        !matches!(&self.said, Speaking::User(heard) if heard.said().is_empty())
    }

    /// Whether somebody has said something and this is no part of the same message.
    pub(super) fn is_behind_message(&self, message: Option<&str>) -> bool {
        match &self.said {
            Speaking::User(_) | Speaking::UserAtLength(_) => true,
            Speaking::Agent { agent, .. } => {
                !agent.is_empty() && (message.is_none() || self.message.as_deref() != message)
            }
        }
    }
}

impl Speaking {
    /// The user says more; what is attached to some prompts is known.
    pub(super) fn hear(&mut self, text: &str, strip: Strip, attached: &AttachedPrompts) {
        match self {
            Self::User(heard) => {
                heard.hear(text, attached);
                if heard.is_long() {
                    let mut writer = Writer::default();
                    heard.write(&strip(heard.said()), &mut writer);
                    *self = Self::UserAtLength(writer);
                }
            }
            Self::UserAtLength(writer) => writer.push(text),
            Self::Agent { .. } => {}
        }
    }

    /// The user adds something that is no text: an image that was sent in a prompt, or something else.
    pub(super) fn see(&mut self, is_sent_image: bool, is_first: bool) {
        if let Self::User(heard) = self {
            heard.see(is_sent_image, is_first);
        }
    }

    /// With this entry the user may begin another message; `has_other_id` where the agent says so.
    pub(super) fn note_possible_beginning(&mut self, number: u64, has_other_id: bool) {
        if let Self::User(heard) = self {
            heard.note_possible_beginning(number, has_other_id);
        }
    }

    /// Something is told that a client has said to the agent alone.
    pub(super) fn hear_for_agent(&mut self, text: &str) {
        if let Self::User(heard) = self {
            heard.hear_for_agent(text);
        }
    }
}

/// Whether a message of this id (JSON) is a plan of Codex's: it has the id of the turn that it is made in.
pub(super) fn is_plan(id: &str) -> bool {
    let turn = id.strip_prefix('"').and_then(|id| id.strip_suffix("-plan\""));
    turn.is_some_and(|turn| turn.len() == 36 && turn.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_known_by_the_id_of_its_turn() {
        for (id, expected) in [
            ("\"01a228bf-b458-72a1-89d2-9ae1ff7a6e41-plan\"", true),
            ("\"01a228bf-b458-72a1-89d2-9ae1ff7a6e41\"", false),
            ("\"the-plan\"", false),
            ("\"msg_01a228bf-b458-72a1-89d2-9ae1ff7a-plan\"", false),
            ("7", false),
        ] {
            assert_eq!(is_plan(id), expected, "{id}");
        }
    }
}
