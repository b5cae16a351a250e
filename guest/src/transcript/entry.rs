//! One entry of a transcript, as it stands in the log: a letter, the time in milliseconds, `#` and its turn where it
//! belongs to one, or `@` and whose session of an agent has said it where that was between turns, with `_` and the window that
//! it was said in, `~` and the checksum of all the rest, a space, JSON. Earlier versions wrote no checksum.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hasher as _;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use siphasher::sip::SipHasher13;

use crate::checksum;
use crate::rpc::Object;
use crate::store::Known;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The params of a `session/update` without their `sessionId`.
    Update,
    /// A turn begins: `{"prompt":[ContentBlock…],"messageId":"…","with":[agent, its id of the session]}`. The id is empty where
    /// the turn ended before the agent had it.
    Prompt,
    /// A turn ends: `{"stopReason":"…"}` or `{"error":{…}}`; both where the agent failed at one that was cancelled. With
    /// what was used in it, if the agent has said so: `"used":{…},"context":{"used":N,"size":N}`.
    TurnEnd,
    /// The agent asked for permission: the request's params without their `sessionId`.
    PermissionAsked,
    /// What the client answered: `{"outcome":{…},"toolCallId":"…","client":"…"}`, or `"error":{…}` in the place of the
    /// outcome. Earlier versions wrote the outcome or the error alone.
    PermissionAnswered,
    /// Another session was forked from here: `{"fork":"…"}`.
    Fork,
    /// Entries are missing here, because the store did not take them: `{"reason":"…","entries":N}`.
    Gap,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Update => 'u',
            Self::Prompt => 'p',
            Self::TurnEnd => 'e',
            Self::PermissionAsked => 'q',
            Self::PermissionAnswered => 'a',
            Self::Fork => 'f',
            Self::Gap => 'g',
        }
    }

    fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'u' => Self::Update,
            b'p' => Self::Prompt,
            b'e' => Self::TurnEnd,
            b'q' => Self::PermissionAsked,
            b'a' => Self::PermissionAnswered,
            b'f' => Self::Fork,
            b'g' => Self::Gap,
            _ => return None,
        })
    }
}

/// How many characters name a window: the first of the tags of its turns.
pub const WINDOW: usize = 5;

/// The longest tag of a turn.
const LONGEST_TAG: usize = 32;

/// A turn's tag with nothing in it but what a tag may have; `None` if nothing is left of it.
pub(super) fn tag(text: &str) -> Option<String> {
    let tag: String = text.chars().filter(|c| is_of_tag(*c)).take(LONGEST_TAG).collect();
    Some(tag).filter(|tag| !tag.is_empty())
}

/// Whether it is a turn's tag as it stands.
pub(super) fn is_tag(text: &str) -> bool {
    (1..=LONGEST_TAG).contains(&text.len()) && text.chars().all(is_of_tag)
}

fn is_of_tag(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What an entry belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Belongs {
    #[default]
    Nowhere,
    Turn(String),
    /// It was said between turns, by this session of an agent, perhaps [`in_window`].
    Speaker(String),
}

/// By what an agent's session is known where it says something between turns: its agent's name and the agent's id for it.
pub fn speaker(agent: &str, agent_id: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(agent.as_bytes());
    hasher.write_u8(0xff);
    hasher.write(agent_id.as_bytes());
    format!("{:016x}", hasher.finish())
}

/// By what all of an agent's sessions are known whose conversation it tells, under each of its names.
pub fn speakers(agent: &str, known: &Known) -> Vec<String> {
    known.taken().flat_map(|id| known.called(agent).map(move |name| speaker(name, id))).collect()
}

/// By what a speaker is known where the window is known that it is said in: a session of an agent's may be open in
/// several of its programs.
pub fn in_window(speaker: &str, window: &str) -> String {
    format!("{speaker}_{window}")
}

/// The tag of a turn, or a speaker in a window, where the client is a layer with a store of this name.
pub fn through(said: &str, store: &str) -> String {
    format!("{said}_{store}")
}

/// What stands in a log in the place of an entry that was lost to damage.
pub fn lost_entry(now: i64) -> String {
    Entry::text(Kind::Gap, now, &json!({ "reason": "the store was damaged", "entries": 1 }).to_string())
}

/// An entry of this head, with its checksum.
fn sealed(head: &str, json: &str) -> String {
    let sum = checksum::of(&[head, " ", json]);
    format!("{head}~{sum} {json}")
}

/// An entry, borrowed from the log's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What it is.
    pub kind: Kind,
    /// When it was recorded, milliseconds since 1970.
    pub time: i64,
    /// The turn it belongs to, if that is known.
    pub turn: Option<&'a str>,
    /// Which session of which agent has said it between turns, if that is known; see [`speaker`].
    pub speaker: Option<&'a str>,
    /// The window in which it was said between turns, if that is known: what the tags of its turns begin with.
    pub window: Option<&'a str>,
    /// Through which store of a layer in front of this one it was said, if through any: the beginning of its name.
    pub through: Option<&'a str>,
    /// Its JSON.
    pub json: &'a str,
}

