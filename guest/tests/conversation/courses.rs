//! Every short course of two windows on one session, and longer ones in which something was lost or doubled once. The same words are
//! said over and over in them: where all words differ, what belongs together can be told by them.
//!
//! `COURSES_LENGTH` says how many steps the longest have that are all tried; `cargo xtask fuzz --courses` sets it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::time;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, IMAGE, ask_load, leave, listing, mark, row, words};

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

/// How an agent keeps what is said, and opens a session.
#[derive(Debug, Clone, Copy)]
struct Habit {
    name: &'static str,
    keeps: Keeps,
    /// Each of its programs goes on behind what it has itself; what is loaded is what leads to the last word of all.
    has_branches: bool,
    has_ids: bool,
    /// It keeps no commands, and nothing of what it was asked and did not answer.
    is_forgetful: bool,
    opens: Opens,
}

/// How an agent opens a session that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opens {
    /// It tells what it has.
    ByLoad,
    /// It tells nothing.
    ByResume,
    /// As it is asked; its list says when something was last kept.
    AsListed,
}

const PLAIN: Habit = Habit {
    name: "one transcript",
    keeps: Keeps::AtOnce,
    has_branches: false,
    has_ids: false,
    is_forgetful: false,
    opens: Opens::ByLoad,
};

const HABITS: [Habit; 15] = [
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

/// What is done in two windows: small letters in the first, large ones in the second. `y`, `c` and `i` send a prompt, `s` has the agent
/// answer it, `.` (`:`) the same and come to its end, `x` the user have it stop, `e` it fail, `f` end it well but for an error that it
/// tells and does not keep, `r` refuse it; `q` opens another window in
/// this one's place, `k` too, where this one and the agent's program are killed. `,` (`;`) ends it well without a word. `o` is a turn in a window of the agent's own, behind all
/// that is kept; `O` the same behind what the agent's program of the second window has, if it keeps branches. `m` calls a
/// command, `n` sends a prompt that is refused as a turn runs, `a` has the agent's program end by itself, `l` loads the session again in
/// its window, and `~` lets a minute go by: `COURSES_STEPS` says which steps are tried. In a third window `3` sends a prompt, `4` has the
/// agent answer it and come to its end, and `5` opens it anew.
const STEPS: &str = "ycYCiIs.S:,;xXeErRqQkKonOmM345";

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

/// Of these it is known that an agent is told something once more, or not told the answer to a prompt that its program has read alone.
const MISTOLD: &[&str] =
    &["y.YXY", "y.CXC", "y.YEqc.", "Y:ysYk:y", "yQYY", "yQYI", "yQIY", "yQYC", "Y:y.O", "Y:y.Oo", "yYXYY", "y33"];

/// Of these it is known that a prompt is lost which an agent that keeps nothing but what it has answered has ended well without a word,
/// where the next is said in a window of its own.
const FORGOTTEN: &str = ",o";

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
    /// Which of the turns that were had.
    had: usize,
    /// What the agent was told before it.
    account: BTreeSet<String>,
    /// Behind what it was begun, and how much was kept then.
    behind: Option<usize>,
    begun_at: usize,
}

/// A turn of which it is known who has heard it.
#[derive(Debug, Default)]
struct Had {
    /// What was said in it, no two of which are alike.
    said: BTreeSet<String>,
    how: How,
    /// The turns that were had meanwhile.
    meanwhile: Vec<usize>,
}

/// How a turn has come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum How {
    #[default]
    UnderWay,
    /// Well, so that every agent is to hear of it.
    Well,
    /// So that an agent need not have it, or not know which of its own it has.
    Otherwise,
}

/// A window, with a program of the agent of its own.
struct Window<'a> {
    desk: Desk<'a>,
    last: Option<usize>,
    /// Something was kept that was said in it.
    has_kept: bool,
    running: Option<Turn>,
    queue: VecDeque<Turn>,
    /// What its program has heard.
    heard: BTreeSet<String>,
    /// What it may have.
    may_have_heard: BTreeSet<String>,
    /// What nobody knows of whether it has.
    unclear: BTreeSet<String>,
}

