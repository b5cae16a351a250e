//! A turn that another window has taken over from its agent's replay, because it took the window that is at it for gone. That
//! one was only stopped: when it goes on, the transcript has what its agent said meanwhile, and it writes what is new alone.

use std::borrow::Cow;

use serde_json::json;

use super::SHORT;
use super::exchanges::{Exchange, Exchanges};
use super::said::{Said, Status, behind, told_of_call};
use crate::rpc::Object;
use crate::storage::{Result, Storage};
use crate::store::{Segment, Session};
use crate::transcript::begun::each_of_turn;
use crate::transcript::cut::with_text;
use crate::transcript::entry::{Entry, Kind};

/// What the transcript has of such a turn that its window has not written yet.
#[derive(Debug)]
pub struct TakenOver {
    tag: String,
    told: Exchange,
    /// The part of another log that it is, where that is nothing else.
    part: Option<Segment>,
    /// What the agent says has come to what it had not said then.
    is_past: bool,
}

impl TakenOver {
    /// What has come in the place of the turn of this tag, whose prompt is this entry of the session's own log; none where that
    /// is still a part of the conversation, or what has come in its place does not begin as it does. The prompt may have stayed.
    pub fn of<S: Storage>(storage: &S, session: &Session, tag: &str, prompt: u32) -> Result<Option<Self>> {
        let (stays, answer) = (session.has(&session.id, prompt), answer_of_others(session, prompt));
        if stays && answer.is_none() {
            return Ok(None);
        }
        let (mut prompts, mut written, mut is_aside) = (Vec::new(), Vec::new(), false);
        each_of_turn(storage, &session.id, tag, |seq, _, entry| {
            is_aside |= !session.has(&session.id, seq);
            let said: Vec<Said> = entry.updates().iter().map(|update| Said::read(update)).collect();
            match entry.kind {
                Kind::Prompt => prompts.push(PromptWords::of(said)),
                _ => written.extend(said.into_iter().filter(|said| !matches!(said, Said::Call { .. }))),
            }
        })?;
        if stays && !is_aside {
            return Ok(None);
        }
        let answer = answer.filter(|_| stays);
        let others = session.segments.iter().filter(|part| part.log != session.id && answer.is_none());
        for part in answer.into_iter().chain(others.rev()) {
            let found = if stays { first_of(storage, part)? } else { find(storage, part, &prompts)? };
            if let Some(Found { told, is_all }) = found {
                let part = Some(part.clone()).filter(|_| is_all);
                let mut taken_over = Self { tag: tag.to_owned(), told, part, is_past: false };
                let is_begun = written.iter().all(|said| taken_over.has(said) || !matches!(said, Said::Agent(_)));
                return Ok(Some(taken_over).filter(|_| is_begun));
            }
        }
        Ok(None)
    }

    /// The part of another log that it is; none where more than this turn was taken over.
    pub fn part(&self) -> Option<&Segment> {
        self.part.as_ref()
    }

    /// What is new of an entry that waits to be written; none where nothing is.
    pub fn new_of<'e>(&mut self, text: &'e str) -> Option<Cow<'e, str>> {
        let all = Some(Cow::Borrowed(text));
        let Some(entry) = Entry::parse(text).filter(|entry| entry.turn == Some(&self.tag)) else { return all };
        let updates = entry.updates();
        let ([update], Kind::Update) = (&updates[..], entry.kind) else { return all };
        let said = Said::read(update);
        if let Said::Call { id, .. } = &said {
            return self.new_of_call(id, update, &entry, text);
        }
        if self.has(&said) {
            return None;
        }
        let Said::Agent(dense) = said else { return all };
        let left = if self.is_past { "" } else { self.told.agent.left() };
        let length = left.len();
        let goes_on = length > 0 && dense.starts_with(left);
        self.is_past = true;
        if !goes_on {
            return all;
        }
        let update = Object::parse_or_empty(update);
        let words = update.get_object("content").get_text("text").unwrap_or_default();
        let rest = json!(behind(&words, length)).to_string();
        let rest = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
        Some(Cow::Owned(with_text(&entry, rest)))
    }

    /// What is new of what an entry says of the tool call of this id; none where nothing is.
    fn new_of_call<'e>(&mut self, id: &str, update: &str, entry: &Entry<'_>, text: &'e str) -> Option<Cow<'e, str>> {
        let all = Some(Cow::Borrowed(text));
        let Some(known) = self.told.calls.get_mut(id) else { return all };
        let mut update = Object::parse_or_empty(update);
        let status = Status::of(&update);
        // An agent may tell a call once, as it was in the end: what it was before does not set it back.
        let is_passed = status.is_some_and(|status| known.status.is_some_and(|known| known.has_passed(status)));
        if is_passed {
            update.remove("status");
        }
        if known.has(&told_of_call(&update)) {
            return None;
        }
        // What was told of it before something else is not told for good, but for how far it has come.
        known.told.clear();
        if !is_passed {
            known.status = status.or(known.status);
        }
        let is_whole = update.get_string("sessionUpdate").as_deref() == Some("tool_call");
        if !is_passed && !is_whole {
            return all;
        }
        update.set("sessionUpdate", "\"tool_call_update\"");
        let params = Object::parse_or_empty(entry.json).with("update", &update.to_json());
        Some(Cow::Owned(Entry::tagged(Kind::Update, entry.time, entry.turn, &params)))
    }

    /// Whether this is told.
    fn has(&mut self, said: &Said) -> bool {
        match said {
            Said::Agent(text) => !self.is_past && !self.told.agent.left().is_empty() && self.told.agent.pass(text),
            // Some agents leave out what they thought before.
            Said::Thought(text) => {
                let thoughts = &mut self.told.thoughts;
                thoughts.pass(text) || text.len() >= SHORT && thoughts.pass_with_all_before(text)
            }
            Said::Other(print) => self.told.others.pass(*print),
            Said::User(_) | Said::ForAgent(_) | Said::Attached(_) | Said::Call { .. } => false,
        }
    }
}

