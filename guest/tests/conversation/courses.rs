//! Every short course of two windows on one session, and longer ones in which something was lost or doubled once. The same words are
//! said over and over in them: where all words differ, what belongs together can be told by them.
//!
//! `COURSES_LENGTH` says how many steps the longest have that are all tried; `cargo xtask fuzz --courses` sets it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, IMAGE, ask_load, leave, load_told, mark, words};

/// When an agent keeps what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// A prompt as it is taken up, and each word of an answer as it is said.
    AtOnce,
    /// Both once the turn has come to its end.
    AtItsEnd,
    /// Both once the turn has come to its end, if that was a good one.
    WhatEndedWell,
    /// A prompt as it is taken up, and what is answered once that has come to a good end.
    AnswersThatEndedWell,
}

/// How an agent keeps what is said.
#[derive(Debug, Clone, Copy)]
struct Habit {
    name: &'static str,
    keeps: Keeps,
    /// Each of its programs goes on behind what it has itself; what is loaded is what leads to the last word of all.
    has_branches: bool,
    has_ids: bool,
    /// It keeps no commands, and nothing of what it was asked and did not answer.
    is_forgetful: bool,
}

const PLAIN: Habit =
    Habit { name: "one transcript", keeps: Keeps::AtOnce, has_branches: false, has_ids: false, is_forgetful: false };

const HABITS: [Habit; 11] = [
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
];

/// What is done in two windows: small letters in the first, large ones in the second. `y`, `c` and `i` send a prompt, `s` has the agent
/// answer it, `.` (`:`) the same and come to its end, `x` the user have it stop, `e` it fail, `f` end it well but for an error that it
/// tells and does not keep, `r` refuse it; `q` opens another window in
/// this one's place, `k` too, where this one and the agent's program are killed. `o` is a turn in a window of the agent's own, behind all
/// that is kept; `O` the same behind what the agent's program of the second window has, if it keeps branches. `m` calls a
/// command, `n` sends a prompt that is refused as a turn runs, `a` has the agent's program end by itself, `l` loads the session again in
/// its window, and `~` lets a minute go by: `COURSES_STEPS` says which steps are tried.
const STEPS: &str = "ycYCiIs.S:xXeErRqQkKonOmM";

/// Prompts, and how they are answered. The last but one is an image.
const WORDS: [(&str, &str); 4] = [("yes", "OK."), ("continue", "Done."), (IMAGE, "A picture."), (COMMAND, "1 $.")];
const COMMAND: &str = "/cost";

/// Which words are said.
#[derive(Debug, Clone, Copy)]
enum Words {
    Same,
    Different,
}

/// Courses in which something was lost or doubled once.
const FOUND: &[&str] = &[
    // One window goes on behind a turn of the other's with one that is stopped, fails, or is not waited for,
    "y.YY", "y.YC", "y.CY", "y.YXY", "y.CXC", "y.YEqc.", "YEI:c.Y:", // and both are at several at once.
    "yxcryYE.", "yxcryY:.", "yYYX", "ycyCe", "yyYYY", "yYcY:", "yYyYY", "yccCC", "yscCY", "yCYyY", "yyyYe", "yecCc",
    "iYsi", "yYXYY",
    // The agent says more to the first behind the second, and one of the two fails, or is stopped.
    "yscs.sx", "yscs.se", "ysces.", "ysyse.",
    // A killed window's turn is ended behind what others said meanwhile.
    "ikoy", "ikoI", "ykoi", "ykoy", "ysYky", "Y:ysYk:y",
    // A window is opened amid a turn of the other's, and asks twice; or an image is told by itself behind a prompt that came to nothing.
    "yQYY", "yQYI", "yQIY", "yQYC", "yYQI",
    // What went wrong is told as an answer; the agent's own window goes on with a branch that lacks the last turn; the same command is
    // called over and over.
    "yfy", "Y:y.O", "Y:y.Oo", "Y:yxO", "Y:y.Oy", "mmM", "mMm",
];

