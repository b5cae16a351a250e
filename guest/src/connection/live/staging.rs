//! What an agent tells of a session while it loads it: recorded in a log of its own, which becomes part of the
//! transcript as a whole, or is dropped. Where most of it will be dropped, because the transcript has it, it is held in memory
//! and written if it is needed, or too long.

mod comparing;
mod plainly;

pub(super) use comparing::{Comparison, NotAdopted, TakenOver};
use plainly::{Plainly, parted, remark_of};

use super::account_filter::AccountFilter;
use super::quote::Quote;
use super::session_update::{Update, message_of};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::load::Share;
use crate::environment::Environment;
use crate::reconcile::Brought;
use crate::rpc::Object;
use crate::sessions::staging;
use crate::storage::{Durability, Result, Storage};
use crate::store::Session;
use crate::transcript::own_words::Parted;
use crate::transcript::{ENTERED, Kind, Recorder, Remark, UpdateKind, is_for_reviewer, speaker};

/// How much of a history is held in memory, in bytes.
const HELD: usize = 4 * 1024 * 1024;

/// How many parts of what a user says are not joined with the one before at most: each may be another prompt.
const MOST_PARTS: usize = 32;

/// Up to how many bytes it is kept what was last told as the user's.
const LONGEST_TOLD: usize = 64 * 1024;

/// Where what was told so far is.
#[derive(Debug)]
enum StagedIn {
    /// All in memory: it is expected to be in the transcript as well.
    Held(Option<Share>),
    /// In its log, but for what came last.
    Written,
}

/// A history on its way from the agent.
#[derive(Debug)]
pub(super) struct Staging {
    log: String,
    kept: StagedIn,
    /// Who tells it; see [`speaker`].
    speaker: String,
    recorder: Recorder,
    account_filter: AccountFilter,
    /// Keeps the layer's own words out of what it replays as its own.
    quote: Quote,
    /// The last that was recorded is something the user said.
    is_user_speaking: bool,
    /// How many parts of what it is saying stand in places of their own, behind the first.
    parts: usize,
    /// The last that was told is a summary of what was said before, which nobody is shown as the user's.
    is_behind_summary: bool,
    /// What was last told as the user's, as it was told, unless it is long.
    told_as_users: Option<String>,
    /// What a reviewer of the agent's looks through, as was told last.
    reviewed: Option<String>,
    /// What it begins with.
    beginning: Option<String>,
    /// What it has to begin with, as far as is known.
    expected: Option<String>,
    /// Where the session's own log ended when the agent was asked.
    asked_at: u32,
    /// When it was asked, in milliseconds since 1970.
    asked_when: i64,
    /// Where its log ended when something was last written to it.
    written: u32,
    /// Another process has dropped some of it, because it took this one for gone.
    is_cut: bool,
    session: Session,
    /// Prompts of the session that are such as agents tell in their user's name, once it was looked for them.
    brought: Option<Brought>,
}

/// What was recorded, and so may be shown: `update` members.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// What stands before it: what had been held back of the message before, because it might have been the layer's own words, or
    /// a summary.
    pub(super) before: Vec<String>,
    /// What is recorded of the update itself; none: nothing of it, yet or ever.
    pub(super) update: Option<String>,
}

