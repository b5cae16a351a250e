//! A session in a store, and what agents replay of it.

use std::borrow::Cow;

use acp_sessions_guest::reconcile::{Plan, Replayed, Turn, plan, turns};
use acp_sessions_guest::rpc::Object;
use acp_sessions_guest::sessions::adopt::{self, Adopted, Adoption};
use acp_sessions_guest::sessions::removal;
use acp_sessions_guest::storage::{Bounds, Durability, Memory, Storage};
use acp_sessions_guest::store::{Decision, Session, Store};
use acp_sessions_guest::transcript::{Entry, Kind, Recorder, Replay, Start, speaker};
use serde_json::{Value, json};

pub(crate) const ID: &str = "s";

/// How a turn of a log ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Cancelled,
    Failed,
    Never,
}

/// A turn as it is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) user: String,
    pub(crate) agent: String,
    pub(crate) ended: Ended,
}

impl Said {
    /// Reads `user/agent`, with `!` behind it if it was cancelled, `#` if it failed, `~` if it never ended.
    pub(crate) fn parse(text: &str) -> Self {
        let ended = match text.as_bytes().last() {
            Some(b'!') => Ended::Cancelled,
            Some(b'#') => Ended::Failed,
            Some(b'~') => Ended::Never,
            _ => Ended::Well,
        };
        let (user, agent) = text.trim_end_matches(['!', '#', '~']).split_once('/').unwrap();
        Self { user: user.to_owned(), agent: agent.to_owned(), ended }
    }

    pub(crate) fn text(&self) -> String {
        format!("{}/{}", self.user, self.agent)
    }
}

/// Takes out what stands between `[digest]` and `[end]`.
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    match text.split_once("[digest]").and_then(|(before, rest)| Some((before, rest.split_once("[end]")?.1))) {
        Some((before, after)) => Cow::Owned(format!("{before}{after}")),
        None => Cow::Borrowed(text),
    }
}

/// A store with one session.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) store: Store<Memory>,
    replays: usize,
}