/// The same where messages have ids, and prompts are kept: else what an agent has kept alone of a turn that ended well is one with what
/// was said next elsewhere, or gone.
const FOUND_WITH_IDS: &[&str] = &["yskyfo"];

/// What an agent has kept.
#[derive(Debug, Default)]
struct Kept {
    items: Vec<(Option<usize>, Value)>,
    /// What is kept no more.
    dropped: BTreeSet<usize>,
}

impl Kept {
    fn add(&mut self, behind: Option<usize>, mut told: Value, habit: Habit) -> usize {
        if habit.has_ids {
            told["messageId"] = format!("m{}", self.items.len()).into();
        }
        self.items.push((behind, told));
        self.items.len() - 1
    }

    fn told(&self, habit: Habit) -> Vec<Value> {
        let is_kept = |at: &usize| !self.dropped.contains(at);
        let all = 0..self.items.len();
        let last = all.clone().rev().find(is_kept);
        let chain: BTreeSet<usize> = std::iter::successors(last, |at| self.items[*at].0).collect();
        let told = all.filter(|at| is_kept(at) && (!habit.has_branches || chain.contains(at)));
        told.map(|at| self.items[at].1.clone()).collect()
    }
}

/// A prompt that an agent was sent.
#[derive(Debug)]
struct Turn {
    request: Value,
    blocks: Vec<Value>,
    answer: String,
    /// How often something was said.
    answers: usize,
    /// What is kept of it once it has come to its end.
    items: Vec<Value>,
    /// What is kept of it already.
    kept: Vec<usize>,
    is_command: bool,
    /// Behind what it was begun, and how much was kept then.
    behind: Option<usize>,
    begun_at: usize,
}

/// A window, with a program of the agent of its own.
struct Window<'a> {
    desk: Desk<'a>,
    last: Option<usize>,
    /// Something was kept that was said in it.
    has_kept: bool,
    running: Option<Turn>,
    queue: VecDeque<Turn>,
}

impl<'a> Window<'a> {
    fn new(store: &'a Memory, world: &'a World) -> Self {
        Self {
            desk: Desk::ready(store, world, &loads()),
            last: None,
            has_kept: false,
            running: None,
            queue: VecDeque::new(),
        }
    }
}

/// Two windows, and their agent.
struct Course<'a> {
    habit: Habit,
    store: &'a Memory,
    world: &'a World,
    windows: Vec<Window<'a>>,
    kept: Kept,
    /// How often each was said.
    said: BTreeMap<String, usize>,
    requests: usize,
    /// What is asked now is refused, as a turn runs.
    is_busy: bool,
    /// Which words are said.
    words: Words,
    /// Turns in a window of the agent's own that the layer was not told yet.
    outside: BTreeSet<usize>,
    /// What the user said, as far as no two prompts are the same: what was said before all had come to its end.
    in_order: Vec<Vec<String>>,
}

fn loads() -> Value {
    json!({"loadSession": true})
}

impl<'a> Course<'a> {
    fn new(habit: Habit, words: Words, (store, world): (&'a Memory, &'a World)) -> Self {
        let (kept, said, outside, in_order) = Default::default();
        let windows = vec![Window::new(store, world), Window::new(store, world)];
        let mut course =
            Self { habit, store, world, windows, kept, said, requests: 0, is_busy: false, words, outside, in_order };
        course.windows[0].desk.new_session("s1", CWD);
        course.step(0, 'y');
        course.step(0, '.');
        course.load(1);
        course
    }

    fn load(&mut self, at: usize) {
        let out = ask_load(&mut self.windows[at].desk, "load", "s1");
        let mut is_open = self.serve(at, out);
        for _ in 0..100 {
            if !is_open {
                return;
            }
            let out = self.windows[at].desk.wait(100);
            is_open = self.serve(at, out);
        }
        panic!("the load is not answered");
    }