impl<'a> Window<'a> {
    fn new(store: &'a Memory, world: &'a World, habit: Habit, kept_at: Option<i64>) -> Self {
        let desk = match habit.opens {
            Opens::ByLoad | Opens::ByResume => Desk::ready(store, world, &opens(habit)),
            Opens::AsListed => listing(store, world, "a", &opens(habit), &listed(kept_at)),
        };
        Self {
            desk,
            last: None,
            has_kept: false,
            running: None,
            queue: VecDeque::new(),
            heard: BTreeSet::new(),
            may_have_heard: BTreeSet::new(),
            unclear: BTreeSet::new(),
        }
    }
}

/// Two windows or three, and their agent.
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
    /// The turns, where no two say the same.
    had: Vec<Had>,
    /// What agents were told with prompts that did not come to a good end: they may have kept that, or not.
    lost_on_way: BTreeSet<String>,
    /// What an agent was not told first.
    untold: Option<String>,
    /// What it was told once more first.
    told_again: Option<String>,
    /// When something was last kept.
    kept_at: Option<i64>,
}

fn opens(habit: Habit) -> Value {
    match habit.opens {
        Opens::ByLoad => json!({"loadSession": true}),
        Opens::ByResume => json!({"sessionCapabilities": {"resume": {}}}),
        Opens::AsListed => json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "list": {}}}),
    }
}

impl<'a> Course<'a> {
    fn new(habit: Habit, words: Words, (store, world): (&'a Memory, &'a World)) -> Self {
        let (kept, said, outside, in_order, had, lost_on_way) = Default::default();
        let (requests, is_busy, untold, told_again, kept_at) = (0, false, None, None, None);
        let windows = vec![Window::new(store, world, habit, kept_at), Window::new(store, world, habit, kept_at)];
        let mut course = Self {
            habit,
            store,
            world,
            windows,
            kept,
            said,
            requests,
            is_busy,
            words,
            outside,
            in_order,
            had,
            lost_on_way,
            untold,
            told_again,
            kept_at,
        };
        course.windows[0].desk.new_session("s1", CWD);
        course.step(0, 'y');
        course.step(0, '.');
        course.load(1);
        course
    }

    /// A load, and what the client is told up to its answer.
    fn load(&mut self, at: usize) -> Out {
        let out = ask_load(&mut self.windows[at].desk, "load", "s1");
        let mut all = self.serve(at, out);
        for _ in 0..100 {
            if !all.is_open("load") {
                return all;
            }
            let out = self.windows[at].desk.wait(100);
            all.extend(self.serve(at, out));
        }
        panic!("the load is not answered");
    }

    /// The agent does what it is asked. What the client is told.
    fn serve(&mut self, at: usize, out: Out) -> Out {
        let mut all = Out { client: out.client, agent: Vec::new() };
        let mut asked: VecDeque<Value> = out.agent.into();
        while let Some(message) = asked.pop_front() {
            let mut out = Out::default();
            match message["method"].as_str() {
                Some(method @ ("session/load" | "session/resume")) => {
                    let told = self.kept.told(self.habit);
                    self.opens(at, &told, method == "session/load");
                    if method == "session/load" {
                        self.are_told(&told);
                        for told in told {
                            out.extend(self.windows[at].desk.agent(update("s1", told)));
                        }
                    }
                    self.windows[at].last = self.kept.items.len().checked_sub(1);
                    out.extend(self.windows[at].desk.reply(&message, json!({})));
                }
                Some("session/list") => {
                    let listed = json!({"sessions": listed(self.kept_at)});
                    out = self.windows[at].desk.reply(&message, listed);
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
                    let (had, account) = self.is_asked(at, &blocks, word, is_command);
                    let (answers, items, kept, behind, begun_at) = Default::default();
                    let request = message;
                    let turn = Turn {
                        request,
                        blocks,
                        answer,
                        answers,
                        items,
                        kept,
                        is_command,
                        had,
                        account,
                        behind,
                        begun_at,
                    };
                    self.windows[at].queue.push_back(turn);
                    self.take_up(at);
                }
                Some("session/cancel") => out = self.stop(at),
                Some(_) if message.get("id").is_some() => out = self.windows[at].desk.reply(&message, json!({})),
                _ => {}
            }
            all.client.extend(out.client);
            asked.extend(out.agent);
        }
        all
    }

