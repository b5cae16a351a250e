//! Windows on one session that stay in step: what is said in others comes to this one's client as updates, whole turns
//! between its own. How its agent hears of it: `prompt.rs`.

use std::collections::BTreeSet;

use super::{Busy, LiveSession, Phase, Piece};
use crate::connection::answer;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::showing::lines_of;
use crate::environment::Environment;
use crate::sessions::windows::OtherWindows;
use crate::storage::{Storage, StorageError};
use crate::store::Session;
use crate::transcript::mend::unfinished;
use crate::transcript::{By, Entry, Growing, Own, Shown, begun, speaker};

impl LiveSession {
    /// What the entries of a new turn are marked with.
    pub(super) fn turn_tag<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> String {
        let window = self.in_step.window.get_or_insert_with(|| cx.window());
        cx.turn_tag(window)
    }

    /// What the tags of its turns begin with.
    pub(super) fn window<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> String {
        self.in_step.window.clone().unwrap_or_else(|| cx.window())
    }

    fn own<S: Storage, E: Environment>(&self, cx: &Cx<'_, S, E>) -> Own {
        let turns = self.window(cx);
        let ids = self.in_step.spoke_as.iter().chain([&self.agent_id]);
        Own { turns, speakers: ids.map(|id| speaker(&cx.agent.name, id)).collect() }
    }

    /// Looks whether others have written to the log; see [`crate::transcript::Recorder::take_overtaken`].
    pub(super) fn take_overtaken<S: Storage, E: Environment>(
        &mut self,
        cx: &Cx<'_, S, E>,
    ) -> Result<Option<u32>, StorageError> {
        let behind = self.recorder.take_overtaken(cx.store)?;
        if let Some(behind) = behind {
            self.in_step.change().written_behind(behind);
        }
        Ok(behind)
    }