    /// The agent does what it is asked. Whether the client has had no answer to a load.
    fn serve(&mut self, at: usize, out: Out) -> bool {
        let mut is_open = out.is_open("load");
        let mut asked: VecDeque<Value> = out.agent.into();
        while let Some(message) = asked.pop_front() {
            let mut out = Out::default();
            match message["method"].as_str() {
                Some("session/load") => {
                    let told = self.kept.told(self.habit);
                    self.are_told(&told);
                    for told in told {
                        out.extend(self.windows[at].desk.agent(update("s1", told)));
                    }
                    self.windows[at].last = self.kept.items.len().checked_sub(1);
                    out.extend(self.windows[at].desk.reply(&message, json!({})));
                }
                Some("session/prompt") if self.is_busy => {
                    let error = json!({"code": -32603, "message": "a turn is running"});
                    out = self.windows[at].desk.agent(json!({"id": message["id"], "error": error}));
                }
                Some("session/prompt") => {
                    let blocks = message["params"]["prompt"].as_array().unwrap().clone();
                    let word = blocks.last().unwrap()["text"].as_str().unwrap_or(IMAGE);
                    let number = word.trim_start_matches(|letter: char| !letter.is_ascii_digit());
                    let prompt = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
                    let (_, answer) = WORDS.into_iter().find(|(known, _)| *known == prompt).unwrap();
                    let answer = format!("{answer}{number}");
                    let is_command = prompt == COMMAND;
                    let (answers, items, kept, behind, begun_at) = Default::default();
                    let turn =
                        Turn { request: message, blocks, answer, answers, items, kept, is_command, behind, begun_at };
                    self.windows[at].queue.push_back(turn);
                    self.take_up(at);
                }
                Some("session/cancel") => out = self.stop(at),
                Some(_) if message.get("id").is_some() => out = self.windows[at].desk.reply(&message, json!({})),
                _ => {}
            }
            is_open &= out.is_open("load");
            asked.extend(out.agent);
        }
        is_open
    }

    /// The layer has been told these, also what it has no part in.
    fn are_told(&mut self, told: &[Value]) {
        let is_told = |text: &str| told.iter().any(|told| told["content"]["text"] == text);
        let (told, rest): (BTreeSet<usize>, BTreeSet<usize>) =
            self.outside.iter().partition(|number| is_told(&outside(**number).0));
        self.outside = rest;
        for text in told.into_iter().map(outside).flat_map(|(prompt, answer)| [prompt, answer]) {
            *self.said.entry(text).or_default() += 1;
        }
    }

    /// The user says this. It stands behind all that had come to its end.
    fn asks(&mut self, prompt: String) {
        match self.in_order.last_mut().filter(|_| self.windows.iter().any(|window| window.running.is_some())) {
            Some(meanwhile) => meanwhile.push(prompt),
            None => self.in_order.push(vec![prompt]),
        }
    }

    /// A turn in a window of the agent's own, behind this.
    fn outside(&mut self, mut behind: Option<usize>) {
        self.requests += 1;
        let (prompt, answer) = outside(self.requests);
        self.outside.insert(self.requests);
        self.asks(prompt.clone());
        let prompt = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": prompt}});
        for told in [prompt, chunk("agent_message_chunk", &answer)] {
            behind = Some(self.kept.add(behind, told, self.habit));
        }
    }

    fn keep(&mut self, at: usize, told: Value) -> usize {
        let last = self.windows[at].last;
        let number = self.kept.add(last, told, self.habit);
        (self.windows[at].last, self.windows[at].has_kept) = (Some(number), true);
        number
    }

    fn take_up(&mut self, at: usize) {
        if self.windows[at].running.is_some() {
            return;
        }
        let Some(mut turn) = self.windows[at].queue.pop_front() else { return };
        (turn.behind, turn.begun_at) = (self.windows[at].last, self.kept.items.len());
        for block in turn.blocks.clone() {
            let told = json!({"sessionUpdate": "user_message_chunk", "content": block});
            if matches!(self.habit.keeps, Keeps::AtOnce | Keeps::AnswersThatEndedWell) {
                turn.kept.push(self.keep(at, told));
            } else {
                turn.items.push(told);
            }
        }
        self.windows[at].running = Some(turn);
    }

