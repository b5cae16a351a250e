//! Prompts that several windows send without waiting for answers, to an agent that keeps all of them in one transcript and replays as
//! one message those between which it says nothing.

use std::ops::Range;

use proptest::prelude::*;

use crate::scene::{Ended, Said, Scene};

/// What windows write, and what the agent tells of it.
#[derive(Debug, Default)]
struct Talk {
    written: Vec<Written>,
    /// What a window could not write yet.
    unwritten: Vec<Written>,
    told: Vec<Said>,
    /// The window whose turns alone are told, where each of the agent's programs goes on from what it knows itself.
    branch: Option<usize>,
    /// How much was done so far.
    now: i64,
}

/// An entry, when it was made, and the tag of the turn that it stands in.
#[derive(Debug)]
struct Written {
    time: i64,
    tag: String,
    entry: String,
}

/// A window that cannot write as long as these steps are gone.
#[derive(Debug, Clone)]
struct Late {
    window: usize,
    steps: Range<usize>,
}

/// A window, and what it has sent that the agent has not come to an end with.
#[derive(Debug, Default)]
struct Window {
    /// The prompts that wait, the one under way first.
    waiting: Vec<usize>,
    is_under_way: bool,
    tag: String,
}

impl Talk {
    fn write(&mut self, tag: &str, entry: String) {
        let entry = self.entry(tag, entry);
        self.written.push(entry);
    }

    fn write_later(&mut self, tag: &str, entry: String) {
        let entry = self.entry(tag, entry);
        self.unwritten.push(entry);
    }

    fn entry(&mut self, tag: &str, entry: String) -> Written {
        self.now += 1;
        Written { time: self.now, tag: tag.to_owned(), entry }
    }

    /// The user says something to the agent, which puts it together with what nobody has answered.
    fn hear(&mut self, text: &str) {
        match self.told.last_mut() {
            Some(last) if last.agent.is_empty() => last.user.extend(["\n\n", text]),
            _ => self.told.push(Said { user: text.to_owned(), agent: String::new(), ended: Ended::Never }),
        }
    }

    /// A turn that nothing else is said in.
    fn turn(&mut self, number: usize) {
        self.write(&number.to_string(), format!("pask {number}"));
        self.write(&number.to_string(), format!("aanswer {number}"));
        self.write(&number.to_string(), "e".to_owned());
        self.hear(&format!("ask {number}"));
        self.told.last_mut().unwrap().agent = format!("answer {number}");
    }

    /// Windows that send prompts, or whose prompts the agent goes on with, in this order; then it comes to an end with all of them. It
    /// says nothing to those prompts that are `unanswered`. What the window that is late cannot write it writes behind its steps.
    fn go_on(&mut self, windows: usize, steps: &[(usize, bool)], unanswered: &[bool], late: &Late) {
        let mut all: Vec<Window> = (0..windows).map(|_| Window::default()).collect();
        let mut sent = 0;
        let rest = (0..windows).flat_map(|window| [(window, false); 24]);
        let steps = steps.iter().map(|(window, is_sent)| (window % windows, *is_sent)).chain(rest);
        for (step, (window, is_sent)) in steps.enumerate() {
            if step >= late.steps.end {
                self.written.append(&mut self.unwritten);
            }
            let write =
                if window == late.window && late.steps.contains(&step) { Self::write_later } else { Self::write };
            let is_told = self.branch.is_none_or(|branch| branch == window);
            let it = &mut all[window];
            if is_sent && sent < unanswered.len() {
                sent += 1;
                if it.waiting.is_empty() {
                    it.tag = format!("{window} {sent}");
                }
                it.waiting.push(sent);
                write(self, &it.tag, format!("pdo {sent}"));
            } else if let Some(number) = it.waiting.first().copied() {
                if !it.is_under_way {
                    it.is_under_way = true;
                    if is_told {
                        self.hear(&format!("do {number}"));
                    }
                    continue;
                }
                if !unanswered[number - 1] {
                    write(self, &it.tag, format!("adone {number}"));
                    if is_told {
                        self.told.last_mut().unwrap().agent.extend(["done ", &number.to_string()]);
                    }
                }
                it.is_under_way = false;
                it.waiting.remove(0);
                if it.waiting.is_empty() {
                    write(self, &it.tag, "e".to_owned());
                }
            }
        }
        self.written.append(&mut self.unwritten);
    }

    fn scene(&self) -> Scene {
        let scene = Scene::new();
        scene.change(|session| session.give_to("agent", "x", 0));
        for Written { time, tag, entry } in &self.written {
            scene.write_as_of(*time, tag, entry);
        }
        scene.tell("agent", usize::MAX);
        scene
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn queued_prompts_stay_where_they_are_however_the_agent_puts_them_together(
        windows in 2_usize..4,
        steps in proptest::collection::vec((0_usize..6, any::<bool>()), 0..24),
        unanswered in proptest::collection::vec(any::<bool>(), 0..8),
        late in (0_usize..3, 0_usize..24, 0_usize..24),
        moved_on in any::<bool>(),
        is_gone_on_with in any::<bool>(),
    ) {
        let outside = Said { user: "outside".to_owned(), agent: "answer".to_owned(), ended: Ended::Well };
        let mut talk = Talk::default();
        talk.turn(100);
        let (late_window, late_from, late_for) = late;
        let late = Late { window: late_window, steps: late_from..late_from + late_for };
        talk.go_on(windows, &steps, &unanswered, &late);
        talk.turn(200);
        let mut scene = talk.scene();
        let mut shown = scene.shown();
        if is_gone_on_with {
            talk.told.push(outside.clone());
            shown.push(outside);
        }
        let plan = scene.load("agent", &talk.told, moved_on).plan;
        prop_assert!(scene.aside().is_empty(), "{:?}\n{:?}", talk, plan);
        prop_assert_eq!(&scene.shown(), &shown, "{:?}", talk);
        prop_assert_eq!(plan.heard, plan.length());
    }

    #[test]
    fn queued_prompts_stay_where_they_are_though_those_of_one_window_alone_are_told(
        windows in 2_usize..4,
        branch in 0_usize..3,
        steps in proptest::collection::vec((0_usize..6, any::<bool>()), 0..24),
        sent in 0_usize..8,
        moved_on in any::<bool>(),
    ) {
        let mut talk = Talk { branch: Some(branch % windows), ..Talk::default() };
        talk.turn(100);
        talk.go_on(windows, &steps, &vec![false; sent], &Late { window: 0, steps: 0..0 });
        talk.turn(200);
        let mut scene = talk.scene();
        let shown = scene.shown();
        let plan = scene.load("agent", &talk.told, moved_on).plan;
        prop_assert!(scene.aside().is_empty(), "{:?}\n{:?}", talk, plan);
        prop_assert_eq!(&scene.shown(), &shown, "{:?}", talk);
        prop_assert_eq!(plan.heard, plan.length());
    }
}