/// What the user has said in a prompt.
#[derive(Debug, Default)]
struct PromptWords {
    texts: Vec<String>,
    /// There is more than text in it, which agents tell as text in its place, or leave out.
    is_with_others: bool,
}

impl PromptWords {
    fn of(said: Vec<Said>) -> Self {
        let mut asked = Self::default();
        for said in said {
            match said {
                Said::User(text) => asked.texts.push(text),
                _ => asked.is_with_others = true,
            }
        }
        asked
    }

    /// All of them as one.
    fn all(prompts: &[Self]) -> Self {
        let texts = prompts.iter().flat_map(|asked| asked.texts.iter().cloned());
        Self { texts: texts.collect(), is_with_others: prompts.iter().any(|asked| asked.is_with_others) }
    }

    /// Whether an agent tells it like this.
    fn is(&self, told: &str) -> bool {
        let mut rest = told;
        let mut is_next = |text: &String| {
            let found = rest.find(text.as_str()).filter(|at| self.is_with_others || *at == 0);
            rest = found.map_or("", |at| &rest[at + text.len()..]);
            found.is_some()
        };
        self.texts.iter().all(&mut is_next) && (self.is_with_others || rest.is_empty())
    }
}

/// A turn as it was found in a part of a log.
struct Found {
    told: Exchange,
    /// There is nothing else in that.
    is_all: bool,
}

/// The part of another log that stands right behind this prompt and the end of its turn, where its answer would.
fn answer_of_others(session: &Session, prompt: u32) -> Option<&Segment> {
    let is_its = |part: &Segment| part.log == session.id && part.until == prompt;
    let mut behind = session.segments.iter().skip_while(|part| !is_its(part)).skip(1);
    let end = behind.next().filter(|end| end.log == session.id && end.length() == 1);
    behind.next().filter(|part| end.is_some() && part.log != session.id)
}

/// What the agent tells in a part of a log before another prompt.
fn first_of<S: Storage>(storage: &S, part: &Segment) -> Result<Option<Found>> {
    let mut exchanges = Exchanges::of_part(part);
    let told = exchanges.next(storage)?;
    if told.is_told() || !told.is_without_prompt() {
        return Ok(None);
    }
    let is_all = exchanges.next(storage)?.is_told();
    Ok(Some(Found { told, is_all }))
}

/// The last turn in a part of a log that was begun by these prompts; they may have been answered one by one there.
fn find<S: Storage>(storage: &S, part: &Segment, prompts: &[PromptWords]) -> Result<Option<Found>> {
    let Some(first) = prompts.first() else { return Ok(None) };
    let all = PromptWords::all(prompts);
    let mut exchanges = Exchanges::of_part(part);
    let (mut found, mut more): (Option<Found>, &[PromptWords]) = (None, &[]);
    let mut is_first = true;
    loop {
        let exchange = exchanges.next(storage)?;
        if exchange.is_told() {
            return Ok(found);
        }
        let prompt = exchange.prompt();
        match (&mut found, more.split_first()) {
            (Some(found), Some((next, behind))) if next.is(prompt) => {
                found.told.append(exchange);
                more = behind;
            }
            _ if all.is(prompt) || first.is(prompt) => {
                more = if all.is(prompt) { &[] } else { &prompts[1..] };
                found = Some(Found { told: exchange, is_all: is_first });
            }
            (Some(found), _) => {
                more = &[];
                found.is_all = false;
            }
            _ => {}
        }
        is_first = false;
    }
}