    /// The agent says something, and something else the second time.
    fn answer(&mut self, at: usize) -> Out {
        let Some(turn) = &mut self.windows[at].running else { return Out::default() };
        let text = if turn.answers == 0 {
            turn.answer.clone()
        } else {
            format!("More: {}", turn.answer.replace(['.', ' '], "_"))
        };
        turn.answers += 1;
        let told = chunk("agent_message_chunk", &text);
        *self.said.entry(text).or_default() += 1;
        if self.habit.keeps == Keeps::AtOnce {
            let number = self.keep(at, told.clone());
            self.windows[at].running.as_mut().unwrap().kept.push(number);
        } else {
            turn.items.push(told.clone());
        }
        self.windows[at].desk.agent(update("s1", told))
    }

    /// The agent tells what went wrong, which it does not keep.
    fn notice(&mut self, at: usize) -> Out {
        let text = self.windows[at]
            .running
            .as_ref()
            .map_or_else(String::new, |turn| format!("Error: {}", turn.answer.replace(['.', ' '], "_")));
        *self.said.entry(text.clone()).or_default() += 1;
        self.windows[at].desk.agent(update("s1", chunk("agent_message_chunk", &text)))
    }

    fn end(&mut self, at: usize, how: &Value) -> Out {
        let Some(turn) = self.windows[at].running.take() else { return Out::default() };
        let is_kept_if_well = matches!(self.habit.keeps, Keeps::WhatEndedWell | Keeps::AnswersThatEndedWell);
        if !is_kept_if_well || how["result"]["stopReason"] == "end_turn" {
            for told in turn.items {
                self.keep(at, told);
            }
        }
        if self.habit.is_forgetful && (turn.is_command || turn.answers == 0) {
            self.kept.dropped.extend(turn.kept);
            self.windows[at].last =
                self.windows[at].last.filter(|last| !self.kept.dropped.contains(last)).or(turn.behind);
        }
        let mut answer = how.clone();
        answer["id"] = turn.request["id"].clone();
        let out = self.windows[at].desk.agent(answer);
        self.take_up(at);
        out
    }

    /// What it refuses it does not keep, whoever has read it meanwhile.
    fn refuse(&mut self, at: usize) -> Out {
        if let Some(turn) = &mut self.windows[at].running {
            turn.items.clear();
            turn.kept.clear();
            let (behind, begun_at) = (turn.behind, turn.begun_at);
            self.kept.items.truncate(begun_at);
            for window in &mut self.windows {
                window.last = window.last.filter(|last| *last < begun_at).or(behind);
            }
        }
        self.end(at, &json!({"error": {"code": -32602, "message": "refused"}}))
    }

    fn stop(&mut self, at: usize) -> Out {
        let mut out = Out::default();
        while self.windows[at].running.is_some() {
            out.extend(self.end(at, &json!({"result": {"stopReason": "cancelled"}})));
        }
        out
    }

    /// Whether another prompt can be sent, which may be a command. Where an agent keeps no commands, and all of two windows in one
    /// transcript, what a command was answered cannot be told from what two others are while they are under way.
    fn is_told_apart(&self, is_command: bool) -> bool {
        let open = || self.windows.iter().flat_map(|window| window.running.iter().chain(&window.queue));
        let has_command = is_command || open().any(|turn| turn.is_command);
        let is_one_transcript = self.habit.is_forgetful && !self.habit.has_branches;
        !(is_one_transcript && has_command && open().count() > 1)
    }

