//! Slash commands, which agents record otherwise than they were sent: the conversation stays as it was had, and what an agent's user
//! went back behind is set aside all the same.

use proptest::prelude::*;

use crate::scene::{Ended, Said, Scene, said};

/// How an agent tells the turn of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    AsSaid,
    /// With what the command stands for in the place of the prompt.
    Template,
    AnswerAlone,
    PromptAlone,
    Missing,
}

/// How an agent tells commands: some in one form, and others not at all, or as they were.
#[derive(Debug, Clone, Copy)]
struct Habit {
    form: Form,
    other: Form,
    which: u16,
}

impl Habit {
    fn of(self, number: usize) -> Form {
        if self.which >> (number % 16) & 1 == 1 { self.form } else { self.other }
    }

    fn replay(self, turns: &[(usize, Said)]) -> Vec<Said> {
        let mut told: Vec<Said> = Vec::new();
        for (number, turn) in turns {
            let form = if turn.user.starts_with('/') { self.of(*number) } else { Form::AsSaid };
            let mut turn = turn.clone();
            match form {
                Form::Missing => continue,
                Form::AsSaid => {}
                Form::Template => turn.user = format!("Do what is written here, and nothing more: {number}"),
                Form::AnswerAlone => turn.user.clear(),
                Form::PromptAlone => turn.agent.clear(),
            }
            match told.last_mut() {
                Some(before) if turn.user.is_empty() => before.agent.push_str(&turn.agent),
                Some(before) if before.agent.is_empty() => {
                    *before = Said { user: format!("{}{}", before.user, turn.user), ..turn };
                }
                _ => told.push(turn),
            }
        }
        told
    }
}

fn habits() -> impl Strategy<Value = Habit> {
    let missing = prop_oneof![Just(Form::AsSaid), Just(Form::Missing)];
    let form = prop_oneof![
        (Just(Form::Template), missing.clone()),
        (Just(Form::AnswerAlone), missing),
        (Just(Form::PromptAlone), Just(Form::AsSaid)),
        (Just(Form::Missing), Just(Form::AsSaid)),
    ];
    (form, any::<u16>()).prop_map(|((form, other), which)| Habit { form, other, which })
}

/// A turn of a conversation in which the same is said over and over, but for what commands do.
fn nth(number: usize, is_command: bool, repeats: bool) -> (usize, Said) {
    let (user, agent) = match (is_command, repeats) {
        (true, true) => ("/review 12".to_owned(), format!("Reviewed the {number}th time.")),
        (true, false) => (format!("/c{number}"), format!("Result of command {number}.")),
        (false, true) => ("continue".to_owned(), "ok".to_owned()),
        (false, false) => (format!("ask {number}"), format!("Answer {number}.")),
    };
    (number, Said { user, agent, ended: Ended::Well })
}

fn conversations() -> impl Strategy<Value = Vec<(usize, Said)>> {
    let turns = proptest::collection::vec((any::<bool>(), any::<bool>()), 1..8);
    turns.prop_map(|turns| {
        turns.into_iter().enumerate().map(|(number, (command, repeats))| nth(number, command, repeats)).collect()
    })
}

fn scene(turns: &[(usize, Said)]) -> Scene {
    let scene = Scene::new();
    for (_, turn) in turns {
        scene.say(turn);
    }
    scene.tell("agent", usize::MAX);
    scene
}

/// What was said without the layer since.
fn outside(count: usize) -> Vec<(usize, Said)> {
    (0..count).map(|nth| (100 + nth, Said::parse(&format!("outside {nth}/And said so outside, {nth}.")))).collect()
}

fn said_in(turns: &[(usize, Said)]) -> Vec<Said> {
    turns.iter().map(|(_, turn)| turn.clone()).collect()
}

/// Whether what comes behind these turns stands in a turn of its own, and not where the last of them might.
fn ends_apart(turns: &[(usize, Said)], habit: Habit) -> bool {
    let last = turns.last().filter(|(_, turn)| turn.user.starts_with('/'));
    last.is_none_or(|(number, _)| !matches!(habit.of(*number), Form::Missing | Form::PromptAlone))
}

/// Whether it tells any prompt: without one, its messages are compared by themselves.
fn has_prompts(replay: &[Said]) -> bool {
    replay.is_empty() || replay.iter().any(|turn| !turn.user.is_empty())
}

fn settled(scene: &mut Scene, replay: &[Said]) {
    let before = scene.session().to_text();
    for moved_on in [false, true] {
        let again = scene.load("agent", replay, moved_on);
        assert!(again.plan.keeps_all(), "a second time: {:?}", again.plan);
        assert_eq!(scene.session().to_text(), before, "a second time");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        // About every third is none of those that are meant.
        max_global_rejects: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn however_commands_are_told_nothing_changes(turns in conversations(), habit in habits(), moved_on in any::<bool>()) {
        prop_assume!(!moved_on || ends_apart(&turns, habit));
        let replay = habit.replay(&turns);
        prop_assume!(has_prompts(&replay));
        let mut scene = scene(&turns);
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(plan.keeps_all(), "{:?}: {:?}", replay, plan);
        prop_assert_eq!(scene.visible(), said_in(&turns));
        prop_assert!(scene.aside().is_empty());
    }

    #[test]
    fn what_is_said_outside_comes_behind_commands_however_they_are_told(
        turns in conversations(),
        habit in habits(),
        count in 1_usize..3,
        moved_on in any::<bool>(),
    ) {
        let is_command = |(_, turn): &(usize, Said)| turn.user.starts_with('/');
        let is_missing = turns.iter().all(|turn| is_command(turn) && habit.of(turn.0) == Form::Missing);
        prop_assume!(is_missing || ends_apart(&turns, habit));
        let mut scene = scene(&turns);
        let all = [turns.clone(), outside(count)].concat();
        let replay = habit.replay(&all);
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert_eq!(scene.visible(), said_in(&all), "{:?}: {:?}", replay, plan);
        prop_assert!(scene.aside().is_empty());
        prop_assert_eq!(plan.heard, plan.length());
        settled(&mut scene, &replay);
    }

    #[test]
    fn what_it_went_back_behind_is_set_aside_however_commands_are_told(
        turns in conversations(),
        kept in any::<prop::sample::Index>(),
        count in 0_usize..3,
        habit in habits(),
    ) {
        let (kept, gone) = turns.split_at(kept.index(turns.len()));
        prop_assume!(kept.len() + count > 0 && ends_apart(kept, habit));
        // Of commands alone that are not told it cannot be known.
        prop_assume!(turns.iter().any(|(_, turn)| !turn.user.starts_with('/')));
        let now = [kept.to_vec(), outside(count)].concat();
        let replay = habit.replay(&now);
        prop_assume!(has_prompts(&replay));
        let mut scene = scene(&turns);
        let plan = scene.load("agent", &replay, true).plan;
        prop_assert_eq!(scene.visible(), said_in(&now), "{:?}: {:?}", replay, plan);
        let aside: Vec<String> = scene.aside().into_iter().map(|(_, text)| text).collect();
        prop_assert_eq!(said(&aside), said_in(gone));
        settled(&mut scene, &replay);
    }
}
