//! What is looked at when all has settled.

use serde_json::{Value, json};

use acp_sessions_guest::engine::{Content, Peer};
use acp_sessions_guest::store::Store;

use super::Machine;
use crate::case::{Deed, End, How};
use crate::checks;
use crate::checks::gaps::is_anothers_perhaps;
use crate::client::Asked;
use crate::kind::{Kind, Trait};
use crate::talk::{Beside, Life, Mark};

/// What asks for all that there is.
fn everything() -> Value {
    json!({"limit": 1000, "archived": "include", "subagents": true, "agents": "all"})
}

impl Machine<'_> {
    /// The agent answers what is open, the client too, and time passes, until nothing happens any more.
    pub(super) fn settle(&mut self, line: u8) {
        self.quieten(line);
        let Some(open) = &self.lines[usize::from(line)] else { return };
        self.ground.extend(checks::answered(&open.client, &open.agent, false));
    }

    fn quieten(&mut self, line: u8) {
        let mut quiet = 0;
        for _ in 0..60 {
            if let Some(open) = &mut self.lines[usize::from(line)] {
                open.host.room = u32::MAX;
            }
            let is_busy = self.answer_all(line);
            let Some(open) = &self.lines[usize::from(line)] else { return };
            let waits = open.client.waits() > 0;
            quiet = if is_busy { 0 } else { quiet + 1 };
            if quiet > 2 && (!waits || quiet > 5) {
                return;
            }
            // An agent that does not answer is given up after a while, in which the computer is not asleep.
            if quiet > 2 {
                for _ in 0..7 {
                    self.tick(line, 4_500);
                }
            } else {
                // The other one need not be idle: what it holds back it writes.
                self.tick(1 - line, 1100);
                self.tick(line, 0);
            }
        }
        self.ground.broke("restless", "it does not come to rest");
    }

    /// Both sides answer what they were asked; whether there was anything.
    fn answer_all(&mut self, line: u8) -> bool {
        self.flush_pile(line);
        let mut is_busy = false;
        while let Some(open) = &mut self.lines[usize::from(line)] {
            if let Some(permit) = open.client.permit(0) {
                self.deliver(line, Peer::Client, vec![Content::Line(permit)]);
            } else if !open.agent.requests.is_empty() {
                self.act(line, Deed::Answer(0, How::Well));
            } else {
                break;
            }
            is_busy = true;
        }
        is_busy
    }

    /// One look after the other, until something does not hold.
    pub(super) fn finish(&mut self, texts: bool) {
        self.bench.faults.disarm();
        for line in [0, 1] {
            self.wind_up(line);
            if self.is_broken() {
                return;
            }
        }
        self.read_transcripts();
        let kind = self.kinds[0].without(Trait::WantsLogin).without(Trait::StartsSlowly);
        self.start(0, kind);
        self.settle(0);
        let broken = checks::agents_deleted(&mut self.ground, &self.bench.memory, kind);
        self.ground.extend(broken);
        let ids = self.read_list(kind);
        self.read_status(&ids);
        if texts && !self.is_broken() {
            self.search();
        }
        if !self.is_broken() {
            self.open_all(&ids);
            self.end(0, End::Eof(0));
            self.read_transcripts();
        }
        if !self.is_broken() {
            self.delete_all();
        }
    }

    fn read_transcripts(&mut self) {
        self.ground.extend(checks::transcripts(&self.ground.talk, &self.bench.memory));
    }

    /// Looks at the whole list; returns the ids in it, with the names of the agents.
    fn read_list(&mut self, kind: Kind) -> Vec<(String, String)> {
        let rows = self.list(everything());
        let id = |row: &Value| row["sessionId"].as_str().unwrap_or_default().to_owned();
        let agent = |row: &Value| row["_meta"]["acp-sessions"]["agent"].as_str().unwrap_or_default().to_owned();
        let ids: Vec<(String, String)> = rows.iter().map(|row| (id(row), agent(row))).collect();
        self.ground.extend(checks::listed(&self.ground.talk, &self.bench.memory, &rows));
        self.ground.extend(checks::sound(&self.bench.memory));
        self.ground.extend(checks::deleted(&self.ground.talk, &self.bench.memory, &rows));
        if kind.is(Trait::List) && !kind.forgets() {
            let broken = checks::titles(&mut self.ground, &self.bench.memory, kind, &rows);
            self.ground.extend(broken);
            let broken = checks::archived(&mut self.ground, &self.bench.memory, kind, &rows);
            self.ground.extend(broken);
        }
        ids
    }

    /// Nothing is open any more, and a while has passed: also what killed processes have left behind is looked through by then.
    fn read_status(&mut self, ids: &[(String, String)]) {
        let awake = || std::iter::repeat_n(1000, 20);
        for millis in awake().chain([600_000]).chain(awake()) {
            self.tick(0, millis);
        }
        for (id, _) in ids.iter().take(2) {
            let answer = self.show("session/status", &json!({ "sessionId": id }));
            if answer.is_none_or(|answer| answer["status"] == "open") {
                self.ground.broke("status", format!("nobody has `{id}` open"));
            }
        }
    }

    /// Everything is closed, and nothing is kept for it; then the connection ends.
    fn wind_up(&mut self, line: u8) {
        let at = usize::from(line);
        if self.lines[at].is_none() {
            return;
        }
        self.settle(line);
        if let Some(open) = &self.lines[at] {
            self.ground.extend(checks::in_step(&self.ground.talk, &open.client, line));
        }
        let open = self.lines[at].as_ref().map(|open| open.client.open.clone()).unwrap_or_default();
        for session in open {
            self.request(line, "session/close", &json!({ "sessionId": session }), Asked::Close(session));
        }
        self.settle(line);
        if let Some(open) = &self.lines[at]
            && open.agent.forgotten.is_empty()
        {
            self.ground.extend(checks::memos(&open.host.memos));
        }
        self.end(line, End::Eof(0));
    }

    fn request(&mut self, line: u8, method: &str, params: &Value, asked: Asked) {
        let Some(open) = &mut self.lines[usize::from(line)] else { return };
        let text = open.client.request(method, params, asked);
        self.deliver(line, Peer::Client, vec![Content::Line(text)]);
    }

    /// The answer to a request.
    fn show(&mut self, method: &str, params: &Value) -> Option<Value> {
        let losses = self.lines[0].as_ref()?.host.losses;
        let shown = self.show_once(method, params);
        // What was lost with its instance, as its answer says, is asked for again (885352).
        let is_lost = self.lines[0].as_ref().is_some_and(|open| open.host.losses > losses);
        if is_lost { self.show_once(method, params) } else { shown }
    }

    fn show_once(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.request(0, method, params, Asked::Shown);
        for _ in 0..60 {
            let shown = self.lines[0].as_mut()?.client.shown.take();
            if shown.is_some() {
                return shown;
            }
            self.answer_all(0);
            self.tick(0, 1100);
        }
        None
    }

    /// A connection begins with a list, which is all there if the agent's own was never read and nothing goes wrong.
    pub(super) fn first_list(&mut self, line: u8) {
        if line != 0 || self.lines[0].is_some() {
            return;
        }
        let kind = self.next_kind();
        let is_new = kind.name().is_some_and(|name| !self.lists_read.contains(name));
        self.started(line);
        let is_hindered = kind.is(Trait::StartsSlowly) || kind.is(Trait::WantsLogin);
        if is_new && !is_hindered {
            let rows = self.list(everything());
            // Its host may have been killed meanwhile, or the store have failed (307200).
            if self.lines[0].is_some() && !self.ground.talk.had_faults {
                let broken = checks::early(&mut self.ground, kind, &rows);
                self.ground.extend(broken);
            }
        }
    }

    /// All rows of a list.
    fn list(&mut self, mut own: Value) -> Vec<Value> {
        let mut rows = Vec::new();
        for _ in 0..20 {
            let cursor = own.as_object_mut().and_then(|own| own.remove("cursor"));
            let mut params = json!({"_meta": {"acp-sessions": own.clone()}});
            if let Some(cursor) = cursor {
                params["cursor"] = cursor;
            }
            let Some(mut page) = self.show("session/list", &params).filter(|page| page["sessions"].is_array()) else {
                if self.lines[0].is_some() {
                    self.ground.broke("list", "session/list fails");
                }
                return rows;
            };
            rows.extend(page["sessions"].as_array().cloned().unwrap_or_default());
            own["cursor"] = page["nextCursor"].take();
            if own["cursor"].is_null() {
                break;
            }
        }
        rows
    }

    /// What was said is found, unless it was deleted.
    fn search(&mut self) {
        for id in self.ground.talk.names.clone() {
            if self.ground.talk.sessions[&id].life == Life::Perhaps {
                continue;
            }
            if is_anothers_perhaps(&self.ground.talk, &Store::new(&self.bench.memory), &id) {
                continue;
            }
            let required = self.ground.talk.required(&id);
            let marks = required.iter().flat_map(|(_, marks)| marks);
            let marks: Vec<Mark> = marks.copied().filter(|mark| !self.ground.talk.said[*mark].rewound).collect();
            for mark in marks.first().into_iter().chain(marks.last()) {
                let mut own = everything();
                own["search"] = format!("m{mark}x").into();
                let rows = self.list(own);
                let is_here = self.ground.talk.sessions[&id].life == Life::Here;
                self.ground.extend(checks::found(&id, is_here, &format!("m{mark}x"), &rows));
            }
        }
    }

    /// Everything can be loaded, shows what it must, and its agent knows all by the end of the next turn.
    fn open_all(&mut self, ids: &[(String, String)]) {
        for (id, agent) in ids {
            let Some(open) = &mut self.lines[0] else { return };
            let is_here = self.ground.talk.sessions.get(id).is_none_or(|session| session.life == Life::Here);
            if !is_here {
                continue;
            }
            let line = open.client.load(id, &json!({}), true, &mut self.ground);
            self.deliver(0, Peer::Client, vec![Content::Line(line)]);
            self.quieten(0);
            let Some(open) = &self.lines[0] else { return };
            let has_past = self.ground.talk.required(id).iter().any(|(_, marks)| !marks.is_empty());
            if !open.client.open.contains(id) {
                if has_past {
                    self.ground.broke("refused", format!("`{id}` cannot be loaded"));
                }
                continue;
            }
            let seen = open.client.windows.last().map(|window| window.seen.clone()).unwrap_or_default();
            self.check_outside(id, agent, &seen);
            let Some(open) = &mut self.lines[0] else { return };
            let line = open.client.prompt(id, 3, 0, &mut self.ground);
            self.deliver(0, Peer::Client, vec![Content::Line(line)]);
            self.quieten(0);
            if self.is_broken() {
                return;
            }
        }
    }

    /// What was said in an agent's own session without the layer is shown, if the agent replays it.
    fn check_outside(&mut self, id: &str, agent: &str, seen: &[Mark]) {
        let Some(open) = &mut self.lines[0] else { return };
        let is_made_here = self.ground.talk.sessions.get(id).is_some_and(|session| session.is_made_here);
        if is_made_here || !open.agent.kind.is(Trait::Load) || open.agent.kind.name() != Some(agent) {
            return;
        }
        let lists = open.agent.kind.is(Trait::List);
        let kept = open.agent.kept(&mut self.ground, id).filter(|kept| kept.outside).cloned();
        let updated = kept.as_ref().map(|kept| kept.updated);
        let marks = kept.map(|kept| kept.marks_of_its_own()).unwrap_or_default();
        // Without a list of its own that says so, an agent that tells something else altogether is not believed.
        let has_nothing_in_common = !lists && marks.iter().all(|mark| !seen.contains(mark));
        // What was said through the layer while its store took nothing is with the agent alone, whose list gives no reason
        // to look there: it was said at the time that it is not recorded.
        // So is what was said right before a crash, in a turn that never ended: the layer writes five times a second, and
        // the agent's list tells of a turn when it is over.
        let talk = &self.ground.talk;
        let is_firm = |mark: &Mark| !talk.had_faults && talk.said[*mark].firm;
        // What was said in one process while another had the session open cannot be seen any more once that other has had a
        // turn: the agent's list gives one time, which is that turn's.
        let is_seen = |mark: &Mark| talk.said[*mark].beside != Beside::Covered;
        let is_outside = |mark: &Mark| is_seen(mark) && (talk.said[*mark].turn.is_none() || is_firm(mark));
        // Nobody can know that an agent has not told all that it says it has told, as long as its list says nothing new.
        let half_told = talk.half_told.get(id).filter(|(at, _)| lists && Some(*at) == updated);
        let is_told = |mark: &Mark| half_told.is_none_or(|(_, untold)| !untold.contains(mark));
        let is_missing = |mark: &Mark| !seen.contains(mark) && is_outside(mark) && is_told(mark);
        let missing: Vec<Mark> = marks.into_iter().filter(is_missing).collect();
        let store = Store::new(&self.bench.memory);
        // An agent that could not load for a while has begun another session for it.
        let is_elsewhere = store.session(id).ok().flatten().is_some_and(|record| record.id_at(agent) != Some(id));
        let is_exempt = is_elsewhere || is_anothers_perhaps(&self.ground.talk, &store, id);
        if !missing.is_empty() && !has_nothing_in_common && !is_exempt {
            self.ground.broke("outside", format!("`{id}` was loaded without {missing:?}: {seen:?}"));
        }
    }

    /// When all is deleted, nothing is left.
    fn delete_all(&mut self) {
        self.start(0, Kind(0));
        self.settle(0);
        for id in self.list(everything()).iter().filter_map(|row| row["sessionId"].as_str()) {
            let Some(open) = &mut self.lines[0] else { return };
            let line = open.client.delete(id, &mut self.ground);
            self.deliver(0, Peer::Client, vec![Content::Line(line)]);
        }
        self.settle(0);
        self.end(0, End::Eof(0));
        self.ground.extend(checks::nothing_left(&self.bench.memory));
        self.ground.extend(checks::sound(&self.bench.memory));
    }
}