impl<'a> Entry<'a> {
    /// Reads an entry; `None` where it is damaged or of a kind that a later version writes.
    pub fn parse(text: &'a str) -> Option<Self> {
        let kind = Kind::from_letter(*text.as_bytes().first()?)?;
        let (head, json) = text.get(1..)?.split_once(' ')?;
        let head = head.split_once('~').map_or(head, |(head, _)| head);
        let (head, speaker) = head.split_once('@').map_or((head, None), |(head, speaker)| (head, Some(speaker)));
        let (time, turn) = head.split_once('#').map_or((head, None), |(time, turn)| (time, Some(turn)));
        let turn = turn.filter(|turn| is_tag(turn));
        let mut parts = speaker.filter(|speaker| is_tag(speaker)).into_iter().flat_map(|speaker| speaker.split('_'));
        let (speaker, window, between) = (parts.next(), parts.next(), parts.next());
        let through = between.or_else(|| Some(turn?.split_once('_')?.1));
        Some(Self { kind, time: time.parse().ok()?, turn, speaker, window, through, json })
    }

    /// The window in which it was said, as far as is known: what the tags of its turns begin with.
    pub fn said_in(&self) -> Option<&str> {
        self.window.or_else(|| self.turn?.get(..WINDOW))
    }

    /// Whether it may have been said in this window, between turns: it need not say in which.
    pub(super) fn may_be_of(&self, window: &str) -> bool {
        self.window.is_none_or(|of| of == window)
    }

    /// The entry as the log holds it, if it belongs to no turn.
    pub fn text(kind: Kind, time: i64, json: &str) -> String {
        Self::tagged(kind, time, None, json)
    }

    /// The entry as the log holds it.
    pub fn tagged(kind: Kind, time: i64, turn: Option<&str>, json: &str) -> String {
        let letter = kind.letter();
        sealed(&turn.map_or_else(|| format!("{letter}{time}"), |turn| format!("{letter}{time}#{turn}")), json)
    }

    /// The entry as the log holds it.
    pub(super) fn of(kind: Kind, time: i64, belongs: &Belongs, json: &str) -> String {
        match belongs {
            Belongs::Nowhere => Self::text(kind, time, json),
            Belongs::Turn(turn) => Self::tagged(kind, time, Some(turn), json),
            Belongs::Speaker(speaker) => sealed(&format!("{}{time}@{speaker}", kind.letter()), json),
        }
    }

    /// Whether an entry is as it was written, as far as its checksum tells; one without may be.
    pub fn is_sound(text: &str) -> bool {
        let Some((head, json)) = text.split_once(' ') else { return true };
        head.split_once('~').is_none_or(|(head, sum)| checksum::of(&[head, " ", json]) == sum)
    }

    /// An entry that may not be as it was written, with the checksum of what it is now.
    pub fn resealed(text: &str) -> String {
        let Some((head, json)) = text.split_once(' ') else { return text.to_owned() };
        sealed(head.split_once('~').map_or(head, |(head, _)| head), json)
    }

    /// Whether a log's text is an entry that says what one of its kind says.
    pub fn is_readable(text: &'a str) -> bool {
        let Some(entry) = Self::parse(text) else { return false };
        serde_json::from_str::<&RawValue>(entry.json).is_ok()
            && match entry.kind {
                Kind::Update => Object::parse(entry.json).is_some_and(|params| params.get("update").is_some()),
                Kind::Prompt => entry.prompt().is_some(),
                _ => true,
            }
    }

