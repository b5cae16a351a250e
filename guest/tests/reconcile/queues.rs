//! Prompts that several windows send without waiting for answers, to an agent that keeps all of them in one transcript and replays as
//! one message those between which it says nothing.

use proptest::prelude::*;

use crate::scene::{Ended, Said, Scene};

/// What a window writes, each with the tag of the turn that it stands in, and what the agent tells of it.
#[derive(Debug, Default)]
struct Talk {
    written: Vec<(String, String)>,
    told: Vec<Said>,
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
        self.written.push((tag.to_owned(), entry));
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
    /// says nothing to those prompts that are `unanswered`.
    fn go_on(&mut self, windows: usize, steps: &[(usize, bool)], unanswered: &[bool]) {
        let mut all: Vec<Window> = (0..windows).map(|_| Window::default()).collect();
        let mut sent = 0;
        let rest = (0..windows).flat_map(|window| [(window, false); 24]);
        for (window, is_sent) in steps.iter().map(|(window, is_sent)| (window % windows, *is_sent)).chain(rest) {
            let it = &mut all[window];
            if is_sent && sent < unanswered.len() {
                sent += 1;
                if it.waiting.is_empty() {
                    it.tag = format!("{window} {sent}");
                }
                it.waiting.push(sent);
                self.write(&it.tag, format!("pdo {sent}"));
            } else if let Some(number) = it.waiting.first().copied() {
                if !it.is_under_way {
                    it.is_under_way = true;
                    self.hear(&format!("do {number}"));
                    continue;
                }
                if !unanswered[number - 1] {
                    self.write(&it.tag, format!("adone {number}"));
                    self.told.last_mut().unwrap().agent.extend(["done ", &number.to_string()]);
                }
                it.is_under_way = false;
                it.waiting.remove(0);
                if it.waiting.is_empty() {
                    self.write(&it.tag, "e".to_owned());
                }
            }
        }
    }

    fn scene(&self) -> Scene {
        let scene = Scene::new();
        scene.change(|session| session.give_to("agent", "x", 0));
        let written: Vec<(&str, &str)> = self.written.iter().map(|(tag, entry)| (&**tag, &**entry)).collect();
        scene.write(&written);
        scene.tell("agent", usize::MAX);
        scene
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn they_stay_where_they_are_however_the_agent_puts_them_together(
        windows in 2_usize..4,
        steps in proptest::collection::vec((0_usize..6, any::<bool>()), 0..24),
        unanswered in proptest::collection::vec(any::<bool>(), 0..8),
        moved_on in any::<bool>(),
        is_gone_on_with in any::<bool>(),
    ) {
        let outside = Said { user: "outside".to_owned(), agent: "answer".to_owned(), ended: Ended::Well };
        let mut talk = Talk::default();
        talk.turn(100);
        talk.go_on(windows, &steps, &unanswered);
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
}