    /// It is open: its client was shown this much of it. Where that is none, all that stands in the log counts as shown.
    pub(super) fn in_step_from<S: Storage, E: Environment>(&mut self, shown: Option<Shown>, cx: &mut Cx<'_, S, E>) {
        let Some(end) = self.recorder.seen() else { return };
        let shown = match shown {
            Some(shown) => Ok(shown),
            // A turn may be under way elsewhere.
            None if !self.others_ended => Shown::all(cx.store.storage(), self.key.id().unwrap_or_default(), end),
            None => Ok(Shown { end, cut: None }),
        };
        match shown {
            Ok(shown) => self.note_shown(shown, cx),
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// Its client was shown the log so far, and what has been written to it since comes with what others say.
    pub(super) fn note_shown<S: Storage, E: Environment>(&mut self, shown: Shown, cx: &mut Cx<'_, S, E>) {
        let (own, end) = (self.own(cx), shown.end);
        let is_more = self.recorder.seen().is_some_and(|seen| seen > end);
        let elsewhere = self.in_step.change();
        elsewhere.note_shown(shown, &own);
        if is_more {
            elsewhere.written_behind(end);
        }
        if !self.others_ended
            && let Err(error) = self.note_begun(end, &own, cx)
        {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }

    /// Others may be in the midst of a turn, of which the client was shown what stood in the log up to there.
    fn note_begun<S: Storage, E: Environment>(
        &mut self,
        shown: u32,
        own: &Own,
        cx: &Cx<'_, S, E>,
    ) -> Result<(), StorageError> {
        let Some(session) = cx.store.session(self.key.id().unwrap_or_default())? else { return Ok(()) };
        let tags = unfinished(cx.store.storage(), &session)?.into_iter().filter_map(|turn| turn.turn);
        for turn in tags.filter(|turn| !turn.starts_with(&own.turns)) {
            // What was taken over from another session goes on there, if anywhere.
            let is_its_own = begun(cx.store.storage(), &session.id, &turn)?.place.is_some();
            if is_its_own {
                self.in_step.change().note_turn_begun(turn, shown.saturating_add(1));
            }
        }
        Ok(())
    }

    /// Whether a turn is under way elsewhere, as far as is known, or what was said there is still to be looked at.
    pub(in crate::connection) fn is_followed(&self) -> bool {
        let is_due = self.in_step.is_put_off || self.in_step.is_unseen;
        let elsewhere = &self.in_step.elsewhere;
        self.is_open() && (is_due || elsewhere.is_any_begun() || elsewhere.is_growing())
    }

    /// Looks whether others have said anything: the agent is to hear it, and the client as soon as no turn is under way.
    /// `has_changed`: something was written of it since the look before.
    pub(in crate::connection) fn keep_in_step<S: Storage, E: Environment>(
        &mut self,
        has_changed: bool,
        cx: &mut Cx<'_, S, E>,
    ) {
        let may_be_renamed = has_changed || self.in_step.is_unseen || self.in_step.is_put_off;
        // The agent may be opening it once more, or fail to.
        self.in_step.is_unseen = !self.is_open();
        if self.in_step.is_unseen {
            return;
        }
        self.in_step.is_put_off = false;
        self.note_others(cx);
        // What those have written who are gone is looked at once it is known that they are.
        let gone = self.turns_of_the_gone(cx);
        let growing = if has_changed { Growing::Waits } else { Growing::IsQuiet };
        if has_changed {
            self.in_step.change().note_possible_growth();
        }
        self.look_elsewhere(growing, cx);
        if !gone.is_empty() && !self.in_step.is_put_off {
            self.in_step.change().end_begun(&gone);
        }
        self.catch_up(cx);
        if may_be_renamed {
            self.tell_new_name(cx);
        }
    }

    /// The turns that have begun elsewhere and that nobody is at any more.
    fn turns_of_the_gone<S: Storage, E: Environment>(&self, cx: &mut Cx<'_, S, E>) -> BTreeSet<String> {
        if !self.in_step.elsewhere.is_any_begun() {
            return BTreeSet::new();
        }
        let id = self.key.id().unwrap_or_default();
        match OtherWindows::read(cx.store, id, cx.connection, cx.now()) {
            Ok(others) => {
                let begun: Vec<&str> = self.in_step.elsewhere.begun().collect();
                let gone = begun.iter().filter(|turn| !others.may_be_at(Some(turn), &begun));
                gone.map(|turn| (*turn).to_owned()).collect()
            }
            Err(error) => {
                cx.push(Effect::NotRecorded(error.to_string()));
                BTreeSet::new()
            }
        }
    }

    /// Looks through what has been written to the log.
    fn look_elsewhere<S: Storage, E: Environment>(&mut self, growing: Growing, cx: &mut Cx<'_, S, E>) {
        if self.in_step.elsewhere.holds_back() {
            self.recorder.close_run();
            if let Err(error) = self.write(cx, false) {
                return self.put_off(&error, cx);
            }
        }
        let own = self.own(cx);
        let id = self.key.id().unwrap_or_default();
        if let Err(error) = self.in_step.change().look(cx.store.storage(), id, &own, growing) {
            self.put_off(&error, cx);
        }
    }

    /// Looks whether others have said anything, before something goes to its agent. Says whether the client is being shown
    /// that: what it has sent waits.
    pub(in crate::connection) fn comes_into_step<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> bool {
        if self.is_catching_up() {
            return true;
        }
        self.look_for_others(cx);
        // What comes behind it is the window's own.
        self.catch_up_with(Growing::IsShown, cx)
    }

    /// Has the client shown what was said elsewhere, unless something is under way. Says whether it is being shown: what
    /// the client sends meanwhile waits.
    pub(super) fn catch_up<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> bool {
        self.catch_up_with(Growing::Waits, cx)
    }

    fn catch_up_with<S: Storage, E: Environment>(&mut self, growing: Growing, cx: &mut Cx<'_, S, E>) -> bool {
        let is_free = matches!(&self.phase, Phase::Open { turns, busy: None } if turns.is_empty());
        if !is_free || self.in_step.is_put_off || self.in_step.elsewhere.is_idle() {
            return false;
        }
        self.look_elsewhere(growing, cx);
        if self.in_step.is_put_off || !self.in_step.elsewhere.is_any_over() {
            return false;
        }
        if let Phase::Open { busy, .. } = &mut self.phase {
            *busy = Some(Busy::CatchingUp);
        }
        cx.push(Effect::Show(self.key.clone()));
        true
    }

    pub(super) fn put_off<S: Storage, E: Environment>(&mut self, error: &StorageError, cx: &mut Cx<'_, S, E>) {
        self.in_step.is_put_off = true;
        cx.push(Effect::Warn(format!("what was said in other windows cannot be shown for now: {error}")));
    }

    /// Whether what its agent says now is held back: it is said between turns, while the client is being shown what was said
    /// elsewhere, and would come between the words of a turn. It is shown behind that, out of the log.
    pub(super) fn holds_back<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> bool {
        let is_between_turns = matches!(&self.phase, Phase::Open { turns, .. } if turns.is_empty());
        if !is_between_turns || !(self.is_catching_up() || self.in_step.elsewhere.holds_back()) {
            return false;
        }
        if self.in_step.elsewhere.holds_back() {
            self.in_step.change().note_more_held();
            return true;
        }
        // What it has said before that was shown.
        self.recorder.close_run();
        let id = self.key.id().unwrap_or_default().to_owned();
        let end = self.write(cx, false).and_then(|()| cx.store.storage().log_end(&id));
        match end {
            Ok(end) if self.is_catching_up() => {
                self.in_step.change().hold_back(end);
                true
            }
            Ok(_) | Err(_) => false,
        }
    }

    /// Whether its client is being shown what was said elsewhere.
    pub(super) fn is_catching_up(&self) -> bool {
        matches!(&self.phase, Phase::Open { busy: Some(Busy::CatchingUp), .. })
    }

    /// Shows the next piece of what was said elsewhere, about as much as there is room for.
    pub(super) fn show_elsewhere<S: Storage, E: Environment>(&mut self, room: usize, cx: &mut Cx<'_, S, E>) -> Piece {
        let next = self.next_elsewhere(room, cx);
        if let Err(error) = &next {
            self.put_off(error, cx);
        }
        if let Ok(Some(size)) = next {
            return Piece::More(size);
        }
        if let Phase::Open { busy, .. } = &mut self.phase {
            busy.take_if(|busy| matches!(busy, Busy::CatchingUp));
        }
        self.release(cx);
        Piece::Over
    }

    /// How many bytes it came to; none where all was shown.
    fn next_elsewhere<S: Storage, E: Environment>(
        &mut self,
        room: usize,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<usize>, StorageError> {
        let id = self.key.id().unwrap_or_default().to_owned();
        let Some(session) = cx.store.session(&id)? else {
            // It is gone, which is found when something is written of it.
            self.in_step.is_put_off = true;
            return Ok(None);
        };
        let Some(part) = self.in_step.change().next(cx.store.storage(), &session, room)? else {
            return Ok(self.next_held_back(&session, cx));
        };
        let mark = |entry: &Entry<'_>| (part.by == By::Another).then(|| answer::elsewhere(entry.through));
        let lines = lines_of(&part.entries, &id, cx.asked, mark);
        let size = lines.iter().map(|line| line.len() + 1).sum();
        for line in lines {
            cx.push(Effect::ToClients(line));
        }
        Ok(Some(size))
    }

    /// Whether there is something more to be shown that was held back; what was said elsewhere is all shown.
    fn next_held_back<S: Storage, E: Environment>(
        &mut self,
        session: &Session,
        cx: &mut Cx<'_, S, E>,
    ) -> Option<usize> {
        if self.in_step.elsewhere.holds_back() {
            self.look_elsewhere(Growing::Waits, cx);
            if self.in_step.is_put_off {
                return None;
            }
            if self.in_step.elsewhere.is_any_over() {
                return Some(0);
            }
            self.in_step.change().hold_no_more();
        }
        self.tell_new_plan(cx);
        self.title_told = None;
        // A title that its user has set is told once, wherever it is told first.
        if !self.in_step.named.has(&session.title) {
            self.tell_title(session, cx);
        }
        None
    }
}
