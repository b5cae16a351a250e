//! Agents that replay less or other than what was said: a prompt with what a resource or a command stands for, answers
//! without prompts, prompts without answers. None of that is a change of the conversation, and no change is taken for it.

use proptest::prelude::*;

use crate::case::{CASE, Case, texts};
use crate::scene::{Ended, Said, Scene, said};

/// Digits stand for long answers.
#[rustfmt::skip]
const CASES: &[Case] = &[
    // Prompts that are replayed otherwise.
    Case { name: "a resource in place of its name", log: &["a/1", "b/2", "c/3"], replay: &["a/1", "b and the file/2", "c/3"],
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "context before each prompt", log: &["a/1", "b/2"], replay: &["context a/1", "context b/2"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "a prompt left out", log: &["a/1", "b/2"], replay: &["/1", "b/2"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "context before each prompt, and a short answer among long ones", log: &["a/1", "b/ok", "c/3"], replay: &["context a/1", "context b/ok", "context c/3"],
        visible: &["a/1", "b/ok", "c/3"], told: 3, ..CASE },
    Case { name: "context before each prompt, and several short answers", log: &["a/1", "b/ok", "c/all done", "d/3"], replay: &["context a/1", "context b/ok", "context c/all done", "context d/3"],
        visible: &["a/1", "b/ok", "c/all done", "d/3"], told: 4, ..CASE },
    Case { name: "expanded, and more without the layer", log: &["a/1", "b/2"], replay: &["a/1", "command/2", "x/9"], moved_on: true,
        visible: &["a/1", "b/2", "x/9"], told: 3, ..CASE },
    Case { name: "expanded, and the end was taken back", log: &["a/1", "b/2", "c/3"], replay: &["context a/1"], moved_on: true,
        visible: &["a/1"], aside: &["b/2", "c/3"], told: 1, ..CASE },
    Case { name: "expanded, and another agent's turns", log: &["a/1", "b/2"], heard: 1, replay: &["command/1", "x/9"],
        visible: &["a/1", "b/2", "x/9"], told: 1, ..CASE },
    // What is no such thing.
    Case { name: "rewound and answered otherwise", log: &["a/1", "b/2"], replay: &["a/1", "b/3"], moved_on: true,
        visible: &["a/1", "b/3"], aside: &["b/2"], told: 2, ..CASE },
    Case { name: "rewound, and another prompt with the same short answer", log: &["a/1", "b/ok"], replay: &["a/1", "x/ok"], moved_on: true,
        visible: &["a/1", "x/ok"], aside: &["b/ok"], told: 2, ..CASE },
    Case { name: "rewound, and another prompt with an answer that comes again and again", log: &["a/1", "b/1"], replay: &["a/1", "x/1"], moved_on: true,
        visible: &["a/1", "x/1"], aside: &["b/1"], told: 2, ..CASE },
    Case { name: "rewound to the same prompt", log: &["continue/1", "continue/2", "continue/3"], replay: &["continue/1", "continue/4"],
        visible: &["continue/1", "continue/4"], aside: &["continue/2", "continue/3"], told: 2, ..CASE },
    Case { name: "a short answer in the midst, and nothing that tells how prompts are replayed", log: &["a/1", "b/ok", "c/3"], replay: &["a/1", "x/ok", "c/3"],
        visible: &["a/1", "x/ok", "c/3"], aside: &["b/ok"], told: 3, ..CASE },
    Case { name: "compacted", log: &["a/1", "b/2", "c/3"], replay: &["summary/ok", "c/3"],
        visible: &["summary/ok", "c/3"], aside: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "compacted, and the rest expanded", log: &["a/ok", "b/2", "c/3"], replay: &["summary/ok", "context c/3"],
        visible: &["summary/ok", "c/3"], aside: &["a/ok", "b/2"], told: 2, ..CASE },
    Case { name: "another turn in the midst", log: &["a/1", "b/ok", "c/3"], replay: &["a/1", "x/no", "c/3"],
        visible: &["a/1", "x/no", "c/3"], aside: &["b/ok"], told: 3, ..CASE },
    // No prompts at all.
    Case { name: "answers alone", log: &["a/1", "b/ok", "c/3"], replay: &["/1", "/ok", "/3"],
        visible: &["a/1", "b/ok", "c/3"], told: 3, ..CASE },
    Case { name: "answers alone, run together", log: &["a/1", "b/2"], replay: &["/12"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "answers alone, and one left out", log: &["a/1", "b/2", "c/3"], replay: &["/1", "/3"], moved_on: true,
        visible: &["a/1", "b/2", "c/3"], told: 3, ..CASE },
    Case { name: "answers alone, and more without the layer", log: &["a/1", "b/2"], replay: &["/1", "/2", "/9"], moved_on: true,
        visible: &["a/1", "b/29"], told: 2, ..CASE },
    Case { name: "answers alone, and more without the layer in the midst", log: &["a/1", "b/2"], replay: &["/1", "/9", "/2"], moved_on: true,
        visible: &["a/19", "b/2"], told: 2, ..CASE },
    Case { name: "answers alone, rewound", log: &["a/1", "b/2", "c/3"], replay: &["/1"], moved_on: true,
        visible: &["a/1"], aside: &["b/2", "c/3"], told: 1, ..CASE },
    Case { name: "answers alone, and the end lost", log: &["a/1", "b/2", "c/3"], replay: &["/1"],
        visible: &["a/1", "b/2", "c/3"], told: 1, ..CASE },
    Case { name: "answers alone, rewound and continued", log: &["a/1", "b/2", "c/3"], replay: &["/1", "/9"], moved_on: true,
        visible: &["a/19"], aside: &["b/2", "c/3"], told: 1, ..CASE },
    Case { name: "answers alone, the last of which the layer has cut off", log: &["a/1", "b/tw~"], replay: &["/1", "/two"],
        visible: &["a/1", "b/two"], aside: &["/tw"], told: 2, ..CASE },
    Case { name: "answers alone, and another agent's turns", log: &["a/1", "b/2"], heard: 1, replay: &["/1", "/9"],
        visible: &["a/1", "b/29"], told: 1, ..CASE },
    Case { name: "compacted to a summary", log: &["a/1", "b/2"], replay: &["/summary"], moved_on: true,
        visible: &["/summary"], aside: &["a/1", "b/2"], told: 1, ..CASE },
    // No answers at all.
    Case { name: "prompts alone", log: &["a/1", "b/2"], replay: &["a/", "b/"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "prompts alone, with nothing between them", log: &["a/1", "b/2"], replay: &["a/~", "b/~"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "prompts alone, run together", log: &["a/1", "b/2"], replay: &["a b/~"],
        visible: &["a/1", "b/2"], told: 2, ..CASE },
    Case { name: "prompts alone, and more without the layer", log: &["a/1", "b/2"], replay: &["a/~", "b/~", "x/~"], moved_on: true,
        visible: &["a/1", "b/2", "x/"], told: 3, ..CASE },
    Case { name: "prompts alone, rewound", log: &["a/1", "b/2"], replay: &["a/~"], moved_on: true,
        visible: &["a/1"], aside: &["b/2"], told: 1, ..CASE },
    Case { name: "prompts alone, rewound and continued", log: &["a/1", "b/2", "c/3"], replay: &["a/~", "x/~"], moved_on: true,
        visible: &["a/1", "x/"], aside: &["b/2", "c/3"], told: 2, ..CASE },
];

/// A turn, with a long answer for each digit.
fn turn(text: &str) -> Said {
    let said = Said::parse(text);
    let long = |piece: char| match piece {
        '0'..='9' => format!("Answer {piece}, too long to be one by chance. "),
        piece => piece.to_string(),
    };
    Said { agent: said.agent.chars().map(long).collect(), ..said }
}

fn turns(texts: &[&str]) -> Vec<Said> {
    texts.iter().map(|text| turn(text)).collect()
}

fn settled(name: &str, scene: &mut Scene, replay: &[Said]) {
    let before = scene.session().to_text();
    for moved_on in [false, true] {
        let again = scene.load("agent", replay, moved_on);
        assert!(again.plan.keeps_all(), "{name}, a second time: {:?}", again.plan);
        assert_eq!(scene.session().to_text(), before, "{name}, a second time");
    }
}

#[test]
fn what_a_replay_lacks_is_not_lost_and_what_it_tells_is_believed() {
    for case in CASES {
        let name = case.name;
        let mut scene = case.scene(&turns(case.log));
        let replay = turns(case.replay);
        let plan = scene.load("agent", &replay, case.moved_on).plan;
        assert_eq!(texts(&scene.visible()), texts(&turns(case.visible)), "{name}: what is visible, {plan:?}");
        let aside: Vec<String> = scene.aside().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts(&said(&aside)), texts(&turns(case.aside)), "{name}: what is set aside");
        assert_eq!(scene.told("agent"), case.told, "{name}: what the agent has heard");
        settled(name, &mut scene, &replay);
    }
}

/// How an agent replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Prompts with something in front, where the bit is set.
    Expands(u16),
    NoPrompts,
    NoAnswers,
}

impl Habit {
    fn replay(self, turns: &[Said]) -> Vec<Said> {
        let one = |(at, said): (usize, &Said)| {
            let said = said.clone();
            match self {
                Self::Expands(which) if which >> (at % 16) & 1 == 1 => {
                    Said { user: format!("context of {at}\n\n{}", said.user), ..said }
                }
                Self::Expands(_) => said,
                Self::NoPrompts => Said { user: String::new(), ..said },
                Self::NoAnswers => Said { agent: String::new(), ..said },
            }
        };
        turns.iter().enumerate().map(one).collect()
    }
}

fn habits() -> impl Strategy<Value = Habit> {
    prop_oneof![any::<u16>().prop_map(Habit::Expands), Just(Habit::NoPrompts), Just(Habit::NoAnswers)]
}

/// A turn of a conversation in which prompts may come again; answers do not.
fn nth(number: usize, repeats: bool) -> Said {
    let user = if repeats && number.is_multiple_of(2) { "continue".to_owned() } else { format!("ask {number}") };
    Said { user, agent: format!("Answer {number}, too long to be one by chance."), ended: Ended::Well }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_agent_that_has_it_all_changes_nothing(
        length in 1_usize..8,
        habit in habits(),
        repeats in any::<bool>(),
        moved_on in any::<bool>(),
    ) {
        let (mut scene, turns) = (Scene::new(), (0..length).map(|number| nth(number, repeats)).collect::<Vec<_>>());
        for turn in &turns {
            scene.say(turn);
        }
        scene.tell("agent", usize::MAX);
        let replay = habit.replay(&turns);
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(plan.keeps_all());
        prop_assert_eq!(plan.heard, plan.length());
        settled("all of it", &mut scene, &replay);
    }

    #[test]
    fn what_it_went_back_behind_is_set_aside_and_what_came_then_is_shown(
        length in 1_usize..8,
        kept in any::<prop::sample::Index>(),
        then in 0_usize..3,
        habit in habits(),
        repeats in any::<bool>(),
    ) {
        let mut scene = Scene::new();
        let turns: Vec<Said> = (0..length).map(|number| nth(number, repeats)).collect();
        for turn in &turns {
            scene.say(turn);
        }
        scene.tell("agent", usize::MAX);
        let kept = kept.index(length + 1);
        prop_assume!(kept + then > 0);
        // The prompts are the same again; the answers are others.
        let outside = (kept..kept + then).map(|number| Said {
            agent: format!("Another answer to {number}, and just as long."), ..nth(number, repeats)
        });
        let now: Vec<Said> = turns[..kept].iter().cloned().chain(outside).collect();
        let replay = habit.replay(&now);
        scene.load("agent", &replay, true);
        let (visible, aside) = (scene.visible(), scene.aside());
        let said_by = |turns: &[Said]| turns.iter().map(|said| said.agent.as_str()).collect::<String>();
        match habit {
            // The same prompts again: nothing tells that they were answered otherwise.
            Habit::NoAnswers if then > 0 => {}
            Habit::NoAnswers => prop_assert_eq!(&visible, &turns[..kept]),
            Habit::NoPrompts => prop_assert_eq!(said_by(&visible), said_by(&now)),
            Habit::Expands(_) => {
                prop_assert_eq!(said_by(&visible), said_by(&now));
                prop_assert_eq!(visible.len(), now.len());
                for (at, said) in visible.iter().enumerate() {
                    let as_said = if at < kept { &turns[at] } else { &replay[at] };
                    prop_assert_eq!(said, as_said);
                }
            }
        }
        if !(habit == Habit::NoAnswers && then > 0) {
            let aside: Vec<String> = aside.into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(said(&aside), &turns[kept..]);
        }
        settled("went back", &mut scene, &replay);
    }
}
