//! The session's record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cost::Cost;
use super::directory;
use super::known::Known;
use super::segment::Segment;
use super::shelf::Shelf;
use super::title::Title;
use super::unreadable::unreadable;
use crate::checksum;
use crate::storage::Result;

/// How the layer came to know a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It went through the layer from its beginning.
    #[default]
    Layer,
    /// Read from the agent's own list; its history is still with the agent only.
    Agent,
}

/// By how much less sessions without a date stand by than others.
const DATELESS_SCALE: i64 = 1000;

/// Before this stands what has no date, as if it were of 1970 or soon after: no agent is that old.
pub const DATELESS_END: i64 = crate::time::LAST / DATELESS_SCALE + 1;

/// All that is known about a session but its state and its transcript. Times are milliseconds since 1970, UTC.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    /// The id its clients know it by; also the name of its log.
    pub id: String,
    /// The working directory, as the client gave it.
    pub cwd: String,
    /// When it was created.
    pub created: i64,
    /// Its last activity.
    pub updated: i64,
    /// When its user last prompted it, as far as is known; see [`Self::recency`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompted: Option<i64>,
    /// When its last turn ended, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ended: Option<i64>,
    /// The model of its last turn, as the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of the session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// Whether the agent took back the time of last activity: it then only orders, and is not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undated: bool,
    /// Whether lists show no date of it, so that it stands behind all of which they do. Each change notes it; where a record of an
    /// earlier version does not, the session stands by its last activity until it changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dateless: bool,
    /// The revision that last changed it; see [`super::Store::revision`].
    #[serde(default)]
    pub revision: u64,
    /// The revision that last changed what lists show of it, its last activity aside, where later ones did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<u64>,
    /// The revision that created it.
    #[serde(default)]
    pub born: u64,
    /// The title.
    #[serde(default)]
    pub title: Title,
    /// What `session_info_update` left in `_meta`, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, Box<RawValue>>,
    /// Whether it is put away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The session that started it, for a sub-agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The name of the agent that it is with: the one that made it or, later, continued it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What each agent knows of it, by the agent's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Known>,
    /// In records of an earlier version, the id its agent knows it by.
    #[serde(default, rename = "agent_id", skip_serializing)]
    earlier_agent_id: Option<String>,
    /// The further directories it was last opened with (protocol v1, `additionalDirectories`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// How the layer came to know it.
    #[serde(default)]
    pub origin: Origin,
    /// How many prompts it got.
    #[serde(default)]
    pub prompts: u64,
    /// What its agents have said that it cost, all together: the sum of what is kept of it by day ([`super::Usage`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What its transcript begins with, in the order of the conversation; the rest of its own log follows.
    #[serde(default, alias = "inherited", skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// The first entry of its own log that follows the segments.
    #[serde(default = "Segment::first", skip_serializing_if = "is_first")]
    pub tail: u32,
    /// How often places in the transcript have moved: by something put in before its end, or taken out. A cursor into the
    /// transcript holds for one layout.
    #[serde(default)]
    pub layout: u64,
    /// Every turn that began before this place of the transcript has ended: nobody has to look there for what a crash cut
    /// off. Later ones may have ended as well.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub settled: u64,
    /// What was taken out of the conversation because its agent went back behind it; kept, and no part of the
    /// transcript.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<Segment>,
}