    /// The content blocks of a prompt, as a JSON array.
    pub fn prompt(&self) -> Option<&'a str> {
        #[derive(Deserialize)]
        struct Prompt<'a> {
            #[serde(borrow)]
            prompt: &'a RawValue,
        }
        let prompt = Some(self).filter(|entry| entry.kind == Kind::Prompt)?;
        Some(serde_json::from_str::<Prompt<'a>>(prompt.json).ok()?.prompt.get())
    }

    /// The id of a prompt's message, as JSON.
    pub fn message_id(&self) -> Option<String> {
        let prompt = Some(self).filter(|entry| entry.kind == Kind::Prompt)?;
        Some(serde_json::from_str::<Prompt<'_>>(prompt.json).ok()?.message_id.get().to_owned())
    }

    /// The session that a prompt went to: its agent's name and the agent's id for it.
    pub fn with(&self) -> Option<(String, String)> {
        let prompt = Some(self).filter(|entry| entry.kind == Kind::Prompt)?;
        serde_json::from_str(crate::rpc::Object::parse(prompt.json)?.get("with")?).ok()
    }

    /// The `update` members this entry comes back as: one for an update, one a block for a prompt.
    pub fn updates(&self) -> Vec<String> {
        match self.kind {
            Kind::Update => {
                let params = crate::rpc::Object::parse_or_empty(self.json);
                params.get("update").map(str::to_owned).into_iter().collect()
            }
            Kind::Prompt => prompt_updates(self.json),
            _ => Vec::new(),
        }
    }

    /// The `sessionUpdate` of an update; none for anything else.
    pub fn update_name(&self) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Update<'a> {
            #[serde(borrow)]
            update: Named<'a>,
        }
        #[derive(Deserialize)]
        struct Named<'a> {
            #[serde(borrow, rename = "sessionUpdate")]
            name: Cow<'a, str>,
        }
        /// How nearly all begin; these need not be read to their end.
        const USUAL: &str = "{\"update\":{\"sessionUpdate\":\"";
        let json = Some(self.json).filter(|_| self.kind == Kind::Update)?;
        let usual = json.strip_prefix(USUAL).and_then(|rest| rest.split_once('"'));
        match usual {
            Some((name, _)) if !name.contains('\\') => Some(Cow::Borrowed(name)),
            _ => serde_json::from_str::<Update<'a>>(json).ok().map(|params| params.update.name),
        }
    }

    /// Shows the params of the `session/update`s this entry comes back as, for this session id (JSON), one after the other.
    pub fn replay(&self, session_id: &str, mut show: impl FnMut(fmt::Arguments<'_>)) {
        match self.kind {
            Kind::Update => {
                if let Some(rest) = self.json.strip_prefix('{') {
                    show(format_args!("{{\"sessionId\":{session_id},{rest}"));
                }
            }
            Kind::Prompt => {
                for update in prompt_updates(self.json) {
                    show(format_args!("{{\"sessionId\":{session_id},\"update\":{update}}}"));
                }
            }
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct Prompt<'a> {
    #[serde(borrow)]
    prompt: Vec<&'a RawValue>,
    #[serde(borrow, rename = "messageId")]
    message_id: &'a RawValue,
}

fn prompt_updates(json: &str) -> Vec<String> {
    let Ok(prompt) = serde_json::from_str::<Prompt<'_>>(json) else { return Vec::new() };
    let id = prompt.message_id.get();
    let update = |block: &&RawValue| {
        format!("{{\"sessionUpdate\":\"user_message_chunk\",\"content\":{},\"messageId\":{id}}}", block.get())
    };
    prompt.prompt.iter().map(update).collect()
}

/// What a `session/update` is to the layer (protocol v1, `SessionUpdate`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateKind {
    /// A piece of something the user said.
    UserChunk,
    /// Any other piece of a message; adjacent ones are kept as one.
    Chunk,
    /// `current_mode_update`.
    Mode,
    /// `config_option_update`.
    Options,
    /// `session_info_update`.
    Info,
    /// State of which only the last counts: plan, commands, usage.
    State,
    /// `subagent_update`: another session was started by this one.
    Subagent,
    /// Anything else, known or not: history.
    Event,
}

impl UpdateKind {
    /// Of this `sessionUpdate`.
    pub fn of(discriminator: &str) -> Self {
        match discriminator {
            "user_message_chunk" => Self::UserChunk,
            "agent_message_chunk" | "agent_thought_chunk" => Self::Chunk,
            "current_mode_update" => Self::Mode,
            "config_option_update" => Self::Options,
            "session_info_update" => Self::Info,
            "plan" | "available_commands_update" | "usage_update" => Self::State,
            "subagent_update" => Self::Subagent,
            _ => Self::Event,
        }
    }

    /// Whether it belongs to the conversation rather than to the session's present state.
    pub fn is_history(self) -> bool {
        matches!(self, Self::UserChunk | Self::Chunk | Self::Event | Self::Subagent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_may_say_can_be_read_and_what_is_cut_off_cannot() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for awkward in [r#""\ud800""#, "1e999", &deep, "null"] {
            let json = format!(r#"{{"update":{{"sessionUpdate":"x","y":{awkward}}}}}"#);
            let text = Entry::text(Kind::Update, 7, &json);
            assert!(Entry::is_readable(&text), "{text}");
            assert!((1..text.len()).all(|length| !Entry::is_readable(&text[..length])), "{text}");
        }
        for text in ["", "u", "u7 {}", "p7 {}", "?7 {}", "ux {}", "e7 {"] {
            assert!(!Entry::is_readable(text), "{text}");
        }
    }
}