    /// The program of this window reads what is told.
    fn opens(&mut self, at: usize, told: &[Value], is_told: bool) {
        let texts: Vec<&str> = told.iter().filter_map(|told| told["content"]["text"].as_str()).collect();
        let is_read = |said: &&String| texts.iter().any(|text| text.contains(said.as_str()));
        let window = &mut self.windows[at];
        window.heard = self.had.iter().flat_map(|had| &had.said).filter(is_read).cloned().collect();
        window.may_have_heard.clear();
        // What is under way it may read in part. Where it tells nothing, nobody knows what it has of turns that were had at once.
        let is_unclear = |had: &&Had| had.how != How::Well || !had.meanwhile.is_empty() && !is_told;
        window.unclear = self.had.iter().filter(is_unclear).flat_map(|had| &had.said).cloned().collect();
    }

    /// The program of this window is sent this prompt: which turn that is, and what it is told before it. What it is told it has not
    /// heard, and all that has come to a good end it has heard then.
    fn is_asked(&mut self, at: usize, blocks: &[Value], word: &str, is_command: bool) -> (usize, BTreeSet<String>) {
        let had = self.had.len();
        self.had.push(Had::default());
        let all = self.windows.iter().flat_map(|window| window.running.iter().chain(&window.queue));
        let meanwhile: Vec<usize> = all.map(|turn| turn.had).collect();
        for other in &meanwhile {
            self.had[*other].meanwhile.push(had);
        }
        self.had[had].meanwhile = meanwhile;
        if matches!(self.words, Words::Same) {
            return (had, BTreeSet::new());
        }
        let account: String = blocks[..blocks.len() - 1].iter().filter_map(|block| block["text"].as_str()).collect();
        let window = &mut self.windows[at];
        let all = || self.had.iter().filter(|had| had.how == How::Well);
        let told: BTreeSet<String> =
            self.had.iter().flat_map(|had| &had.said).filter(|said| account.contains(said.as_str())).cloned().collect();
        let is_told_twice = |had: &&Had| {
            // With one that did not come to a good end it may be told as a whole.
            let is_among_others = had.meanwhile.iter().any(|other| self.had[*other].how == How::Otherwise);
            let may_be = [&window.may_have_heard, &window.unclear, &self.lost_on_way];
            let is_clear = !is_among_others && may_be.iter().all(|may_be| had.said.is_disjoint(may_be));
            is_clear && had.said.is_subset(&window.heard) && !had.said.is_disjoint(&told)
        };
        let heard = [&told, &window.heard, &window.may_have_heard, &self.lost_on_way];
        let is_heard = |said: &String| heard.iter().any(|heard| heard.contains(said));
        // Which branch it goes on with where it tells nothing, nobody knows.
        let is_unknown = |had: &Had| self.habit.opens == Opens::ByResume && !had.meanwhile.is_empty();
        let untold = all().find(|had| !is_command && !is_unknown(had) && !had.said.iter().all(is_heard));
        let told_again = all().find(is_told_twice).map(|had| &had.said);
        let place = ["first", "second", "third"][at];
        let wrong = |how: &str, what| format!("with {word} the {place} window's agent is {how} {what:?}: {account:?}");
        let untold = untold.map(|had| wrong("not told of", &had.said));
        let told_again = told_again.map(|said| wrong("told once more of", said));
        self.untold = self.untold.take().or(untold);
        self.told_again = self.told_again.take().or(told_again);
        // If it does not come to a good end, it may not.
        window.may_have_heard.extend(told.iter().cloned());
        if word != IMAGE && !is_command {
            self.had[had].said.insert(word.to_owned());
            window.heard.insert(word.to_owned());
        }
        (had, told)
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
        self.kept_at = Some(self.world.now.get());
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
        let window = &mut self.windows[at];
        let Some(turn) = &mut window.running else { return Out::default() };
        let text = if turn.answers == 0 {
            turn.answer.clone()
        } else {
            format!("More: {}", turn.answer.replace(['.', ' '], "_"))
        };
        turn.answers += 1;
        if matches!(self.words, Words::Different) && !turn.is_command && !turn.answer.starts_with("A picture") {
            self.had[turn.had].said.insert(text.clone());
            window.heard.insert(text.clone());
        }
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
        if let Some(had) = self.windows[at].running.as_ref().map(|turn| turn.had) {
            self.had[had].how = How::Otherwise;
        }
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
        let is_well =
            how["result"]["stopReason"] == "end_turn" && !turn.is_command && self.had[turn.had].how != How::Otherwise;
        let is_forgotten = self.habit.is_forgetful && turn.answers == 0;
        self.had[turn.had].how = if is_well && !is_forgotten { How::Well } else { How::Otherwise };
        if !is_well {
            self.lost_on_way.extend(turn.account.iter().cloned());
        }
        if how["error"].is_null() {
            let window = &mut self.windows[at];
            window.may_have_heard.retain(|said| !turn.account.contains(said));
            window.heard.extend(turn.account);
        }
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
        let at = match step {
            '3'..='5' => 2,
            step => usize::from(step.is_uppercase() || matches!(step, ':' | ';')),
        };
        if at == 2 && self.windows.len() == 2 {
            if step != '3' {
                return false;
            }
            self.opens_window();
            self.load(2);
        }
        let step = match step.to_ascii_lowercase() {
            '3' => 'y',
            '4' => '.',
            '5' => 'q',
            ';' => ',',
            step => step,
        };
        let window = &self.windows[at];
        let can = match step {
            ',' => window.running.as_ref().is_some_and(|turn| turn.answers == 0),
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
            Words::Different => format!("{:02}", self.requests),
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
            ',' => self.end(at, &json!({"result": {"stopReason": "end_turn"}})),
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
                self.is_cut_off(at);
                let window = &mut self.windows[at];
                (window.running, window.last) = (None, None);
                window.queue.clear();
                window.desk.revive(&opens(self.habit))
            }
            'l' => {
                self.load(at);
                return;
            }
            '~' => {
                self.world.now.set(self.world.now.get() + 60_000);
                Out::default()
            }
            'k' => {
                self.is_cut_off(at);
                self.windows[at] = Window::new(self.store, self.world, self.habit, self.kept_at);
                self.load(at);
                return;
            }
            _ => {
                self.is_cut_off(at);
                let opened = Window::new(self.store, self.world, self.habit, self.kept_at);
                leave(std::mem::replace(&mut self.windows[at], opened).desk);
                self.load(at);
                return;
            }
        };
        self.serve(at, out);
        for _ in 0..4 {
            for at in 0..self.windows.len() {
                let out = self.windows[at].desk.wait(300);
                self.serve(at, out);
            }
        }
    }

    /// What this window's program is at comes to no end.
    fn is_cut_off(&mut self, at: usize) {
        let window = &self.windows[at];
        for turn in window.running.iter().chain(&window.queue) {
            self.lost_on_way.extend(turn.account.iter().cloned());
            self.had[turn.had].how = How::Otherwise;
        }
    }

    fn opens_window(&mut self) {
        self.windows.push(Window::new(self.store, self.world, self.habit, self.kept_at));
    }

    /// All comes to its end, and each window asks something more. What is wrong with what their agents are told.
    fn asks_more(mut self, told: Told) -> Option<String> {
        self.comes_to_end();
        for at in 0..self.windows.len() {
            self.step(at, 'y');
            self.step(at, '.');
        }
        self.mistold(told)
    }

    fn mistold(self, told: Told) -> Option<String> {
        match told {
            Told::Whatever => None,
            Told::AtLeastOnce => self.untold,
            Told::Once => self.untold.or(self.told_again),
        }
    }

    fn comes_to_end(&mut self) {
        for _ in 0..8 {
            for at in 0..self.windows.len() {
                if self.windows[at].running.is_some() {
                    self.step(at, '.');
                }
            }
        }
    }

    /// All comes to its end. What is wrong with what is shown then, or with what agents were told.
    fn ends(mut self, told: Told) -> Option<String> {
        self.comes_to_end();
        self.windows.drain(..).for_each(|window| leave(window.desk));
        self.world.now.set(self.world.now.get() + 60_000);
        let mut shown = Vec::new();
        for time in ["once", "again"] {
            self.opens_window();
            let out = self.load(0);
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
            if time == "again" && matches!(self.words, Words::Different) {
                self.step(0, 'y');
            }
            leave(self.windows.remove(0).desk);
        }
        (shown[0] != shown[1]).then(|| format!("{} and then {}", shown[0], shown[1])).or_else(|| self.mistold(told))
    }
}