impl Session {
    /// A session without a title, a prompt or a past.
    pub fn new(id: String, cwd: String, now: i64) -> Self {
        Self {
            id,
            cwd,
            created: now,
            updated: now,
            prompted: None,
            turn_ended: None,
            model: None,
            forked_from: None,
            undated: false,
            dateless: false,
            revision: 0,
            shown: None,
            born: 0,
            title: Title::None,
            meta: BTreeMap::new(),
            archived: false,
            parent: None,
            agent: None,
            agents: BTreeMap::new(),
            earlier_agent_id: None,
            directories: Vec::new(),
            origin: Origin::Layer,
            prompts: 0,
            cost: None,
            segments: Vec::new(),
            tail: 1,
            layout: 0,
            settled: 0,
            aside: Vec::new(),
        }
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self> {
        let mut session: Self = serde_json::from_str(text).map_err(|error| unreadable("a session's record", &error))?;
        if let (Some(id), Some(agent)) = (session.earlier_agent_id.take(), session.agent.clone()) {
            session.agents.entry(agent).or_insert(Known::new(id, u64::MAX));
        }
        Ok(session)
    }

    /// The id an agent knows it by.
    pub fn id_at(&self, agent: &str) -> Option<&str> {
        self.agents.get(agent).map(|known| known.id.as_str())
    }

    /// How many entries of the transcript an agent has heard in the session that it has by this id.
    pub fn heard_by(&self, agent: &str, id: &str) -> u64 {
        self.agents.get(agent).filter(|known| known.id == id).map_or(0, |known| known.heard)
    }

    /// How many entries of the transcript an agent has heard in the session that it has by this id, or under another of
    /// its names, where that is more.
    pub fn heard_under_any_name(&self, agent: &str, id: &str) -> u64 {
        let names = self.agents.get(agent).into_iter().flat_map(|known| known.called(agent));
        names.map(|name| self.heard_by(name, id)).max().unwrap_or_default()
    }

    /// Notes that an agent knows it by this id and has heard this many entries of its transcript; it is with that agent
    /// from now on.
    pub fn give_to(&mut self, agent: &str, id: &str, heard: u64) {
        self.know_as(agent, id, heard);
        self.agent = Some(agent.to_owned());
    }

    /// Notes that an agent knows it by this id and has heard this many entries; it stays with the agent that it is
    /// with.
    pub fn know_as(&mut self, agent: &str, id: &str, heard: u64) {
        let known = match self.agents.remove(agent) {
            Some(known) if known.id == id => Known { heard, ..known },
            Some(mut known) => {
                let before = std::mem::take(&mut known.id);
                known.forget(before);
                known.former.retain(|former| former != id);
                Known { former: known.former, ..Known::new(id.to_owned(), heard) }
            }
            None => Known::new(id.to_owned(), heard),
        };
        self.agents.insert(agent.to_owned(), known);
    }

    /// Notes that an agent that it is known to as `other` is known by this name, too: what that one knows this one knows.
    pub fn know_by_another_name(&mut self, agent: &str, other: &str) {
        let Some(mut known) = self.agents.get(other).cloned() else { return };
        known.names.push(other.to_owned());
        for name in &known.names {
            if let Some(theirs) = self.agents.get_mut(name) {
                theirs.names.push(agent.to_owned());
            }
        }
        self.agents.insert(agent.to_owned(), known);
    }

    /// Whether no other agent knows it than this one, by whatever name.
    pub fn is_known_to_none_but(&self, agent: &str) -> bool {
        let Some(known) = self.agents.get(agent) else { return false };
        self.agents.keys().all(|name| known.called(agent).any(|called| called == name))
    }

    /// As [`Self::give_to`] where another of the agent's sessions may have taken the place of this one since the agent was
    /// asked for it: what is known of this one is as it was in the record `asked`.
    pub fn give_again(&mut self, agent: &str, id: &str, heard: u64, asked: &Self) {
        let is_replaced = self.id_at(agent) != Some(id);
        self.give_to(agent, id, heard);
        let before = asked.agents.get(agent).filter(|before| is_replaced && before.id == id);
        if let (Some(known), Some(before)) = (self.agents.get_mut(agent), before) {
            // Places that have moved are no more those of then.
            let (since, uncopied) =
                if self.layout == asked.layout { (before.since, before.uncopied.clone()) } else { (0, Vec::new()) };
            *known = Known { former: std::mem::take(&mut known.former), since, uncopied, heard, ..before.clone() };
        }
    }

    /// The record's text, with its checksum.
    pub fn to_text(&self) -> String {
        checksum::seal(serde_json::to_string(self).unwrap_or_default())
    }

    /// How many entries its transcript has where its own log ends here.
    pub fn length_up_to(&self, own_end: u32) -> u64 {
        let before: u64 = self.segments.iter().map(Segment::length).sum();
        before + (u64::from(own_end) + 1).saturating_sub(u64::from(self.tail))
    }

    /// Whether this entry of its own log is part of its transcript.
    pub fn has_own(&self, seq: u32) -> bool {
        self.has(&self.id, seq)
    }

    /// Whether this entry of a log is part of its transcript.
    pub fn has(&self, log: &str, seq: u32) -> bool {
        (log == self.id && seq >= self.tail) || self.segments.iter().any(|part| part.has(log, seq))
    }

    /// Whether this entry of a log is, or was, part of its transcript.
    pub fn has_had(&self, log: &str, seq: u32) -> bool {
        self.has(log, seq) || self.aside.iter().any(|part| part.has(log, seq))
    }

    /// How many entries of its transcript stand before the first of its own log that is behind this one.
    pub fn length_before(&self, seq: u32) -> u64 {
        let mut before = 0;
        for part in &self.segments {
            if part.log == self.id && part.until > seq {
                return before + (u64::from(seq) + 1).saturating_sub(u64::from(part.from));
            }
            before += part.length();
        }
        self.length_up_to(seq)
    }

    /// The last entry of its own log where its transcript has this many entries; 0 where none is needed for that.
    pub fn own_end_at(&self, length: u64) -> u64 {
        let before: u64 = self.segments.iter().map(Segment::length).sum();
        length.checked_sub(before).filter(|own| *own > 0).map_or(0, |own| own + u64::from(self.tail) - 1)
    }

    /// How many entries were taken out of the conversation.
    pub fn set_aside(&self) -> u64 {
        self.aside.iter().map(Segment::length).sum()
    }

    /// Whether its transcript is all of its own log and nothing else, and nothing was taken out of it.
    pub fn is_plain(&self) -> bool {
        self.segments.is_empty() && self.aside.is_empty() && self.tail == Segment::first()
    }

    /// Where in the list it belongs.
    pub fn shelf(&self) -> Shelf {
        Shelf { archived: self.archived, subagent: self.parent.is_some() }
    }

    /// It was created then, as its agent says; never after its last activity, or prompt.
    pub fn create_at(&mut self, created: Option<i64>) {
        let last = self.prompted.map_or(self.updated, |prompted| prompted.clamp(0, self.updated));
        self.created = created.map_or(self.created, |created| created.clamp(0, last));
    }

    /// It is in this directory from now on, if that is another one.
    pub fn move_to(&mut self, cwd: &str) {
        if directory::is_other(cwd, &self.cwd) {
            cwd.clone_into(&mut self.cwd);
        }
    }

    /// It has followed a folder that was moved here, of which the agents' lists know nothing.
    pub fn note_moved(&mut self) {
        self.agents.values_mut().for_each(|known| known.moved = true);
    }

    /// Its further directories are these since folders were moved, of which the agents' lists know nothing.
    pub fn move_directories(&mut self, directories: Vec<String>) {
        let before = std::mem::replace(&mut self.directories, directories);
        for known in self.agents.values_mut() {
            known.overtaken.moved(&before, &self.directories);
        }
    }

    /// It was opened with these further directories, where it had those before: what the agents' lists said until then is older.
    pub fn note_opened_with(&mut self, directories: &[String], before: &[String]) {
        for known in self.agents.values_mut() {
            known.overtaken.opened(before, directories, &self.directories);
        }
    }

    /// Notes activity at this time; never before the session was created, so that a bound on creation is one on
    /// activity too.
    pub fn touch(&mut self, at: i64) {
        self.updated = at.clamp(self.created, crate::time::LAST);
        self.undated = false;
    }

    /// Its agent says that its last activity was at this time: never before its last prompt, nor the end of a turn here.
    pub fn date(&mut self, at: i64, now: i64) {
        let ended = self.turn_ended.filter(|_| self.prompts > 0);
        let turn = self.prompted.max(ended).filter(|turn| *turn <= now);
        self.note_existed(at);
        self.touch(turn.map_or(at, |turn| turn.max(at)));
    }

    /// Its agent says that its user last prompted it at this time, and so there was activity then.
    pub fn prompt_elsewhere(&mut self, at: i64) {
        self.prompted = Some(at);
        self.updated = self.updated.max(at);
        self.note_existed(at);
    }

    /// Its agent says that it was there at this time: where only the agent knows when it began, it was no later.
    pub fn note_existed(&mut self, at: i64) {
        if self.began_elsewhere() {
            self.created = self.created.min(at);
        }
    }

    /// Whether its conversation began at its agent and not through the layer. When that was only the agent can say: here is
    /// known when it was found, which was later.
    pub fn began_elsewhere(&self) -> bool {
        let is_told = || self.segments.first().is_some_and(|first| first.log != self.id);
        self.forked_from.is_none() && (self.origin == Origin::Agent || is_told())
    }

    /// Its user prompts it at this time.
    pub fn prompt(&mut self, at: i64) {
        self.touch(at);
        self.prompted = Some(self.updated);
    }

    /// A turn of it has ended at this time, which is written now: like its last activity, never before it was created. The prompt
    /// was before that: one that is to come was noted before the clock was set back, and would follow each activity up to then.
    pub fn end_turn(&mut self, at: i64, now: i64) {
        self.turn_ended = Some(at.max(self.created));
        self.prompted = self.prompted.map(|prompted| prompted.min(now));
    }

    /// Notes whether lists show a date of it.
    pub fn note_dates(&mut self) {
        self.dateless = self.undated && self.prompted.is_none();
    }

    /// What lists are ordered by (draft: session list extensions): when its user last prompted it or, where that is not
    /// known, its last activity. Never before it was created, nor after its last activity: bounds on these are bounds on
    /// it. What is [`Self::dateless`] stands before [`DATELESS_END`], whenever it was created.
    pub fn recency(&self) -> i64 {
        recency((self.created, self.updated), self.prompted, self.dateless)
    }

    /// The revision that last changed what lists show of it, its last activity aside.
    pub fn shown_revision(&self) -> u64 {
        self.shown.unwrap_or(self.revision)
    }

    /// Whether lists show the same of both, their last activity aside.
    pub fn is_shown_as(&self, other: &Self) -> bool {
        let metas = |session: &Self| {
            session.meta.iter().map(|(key, value)| (key.clone(), value.get().to_owned())).collect::<Vec<_>>()
        };
        let prompted = |session: &Self| session.prompted.map(|_| session.recency());
        prompted(self) == prompted(other)
            && self.turn_ended == other.turn_ended
            && self.model == other.model
            && self.cost == other.cost
            && self.archived == other.archived
            && self.title.text() == other.title.text()
            && self.cwd == other.cwd
            && self.directories == other.directories
            && self.forked_from == other.forked_from
            && self.agent == other.agent
            && self.agents.keys().eq(other.agents.keys())
            && (self.parent == other.parent && self.origin == other.origin && self.created == other.created)
            && self.undated == other.undated
            && self.set_aside() == other.set_aside()
            && metas(self) == metas(other)
    }

    /// Whether it never got a prompt, here, at its agent or where it was forked from. What another session's agent
    /// started is no session anybody would have prompted.
    pub fn is_unprompted(&self) -> bool {
        self.prompts == 0 && self.origin == Origin::Layer && self.segments.is_empty() && self.parent.is_none()
    }
}

/// [`Session::recency`] of a session with these times. One without a date stands among its like by the time that orders it, to
/// the second.
pub(super) fn recency((created, updated): (i64, i64), prompted: Option<i64>, dateless: bool) -> i64 {
    if dateless {
        return updated / DATELESS_SCALE;
    }
    prompted.map_or(updated, |prompted| prompted.max(created).min(updated))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn is_first(number: &u32) -> bool {
    *number == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