/// All that was decided about a replay, and what came of it.
#[derive(Debug)]
pub(crate) struct Reconciled {
    pub(crate) plan: Plan,
    pub(crate) adopted: Adopted,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self { store: Store::new(Memory::new()), replays: 0 };
        scene.change(|_| {});
        scene
    }

    pub(crate) fn session(&self) -> Session {
        self.store.session(ID).unwrap().unwrap()
    }

    /// Changes the session's record, or makes it.
    pub(crate) fn change(&self, mut change: impl FnMut(&mut Session)) {
        let new = Session::new(ID.to_owned(), "/work".to_owned(), 1);
        self.store
            .change(ID)
            .commit(|before, _, _| {
                let mut session = before.unwrap_or(&new).clone();
                change(&mut session);
                Ok(Decision::put(session))
            })
            .unwrap();
    }

    /// A turn that goes through the layer.
    pub(crate) fn say(&self, said: &Said) {
        let mut recorder = Recorder::new(ID);
        recorder.push(Kind::Prompt, 1, &prompt(&said.user, None));
        push_chunks(&mut recorder, "agent_message_chunk", &said.agent);
        let end = match said.ended {
            Ended::Well => Some(json!({"stopReason": "end_turn"})),
            Ended::Cancelled => Some(json!({"stopReason": "cancelled"})),
            Ended::Failed => Some(json!({"error": {"code": -32603, "message": "no"}})),
            Ended::Never => None,
        };
        match end {
            Some(end) => recorder.push(Kind::TurnEnd, 1, &end.to_string()),
            None => recorder.close_run(),
        }
        recorder.flush(&self.store, &[], Durability::Relaxed).unwrap();
    }

    /// Turns that go through the layer at once, each in a window of its own; `order` says which window goes on, step by
    /// step, and what is left then comes one after the other.
    pub(crate) fn say_at_once(&self, windows: &[Said], order: &[usize]) {
        self.say_with_asides(windows, order, None, &[]);
    }

    /// The same, and what the agent says by itself in a window without a turn, each before one of these steps. The prompts go to
    /// this session of the agent's.
    pub(crate) fn say_with_asides(
        &self,
        windows: &[Said],
        order: &[usize],
        with: Option<&str>,
        asides: &[(usize, String)],
    ) {
        let mut recorders: Vec<(Recorder, usize)> = windows.iter().map(|_| (Recorder::new(ID), 0)).collect();
        let rest = (0..windows.len()).flat_map(|window| [window; 4]);
        for (nth, window) in order.iter().copied().chain(rest).enumerate() {
            for (_, aside) in asides.iter().filter(|(place, _)| *place == nth) {
                let mut recorder = Recorder::new(ID);
                recorder.set_speaker(|| speaker("agent", "x"));
                push_chunks(&mut recorder, "agent_message_chunk", aside);
                recorder.close_run();
                recorder.flush(&self.store, &[], Durability::Relaxed).unwrap();
            }
            let (said, (recorder, step)) = (&windows[window], &mut recorders[window]);
            let middle = said.agent.floor_char_boundary(said.agent.len() / 2);
            match *step {
                0 => {
                    recorder.set_turn(Some(tag(&said.user)));
                    recorder.push(Kind::Prompt, 1, &prompt(&said.user, with));
                }
                1 => push_chunks(recorder, "agent_message_chunk", &said.agent[..middle]),
                2 => push_chunks(recorder, "agent_message_chunk", &said.agent[middle..]),
                3 => {
                    let reason = if said.ended == Ended::Cancelled { "cancelled" } else { "end_turn" };
                    recorder.push(Kind::TurnEnd, 1, &json!({ "stopReason": reason }).to_string());
                }
                _ => continue,
            }
            *step += 1;
            recorder.flush(&self.store, &[], Durability::Relaxed).unwrap();
        }
    }

    /// What windows write one after the other: the tag of a turn, or none for what the agent says by itself, and a prompt (`p`),
    /// words of the agent's (`a`) or the turn's end (`e`).
    pub(crate) fn write(&self, entries: &[(&str, &str)]) {
        for (turn, entry) in entries {
            self.write_as_of(1, turn, entry);
        }
    }

    /// The same of one entry that was made at this time.
    pub(crate) fn write_as_of(&self, time: i64, turn: &str, entry: &str) {
        let mut recorder = Recorder::new(ID);
        recorder.set_turn((!turn.is_empty()).then(|| turn.to_owned()));
        recorder.set_speaker(|| speaker("agent", "x"));
        match entry.split_at(1) {
            ("p", text) => recorder.push(Kind::Prompt, time, &prompt(text, Some("x"))),
            ("a", text) => push_chunks(&mut recorder, "agent_message_chunk", text),
            _ => recorder.push(Kind::TurnEnd, time, &json!({"stopReason": "end_turn"}).to_string()),
        }
        recorder.close_run();
        recorder.flush(&self.store, &[], Durability::Relaxed).unwrap();
    }

    /// Records a replay into a log of its own and returns that log's name. Where the agent says nothing, it does
    /// something, unless the turn never ended.
    pub(crate) fn record(&mut self, replay: &[Said]) -> String {
        self.replays += 1;
        let staging = format!("staging-{}", self.replays);
        let mut recorder = Recorder::new(&staging);
        for (number, said) in replay.iter().enumerate() {
            push_message(&mut recorder, "user_message_chunk", Some(&format!("u{number}")), &said.user);
            push_message(&mut recorder, "agent_message_chunk", Some(&format!("a{number}")), &said.agent);
            if said.agent.is_empty() && said.ended != Ended::Never {
                let call = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "look"}});
                recorder.push(Kind::Update, 1, &call.to_string());
            }
        }
        recorder.close_run();
        recorder.flush(&self.store, &[], Durability::Relaxed).unwrap();
        staging
    }

    /// The turns of the transcript as it is now.
    pub(crate) fn turns(&self) -> Vec<Turn> {
        let end = self.store.storage().log_end(ID).unwrap();
        turns::of_transcript(self.store.storage(), &self.session(), end, strip).unwrap()
    }

    /// What the agent has heard, as a position.
    pub(crate) fn heard(&self, agent: &str) -> u64 {
        self.session().agents.get(agent).map_or(0, |known| known.heard)
    }

    /// The agent has heard this many turns, or all there are.
    pub(crate) fn tell(&self, agent: &str, count: usize) {
        let turns = self.turns();
        let heard = turns[..count.min(turns.len())].last().map_or(0, |turn| turn.at.end());
        self.change(|session| session.give_to(agent, "x", heard));
    }

    /// How many turns the agent has heard to their end.
    pub(crate) fn told(&self, agent: &str) -> usize {
        let heard = self.heard(agent);
        self.turns().iter().take_while(|turn| turn.at.end() <= heard).count()
    }

    /// The agent replays this; what is new is taken over.
    pub(crate) fn load(&mut self, agent: &str, replay: &[Said], moved_on: bool) -> Reconciled {
        let staging = self.record(replay);
        let (session, own_end) = (self.session(), self.store.storage().log_end(ID).unwrap());
        let plan = self.plan(agent, &staging, moved_on);
        let adopted = self.adopt(agent, &session, own_end, &staging, &plan);
        Reconciled { plan, adopted }
    }

    /// What has been let go of is removed.
    pub(crate) fn remove_all(&self) {
        while removal::step(&self.store).unwrap() {}
    }

    pub(crate) fn plan(&self, agent: &str, staging: &str, moved_on: bool) -> Plan {
        let end = self.store.storage().log_end(ID).unwrap();
        let (log, replay) =
            turns::of_both(self.store.storage(), &self.session(), end, Replayed::Log(staging), agent, strip).unwrap();
        plan(&log, self.heard(agent), &replay, moved_on)
    }

    pub(crate) fn adopt(&self, agent: &str, session: &Session, own_end: u32, staging: &str, plan: &Plan) -> Adopted {
        let compared = Some(7);
        let adoption = Adoption { session, own_end, staging, plan, agent, agent_id: "x", compared, now: 1 };
        let adopted = adopt::adopt(&self.store, &adoption).unwrap();
        self.remove_all();
        adopted
    }

    /// The conversation, turn by turn.
    pub(crate) fn visible(&self) -> Vec<Said> {
        said(&self.entries().into_iter().map(|(_, text)| text).collect::<Vec<_>>())
    }

    /// The conversation as it is shown, turn by turn.
    pub(crate) fn shown(&self) -> Vec<Said> {
        let replay = Replay::open(self.store.storage(), &self.session(), Start::Beginning).unwrap();
        let mut texts = Vec::new();
        replay.each(self.store.storage(), |_, text| texts.push(text.to_owned())).unwrap();
        said(&texts)
    }

    /// The entries of the conversation, each with its log and number.
    pub(crate) fn entries(&self) -> Vec<((String, u32), String)> {
        let session = self.session();
        let segments = session.segments.iter().map(|segment| (segment.log.as_str(), segment.from, segment.until));
        segments.chain([(ID, session.tail, u32::MAX)]).flat_map(|part| self.part(part)).collect()
    }

    /// The entries set aside.
    pub(crate) fn aside(&self) -> Vec<((String, u32), String)> {
        let session = self.session();
        let segments = session.aside.iter().map(|segment| (segment.log.as_str(), segment.from, segment.until));
        segments.flat_map(|part| self.part(part)).collect()
    }

    fn part(&self, (log, from, until): (&str, u32, u32)) -> Vec<((String, u32), String)> {
        let bounds = Bounds { limit: u32::MAX, max_bytes: u32::MAX };
        let page = self.store.storage().read_log(log, from, bounds).unwrap();
        let entries = page.entries.into_iter().filter(|entry| entry.seq <= until);
        entries.map(|entry| ((log.to_owned(), entry.seq), entry.value)).collect()
    }
}