/// What the agent's list says where something was last kept then.
fn listed(kept_at: Option<i64>) -> Vec<Value> {
    kept_at.map(|at| row("s1", "A session", &time::format(at))).into_iter().collect()
}

/// What is said in a turn in a window of the agent's own.
fn outside(number: usize) -> (String, String) {
    (format!("outside{number:02}"), format!("Elsewhere{number:02}"))
}

/// How a course has gone.
#[derive(Debug, PartialEq, Eq)]
enum Gone {
    /// Such a step cannot be gone there.
    NotSo,
    Well,
    Wrong(String),
}

/// How often an agent is to be told what it has not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Whatever,
    AtLeastOnce,
    Once,
}

fn gone(habit: Habit, said: Words, steps: &str, told: Told) -> Gone {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut course = Course::new(habit, said, (&store, &world));
    if !steps.chars().all(|step| course.go(step)) {
        return Gone::NotSo;
    }
    let told = if MISTOLD.contains(&steps) { Told::Whatever } else { told };
    let asks_more = told != Told::Whatever && matches!(said, Words::Different);
    let wrong = course.ends(told).or_else(|| asks_more.then(|| mistold(habit, steps, told))?);
    wrong.map_or(Gone::Well, |wrong| Gone::Wrong(format!("{} {said:?} {steps}: {wrong}", habit.name)))
}

