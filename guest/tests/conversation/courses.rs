//! Every short course of two windows on one session, or three, and longer ones in which something was lost or doubled once. The same
//! words are said over and over in them: where all words differ, what belongs together can be told by them.
//!
//! `COURSES_LENGTH` says how many steps the longest have that are all tried; `cargo xtask fuzz --courses` sets it.

mod agent;
mod habit;
mod heard;
mod kept;
mod steps;
mod window;

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::storage::Memory;

use crate::desk::{Out, World};
use crate::scenes::{CWD, IMAGE, ask_load, leave, mark, words};
use habit::{HABITS, Habit, opens};
use heard::{Had, Told};
use kept::Kept;
use window::Window;

/// What is done in two windows: small letters in the first, large ones in the second. `y`, `c` and `i` send a prompt, `s` has the agent
/// answer it, `.` (`:`) the same and come to its end, `,` (`;`) end it well without a word, `x` the user have it stop, `e` it fail, `f`
/// end it well but for an error that it tells and does not keep, `r` refuse it; `q` opens another window in this one's place, `k` too,
/// where this one and the agent's program are killed. `o` is a turn in a window of the agent's own, behind all that is kept; `O` the same
/// behind what the agent's program of the second window has, if it keeps branches. `m` calls a command, `n` sends a prompt that is
/// refused as a turn runs, `a` has the agent's program end by itself, `l` loads the session again in its window, and `~` lets a minute go
/// by: `COURSES_STEPS` says which steps are tried. In a third window `3` sends a prompt, `4` has the agent answer it and come to its end,
/// and `5` opens it anew.
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
    // So is a third, whose prompts are not waited for; and somebody goes on behind that in a window of the agent's own.
    "y33", "yy33", "y33.44qy", "y33.44qo", "y3.4o",
    // What went wrong is told as an answer; the agent's own window goes on with a branch that lacks the last turn; the same command is
    // called over and over.
    "yfy", "Y:y.O", "Y:y.Oo", "Y:yxO", "Y:y.Oy", "mmM", "mMm",
];

/// The same where messages have ids, and prompts are kept: else what an agent has kept alone of a turn that ended well is one with what
/// was said next elsewhere, or gone.
const FOUND_WITH_IDS: &[&str] = &["yskyfo"];

/// Of these it is known that an agent is told something once more, or not told an answer: where it tells nothing as it opens a session,
/// nobody knows which branch somebody went on with in a window of its own.
const MISTOLD: &[&str] = &["Y:y.O", "Y:y.Oo", "yYXYY"];

/// Of these it is known that a prompt is lost which an agent that keeps nothing but what it has answered has ended well without a word,
/// where the next is said in a window of its own.
const FORGOTTEN: &str = ",o";

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

    /// All comes to its end, and each window asks something more. What is wrong with what their agents are told.
    fn asks_more(mut self, told: Told) -> Option<String> {
        self.comes_to_end();
        for at in 0..self.windows.len() {
            self.step(at, 'y');
            self.step(at, '.');
        }
        self.mistold(told)
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

/// How a course has gone.
#[derive(Debug, PartialEq, Eq)]
enum Gone {
    /// Such a step cannot be gone there.
    NotSo,
    Well,
    Wrong(String),
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