fn prompt(text: &str, with: Option<&str>) -> String {
    let mut prompt = json!({"prompt": [{"type": "text", "text": text}], "messageId": "p"});
    if let Some(id) = with {
        prompt["with"] = json!(["agent", id]);
    }
    prompt.to_string()
}

/// The tag of the turn with this prompt.
pub(crate) fn tag(prompt: &str) -> String {
    prompt.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Sends a text in two pieces, as agents do.
fn push_chunks(recorder: &mut Recorder, kind: &str, text: &str) {
    push_message(recorder, kind, None, text);
}

fn push_message(recorder: &mut Recorder, kind: &str, message: Option<&str>, text: &str) {
    let (one, other) = text.split_at(text.floor_char_boundary(text.len() / 2));
    for text in [one, other].into_iter().filter(|text| !text.is_empty()) {
        let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        if let Some(message) = message {
            update["messageId"] = message.into();
        }
        let update = update.to_string();
        let params = format!("{{\"update\":{update}}}");
        recorder.push_chunk(1, &update, &Object::parse(&params).unwrap(), || "\"m\"".to_owned());
    }
}

/// Entries as turns, read naively.
pub(crate) fn said(entries: &[String]) -> Vec<Said> {
    let mut turns: Vec<Said> = Vec::new();
    let mut is_user_speaking = false;
    for entry in entries.iter().filter_map(|text| Entry::parse(text)) {
        let is_prompt = entry.kind == Kind::Prompt;
        let updates = entry.updates();
        if updates.is_empty() {
            is_user_speaking = false;
        }
        for update in updates {
            let update: Value = serde_json::from_str(&update).unwrap();
            let text = update["content"]["text"].as_str().unwrap_or_default();
            let is_user = update["sessionUpdate"] == "user_message_chunk";
            if turns.is_empty() || (is_user && !is_user_speaking) {
                turns.push(Said { user: String::new(), agent: String::new(), ended: Ended::Well });
            }
            is_user_speaking = is_user;
            let turn = turns.last_mut().unwrap();
            if is_user {
                turn.user.push_str(text);
            } else if update["sessionUpdate"] == "agent_message_chunk" {
                turn.agent.push_str(text);
            }
        }
        debug_assert!(!is_prompt || is_user_speaking);
    }
    turns
}