impl Staging {
    /// Begins one for this session, which the agent knows by this id.
    pub(super) fn begin<S: Storage, E: Environment>(
        session: &Session,
        agent_id: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<Self> {
        Self::told_by(speaker(&cx.agent.name, agent_id), session, cx)
    }

    fn told_by<S: Storage, E: Environment>(speaker: String, session: &Session, cx: &Cx<'_, S, E>) -> Result<Self> {
        let log = format!("{}~{:016x}", session.id, cx.environment.random());
        staging::begin(cx.store, cx.connection, &log, cx.now())?;
        let asked_at = cx.store.storage().log_end(&session.id)?;
        // Where nothing of the session is here yet, all that is told will be needed; else little of what it has as well.
        let here = session.length_up_to(asked_at);
        let kept = if here == 0 { StagedIn::Written } else { StagedIn::Held(None) };
        let mut recorder = Recorder::new(&log);
        recorder.leave_unindexed(u32::try_from(here).unwrap_or(u32::MAX));
        Ok(Self {
            asked_at,
            asked_when: cx.now(),
            kept,
            recorder,
            log,
            speaker,
            account_filter: AccountFilter::default(),
            quote: Quote::default(),
            is_user_speaking: false,
            parts: 0,
            is_behind_summary: false,
            told_as_users: None,
            reviewed: None,
            beginning: None,
            expected: None,
            written: 0,
            is_cut: false,
            session: session.clone(),
            brought: None,
        })
    }

    /// Begins it again: what was told so far was for a request that nobody waits for any more, or mixed with that.
    pub(super) fn begin_again<S: Storage, E: Environment>(
        self,
        session: &Session,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Self> {
        let expected = self.expected.clone().or_else(|| self.beginning.clone());
        let (speaker, asked_at, asked_when) = (self.speaker.clone(), self.asked_at, self.asked_when);
        self.discard(cx);
        Ok(Self { expected, asked_at, asked_when, ..Self::told_by(speaker, session, cx)? })
    }

    /// Whether its beginning was told before it was begun again, among what was told for the other request: both are of
    /// one history, and begin with the same.
    pub(super) fn lacks_beginning(&self) -> bool {
        self.expected.is_some() && self.beginning != self.expected
    }

    /// Records what the agent tells; says what of it that is.
    pub(super) fn record<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &Cx<'_, S, E>,
    ) -> Result<Recorded> {
        self.beginning.get_or_insert_with(|| {
            format!("{}{}", update.name, Object::parse_or_empty(update.update).get("content").unwrap_or_default())
        });
        let Some((summary, behind)) = parted(update) else { return self.record_one(update, cx) };
        let mut recorded = self.record_line(&summary, cx)?;
        if let Some(behind) = behind {
            let Recorded { before, update } = self.record_line(&behind, cx)?;
            recorded.before.extend(recorded.update.take());
            recorded.before.extend(before);
            recorded.update = update;
        }
        Ok(recorded)
    }

    /// Records what this notification tells; says what of it that is.
    fn record_line<S: Storage, E: Environment>(&mut self, line: &str, cx: &Cx<'_, S, E>) -> Result<Recorded> {
        let message = Object::parse_or_empty(line);
        let params = message.get_object("params");
        Update::read(line, &params).map_or_else(|| Ok(Recorded::default()), |update| self.record_one(&update, cx))
    }

    /// Records an update that says one thing; says what of it that is.
    fn record_one<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Result<Recorded> {
        let remark = remark_of(update);
        let may_be_users = matches!(remark, Some(Remark::Hidden | Remark::Snapshot | Remark::Stopped));
        let is_users = may_be_users && self.has_user_said(update, cx)?;
        let remark = remark.filter(|_| !is_users);
        let is_behind_summary = std::mem::replace(&mut self.is_behind_summary, remark == Some(Remark::Snapshot));
        let is_for_reviewer = self.is_for_reviewer(update);
        let is_said = update.kind == UpdateKind::UserChunk && remark.is_none();
        let text = is_said.then(|| update.text()).flatten();
        let before = text.map(|text| self.told_as_users.replace(text)).unwrap_or_default();
        self.told_as_users.take_if(|told| told.len() > LONGEST_TOLD);
        let plainly = || Plainly::of(update, remark, is_behind_summary, before.as_deref());
        match if is_for_reviewer { Plainly::Nothing } else { plainly() } {
            Plainly::AsTold => self.record_plain(update, remark.is_some(), cx),
            Plainly::As(line) => {
                let message = Object::parse_or_empty(&line);
                let params = message.get_object("params");
                let plain = Update::read(&line, &params);
                plain.map_or_else(|| Ok(Recorded::default()), |plain| self.record_plain(&plain, remark.is_some(), cx))
            }
            plain @ (Plainly::AsEnd | Plainly::Nothing) => {
                let rest = self.end_users(cx).or_else(|| self.end_agents(cx));
                if matches!(plain, Plainly::AsEnd) {
                    self.end_turn(cx);
                }
                self.recorder.close_run();
                Ok(Recorded { before: rest.into_iter().collect(), update: None })
            }
        }
    }

    /// Whether the agent tells with this, in its user's name, what it has given its reviewer, right behind what that looks through.
    fn is_for_reviewer(&mut self, update: &Update<'_>) -> bool {
        // Most of what is told is not such, and there may be very much of it.
        let may_be = update.name == "agent_message_chunk" && update.update.contains(ENTERED);
        let entered = || update.text()?.strip_prefix(ENTERED).map(str::to_owned);
        let said = may_be.then(entered).flatten();
        let reviewed = std::mem::replace(&mut self.reviewed, said).filter(|_| update.kind == UpdateKind::UserChunk);
        reviewed.is_some_and(|reviewed| update.text().is_some_and(|text| is_for_reviewer(&reviewed, &text)))
    }

    /// Whether a user has said this, as the transcript has it, which looks as if no user had.
    fn has_user_said<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Result<bool> {
        let brought = match self.brought.take() {
            Some(brought) => brought,
            None => Brought::of_transcript(cx.store.storage(), &self.session, self.asked_at)?,
        };
        let brought = self.brought.insert(brought);
        Ok(Object::parse_or_empty(update.update).get("content").is_some_and(|block| brought.has_said(block)))
    }

    /// Records it as it is kept. `is_remark`: it is no part of what is said before and behind it.
    fn record_plain<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        is_remark: bool,
        cx: &Cx<'_, S, E>,
    ) -> Result<Recorded> {
        self.recorder.set_speaker(|| self.speaker.clone());
        let users = if is_remark || self.account_filter.ends_with(update) { self.end_users(cx) } else { None };
        let agents = if self.quote.ends_with(update) { self.end_agents(cx) } else { None };
        let shown = match update.kind {
            _ if is_remark => {
                self.recorder.close_run();
                self.record_chunk(update, update.update, cx);
                self.recorder.close_run();
                Some(update.update.to_owned())
            }
            UpdateKind::UserChunk => self.record_users(update, cx),
            UpdateKind::Chunk => {
                let shown = self.quote.feed(update);
                shown.inspect(|shown| self.record_chunk(update, shown, cx))
            }
            _ => {
                self.recorder.push(Kind::Update, cx.now(), &update.kept(None));
                self.is_user_speaking = false;
                Some(update.update.to_owned())
            }
        };
        if self.recorder.is_full() && !self.holds(cx) {
            self.write(cx)?;
        }
        Ok(Recorded { before: users.or(agents).into_iter().collect(), update: shown })
    }