    /// Goes the next step, if it can be gone.
    fn go(&mut self, step: char) -> bool {
        let at = usize::from(step.is_uppercase() || step == ':');
        let (step, window) = (step.to_ascii_lowercase(), &self.windows[at]);
        let can = match step {
            'y' | 'c' | 'i' | 'm' => window.queue.len() < 2 && self.is_told_apart(step == 'm'),
            's' => window.running.as_ref().is_some_and(|turn| turn.answers < 2),
            // The agent refuses a prompt that is sent while a turn runs.
            'n' => window.running.is_some() && window.queue.is_empty(),
            'q' | 'k' | 'a' | 'l' | '~' => true,
            'o' => {
                let is_over = self.windows.iter().all(|window| window.running.is_none());
                // Behind what a window has only read it is as if somebody had gone back to there.
                is_over && (at == 0 || window.has_kept)
            }
            // Behind what others have said meanwhile nothing is taken out.
            'r' => window
                .running
                .as_ref()
                .is_some_and(|turn| turn.answers == 0 && self.kept.items.len() == turn.begun_at + turn.kept.len()),
            _ => window.running.is_some(),
        };
        if can {
            self.step(at, step);
        }
        can
    }

    fn prompt(&mut self, at: usize, prompt: &str) -> Out {
        self.requests += 1;
        let number = match self.words {
            Words::Different => self.requests.to_string(),
            Words::Same => String::new(),
        };
        let block = if prompt == IMAGE {
            json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="})
        } else {
            json!({"type": "text", "text": format!("{prompt}{number}")})
        };
        let said = if prompt == IMAGE { IMAGE.to_owned() } else { format!("{prompt}{number}") };
        if prompt != IMAGE && matches!(self.words, Words::Different) {
            self.asks(said.clone());
        }
        *self.said.entry(said).or_default() += 1;
        let request = format!("turn {}", self.requests);
        let params = json!({"sessionId": "s1", "prompt": [block]});
        self.windows[at].desk.client(json!({"id": request, "method": "session/prompt", "params": params}))
    }

    fn step(&mut self, at: usize, step: char) {
        let out = match step {
            'y' => self.prompt(at, "yes"),
            'c' => self.prompt(at, "continue"),
            'i' => self.prompt(at, IMAGE),
            'm' => self.prompt(at, COMMAND),
            'n' => {
                self.is_busy = true;
                let out = self.prompt(at, "continue");
                self.serve(at, out);
                self.is_busy = false;
                Out::default()
            }
            's' => self.answer(at),
            '.' | ':' => {
                let is_silent = self.windows[at].running.as_ref().is_some_and(|turn| turn.answers == 0);
                let mut out = if is_silent { self.answer(at) } else { Out::default() };
                out.extend(self.end(at, &json!({"result": {"stopReason": "end_turn"}})));
                out
            }
            'x' => {
                let params = json!({"sessionId": "s1"});
                self.windows[at].desk.client(json!({"method": "session/cancel", "params": params}))
            }
            'e' => self.end(at, &json!({"error": {"code": -32603, "message": "it failed"}})),
            'r' => self.refuse(at),
            'f' => {
                let out = self.notice(at);
                self.serve(at, out);
                self.end(at, &json!({"result": {"stopReason": "end_turn"}}))
            }
            'o' => {
                let behind = if at == 0 { self.kept.items.len().checked_sub(1) } else { self.windows[1].last };
                self.outside(behind);
                Out::default()
            }
            'a' => {
                let window = &mut self.windows[at];
                (window.running, window.last) = (None, None);
                window.queue.clear();
                window.desk.revive(&loads())
            }
            'l' => return self.load(at),
            '~' => {
                self.world.now.set(self.world.now.get() + 60_000);
                Out::default()
            }
            'k' => {
                self.windows[at] = Window::new(self.store, self.world);
                return self.load(at);
            }
            _ => {
                leave(std::mem::replace(&mut self.windows[at], Window::new(self.store, self.world)).desk);
                return self.load(at);
            }
        };
        self.serve(at, out);
        for _ in 0..4 {
            for at in 0..2 {
                let out = self.windows[at].desk.wait(300);
                self.serve(at, out);
            }
        }
    }