/// What is wrong with what agents are told that are asked more behind this course.
fn mistold(habit: Habit, steps: &str, told: Told) -> Option<String> {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut course = Course::new(habit, Words::Different, (&store, &world));
    for step in steps.chars() {
        course.go(step);
    }
    course.asks_more(told)
}

fn ways() -> impl Iterator<Item = (Habit, Words)> {
    HABITS.into_iter().flat_map(|habit| [(habit, Words::Same), (habit, Words::Different)])
}

#[test]
fn what_was_lost_or_doubled_once_is_there_once() {
    let mut wrong = Vec::new();
    for steps in FOUND.iter().chain(FOUND_WITH_IDS) {
        let mut times = 0;
        let is_meant = |habit: Habit| !FOUND_WITH_IDS.contains(steps) || habit.has_ids && !habit.is_forgetful;
        for (habit, said) in ways().filter(|(habit, _)| is_meant(*habit)) {
            match gone(habit, said, steps, Told::Once) {
                Gone::NotSo => {}
                Gone::Well => times += 1,
                Gone::Wrong(how) => {
                    times += 1;
                    wrong.push(how);
                }
            }
        }
        assert!(times > 0, "{steps} cannot be gone");
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
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
            courses.retain(|steps| !habit.is_forgetful || !steps.contains(FORGOTTEN));
            courses.retain(|steps| match gone(habit, said, steps, Told::AtLeastOnce) {
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