    /// Whether what came since it was last asked is held in memory.
    fn holds<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> bool {
        let StagedIn::Held(share) = &mut self.kept else { return false };
        let bytes = self.recorder.hold();
        *share = None;
        if bytes > HELD || cx.states.is_full() {
            return false;
        }
        *share = Some(cx.states.share(bytes));
        true
    }

    /// Whether some of it is lost: another process has dropped it, because it took this one for gone.
    pub(super) fn is_cut<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Result<bool> {
        self.is_cut = self.is_cut || staging::is_cut(cx.store, &self.log, self.written)?;
        Ok(self.is_cut)
    }

    /// Writes what waits, and from now on what comes.
    fn write<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Result<()> {
        if self.recorder.is_dirty() {
            self.is_cut(cx)?;
            let named = staging::named(cx.connection, &self.log, cx.now());
            self.recorder.flush(cx.store, &[named], Durability::Relaxed)?;
            self.written = self.recorder.end().unwrap_or(self.written);
        }
        self.kept = StagedIn::Written;
        Ok(())
    }

    /// No more is told: what was written in part is written to the end.
    fn close<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Result<()> {
        self.recorder.close_run();
        match self.kept {
            StagedIn::Held(_) => Ok(()),
            StagedIn::Written => self.write(cx),
        }
    }

    /// Records what the agent tells that the user said; gives what of it is shown.
    fn record_users<S: Storage, E: Environment>(&mut self, update: &Update<'_>, cx: &Cx<'_, S, E>) -> Option<String> {
        let Some(text) = update.text() else {
            self.account_filter.pass(update);
            self.record_chunk(update, update.update, cx);
            return Some(update.update.to_owned());
        };
        let Parted { before, behind } = self.account_filter.feed(update, &text);
        self.record_text(update, &text, &before, cx);
        if let Some(behind) = &behind {
            if self.is_user_speaking {
                // An account stands before a prompt: what stands before the account is another prompt, that nobody answered.
                self.end_turn(cx);
            }
            self.record_text(update, &text, behind, cx);
        }
        let shown = before + &behind.unwrap_or_default();
        if shown == text {
            return Some(update.update.to_owned());
        }
        (!shown.is_empty()).then(|| update.with_text(&shown))
    }

    /// What comes next is of another turn; nobody knows how this one ended.
    fn end_turn<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) {
        self.recorder.push(Kind::TurnEnd, cx.now(), "{}");
        self.recorder.set_speaker(|| self.speaker.clone());
        self.is_user_speaking = false;
    }

    /// Records a part of a chunk's text.
    fn record_text<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        text: &str,
        part: &str,
        cx: &Cx<'_, S, E>,
    ) {
        if part == text {
            self.record_chunk(update, update.update, cx);
        } else if !part.is_empty() {
            self.record_chunk(update, &update.with_text(part), cx);
        }
    }

    fn record_chunk<S: Storage, E: Environment>(&mut self, update: &Update<'_>, with: &str, cx: &Cx<'_, S, E>) {
        let kept = update.kept((with != update.update).then_some(with));
        if update.kind == UpdateKind::UserChunk && self.is_user_speaking {
            // An agent without message ids may tell two prompts right behind each other.
            if self.parts < MOST_PARTS && message_of(update).is_none() {
                self.parts += 1;
                self.recorder.part_run();
            }
        } else {
            self.parts = 0;
        }
        self.recorder.push_chunk(cx.now(), with, &Object::parse_or_empty(&kept), || cx.message_id());
        self.is_user_speaking = update.kind == UpdateKind::UserChunk;
    }

    /// The user's message is at its end: what was held back of it was the user's, if it was not the layer's.
    fn end_users<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Option<String> {
        let rest = self.account_filter.finish()?;
        self.recorder.push_chunk_alone(cx.now(), &rest, || cx.message_id());
        self.is_user_speaking = true;
        Some(rest)
    }

    /// The agent's message is at its end: what was held back of it was the agent's, if it was not the layer's.
    fn end_agents<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Option<String> {
        let rest = self.quote.finish()?;
        self.recorder.push_chunk_alone(cx.now(), &rest, || cx.message_id());
        self.is_user_speaking = false;
        Some(rest)
    }

    /// Drops it.
    pub(super) fn discard<S: Storage, E: Environment>(self, cx: &mut Cx<'_, S, E>) {
        if let Err(error) = staging::discard(cx.store, cx.connection, &self.log) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }
}