    /// All comes to its end. What is wrong with what is shown then.
    fn ends(mut self) -> Option<String> {
        for _ in 0..8 {
            for at in 0..2 {
                if self.windows[at].running.is_some() {
                    self.step(at, '.');
                }
            }
        }
        self.windows.drain(..).for_each(|window| leave(window.desk));
        self.world.now.set(self.world.now.get() + 60_000);
        let mut shown = Vec::new();
        for time in ["once", "again"] {
            let mut desk = Desk::ready(self.store, self.world, &loads());
            let told = self.kept.told(self.habit);
            self.are_told(&told);
            let out = load_told(&mut desk, &told);
            leave(desk);
            let words = words(&out);
            if self.said.iter().any(|(text, count)| words.matches(text.as_str()).count() != *count) {
                return Some(format!("{time}: {words} for {:?}", self.said));
            }
            if !mark(&out, "load")["setAside"].is_null() {
                return Some(format!("{time}: {words}, something is set aside"));
            }
            let places = self.in_order.iter().map(|prompts| prompts.iter().filter_map(|prompt| words.find(prompt)));
            let ends = places.map(|places| (places.clone().min(), places.max()));
            if !ends.is_sorted_by(|(_, before), (next, _)| next.is_none() || before <= next) {
                return Some(format!("{time}: {words}, said in the order of {:?}", self.in_order));
            }
            shown.push(words);
        }
        (shown[0] != shown[1]).then(|| format!("{} and then {}", shown[0], shown[1]))
    }
}

/// What is said in a turn in a window of the agent's own.
fn outside(number: usize) -> (String, String) {
    (format!("outside{number}"), format!("Elsewhere{number}"))
}

/// How a course has gone.
#[derive(Debug, PartialEq, Eq)]
enum Gone {
    /// Such a step cannot be gone there.
    NotSo,
    Well,
    Wrong(String),
}

fn gone(habit: Habit, said: Words, steps: &str) -> Gone {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut course = Course::new(habit, said, (&store, &world));
    if !steps.chars().all(|step| course.go(step)) {
        return Gone::NotSo;
    }
    course.ends().map_or(Gone::Well, |wrong| Gone::Wrong(format!("{} {said:?} {steps}: {wrong}", habit.name)))
}

fn ways() -> impl Iterator<Item = (Habit, Words)> {
    HABITS.into_iter().flat_map(|habit| [(habit, Words::Same), (habit, Words::Different)])
}

#[test]
fn what_was_lost_or_doubled_once_is_there_once() {
    for steps in FOUND.iter().chain(FOUND_WITH_IDS) {
        let mut times = 0;
        let is_meant = |habit: Habit| !FOUND_WITH_IDS.contains(steps) || habit.has_ids && !habit.is_forgetful;
        for (habit, said) in ways().filter(|(habit, _)| is_meant(*habit)) {
            match gone(habit, said, steps) {
                Gone::NotSo => {}
                Gone::Well => times += 1,
                Gone::Wrong(how) => panic!("{habit:?} {said:?} {steps}: {how}"),
            }
        }
        assert!(times > 0, "{steps} cannot be gone");
    }
}

#[test]
fn in_each_short_course_of_two_windows_all_is_there_once() {
    let longest = std::env::var("COURSES_LENGTH").map_or(3, |length| length.parse().unwrap());
    let steps = std::env::var("COURSES_STEPS").unwrap_or_else(|_| STEPS.to_owned());
    let mut wrong = Vec::new();
    for (habit, said) in ways() {
        // Others are the same with windows or words exchanged.
        let mut courses: Vec<String> = vec!["y".to_owned(), "i".to_owned(), "m".to_owned()];
        courses.retain(|course| steps.contains(course.as_str()));
        for _ in 1..longest {
            let next = courses.iter().flat_map(|course| steps.chars().map(move |step| format!("{course}{step}")));
            courses = next.filter(|steps| matches!(said, Words::Same) || !steps.contains(['c', 'C'])).collect();
            courses.retain(|steps| match gone(habit, said, steps) {
                Gone::NotSo => false,
                Gone::Well => true,
                Gone::Wrong(how) => {
                    wrong.push(how);
                    true
                }
            });
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
