//! Turns that were spoken at once, in several windows: their entries lie between each other in the log.

use std::collections::BTreeSet;

use acp_sessions_guest::transcript::Entry;
use proptest::prelude::*;

use crate::scene::{Ended, Said, Scene, tag};

fn turn(number: usize) -> Said {
    Said { user: format!("ask {number}"), agent: format!("answer {number} and more {number}"), ended: Ended::Well }
}

/// A session with a turn, some turns at once and another turn; and its turns in the order in which they were begun.
fn spoken(windows: usize, order: &[usize]) -> (Scene, Vec<Said>) {
    let scene = Scene::new();
    let order: Vec<usize> = order.iter().map(|window| window % windows).collect();
    let at_once: Vec<Said> = (1..=windows).map(turn).collect();
    scene.say(&turn(0));
    scene.say_at_once(&at_once, &order);
    scene.say(&turn(windows + 1));
    scene.tell("agent", usize::MAX);
    let mut begun: Vec<usize> = Vec::new();
    for window in order.into_iter().chain(0..windows) {
        if !begun.contains(&window) {
            begun.push(window);
        }
    }
    let begun = begun.into_iter().map(|window| at_once[window].clone());
    (scene, [turn(0)].into_iter().chain(begun).chain([turn(windows + 1)]).collect())
}

/// What an agent tells that keeps the words of all these turns, which were said in this order, in one transcript.
///
/// Where it does nothing between two prompts, `are_joined`, they are one message in a replay.
fn mingled(turns: &[Said], windows: usize, order: &[usize], are_joined: bool) -> Vec<Said> {
    let begun = |window: &usize| turns.iter().find(|turn| turn.user == format!("ask {}", window + 1)).unwrap();
    let mut told: Vec<Said> = vec![turns[0].clone()];
    let mut steps = vec![0; windows];
    let rest = (0..windows).flat_map(|window| [window; 4]);
    for window in order.iter().map(|window| window % windows).chain(rest) {
        let said = begun(&window);
        let (one, other) = said.agent.split_at(said.agent.len() / 2);
        match steps[window] {
            0 => told.push(Said { agent: String::new(), ..said.clone() }),
            1 => told.last_mut().unwrap().agent.push_str(one),
            2 => told.last_mut().unwrap().agent.push_str(other),
            _ => {}
        }
        steps[window] += 1;
    }
    told.push(turns[windows + 1].clone());
    let between = if are_joined { Ended::Never } else { Ended::Well };
    told.iter_mut().filter(|said| said.agent.is_empty()).for_each(|said| said.ended = between);
    told
}

/// The same again changes nothing.
fn settled(scene: &mut Scene, replay: &[Said]) {
    let before = scene.session().to_text();
    for moved_on in [false, true] {
        let again = scene.load("agent", replay, moved_on);
        assert!(again.plan.keeps_all(), "{:?}", again.plan);
        assert_eq!(scene.session().to_text(), before);
    }
}

/// What the agent said while a prompt was on its way to it stands before that prompt to the agent, and behind it in the log.
#[test]
fn what_an_agent_says_while_a_prompt_is_on_its_way_stays_where_it_is() {
    let said = |texts: &[&str]| texts.iter().map(|text| Said::parse(text)).collect::<Vec<_>>();
    for (log, replay) in [
        (&["one/early late"][..], &["/early", "one/late"][..]),
        (&["one/early"], &["/early", "one/"]),
        (&["one/1", "two/early late"], &["one/1 early", "two/late"]),
        (&["one/1", "two/early"], &["one/1 early", "two/"]),
        (&["zero/0", "one/", "two/early late", "three/3"], &["zero/0", "one/early", "two/late", "three/3"]),
        (&["one/1", "two/early 2", "three/soon 3"], &["one/1 early", "two/2", "three/soon 3"]),
    ] {
        for moved_on in [false, true] {
            let mut scene = Scene::new();
            let (log, replay) = (said(log), said(replay));
            for turn in &log {
                scene.say(turn);
            }
            scene.tell("agent", usize::MAX);
            let plan = scene.load("agent", &replay, moved_on).plan;
            assert!(plan.keeps_all(), "{replay:?}: {plan:?}");
            assert_eq!((scene.shown(), plan.heard), (log, plan.length()));
            settled(&mut scene, &replay);
        }
    }
}

#[test]
fn prompts_that_nobody_answers_are_there_once_however_they_are_told() {
    for (first, ended) in [("go on", Ended::Well), ("go on", Ended::Cancelled), ("other", Ended::Well)] {
        for kind in [Ended::Well, Ended::Never] {
            let silent = |user: &str, ended| Said { user: user.to_owned(), agent: String::new(), ended };
            let mut scene = Scene::new();
            scene.say(&silent(first, ended));
            scene.say_at_once(&[silent("go on", Ended::Well), silent("go  on", Ended::Well)], &[0, 1]);
            scene.tell("agent", usize::MAX);
            let replay: Vec<Said> = [first, "go on", "go  on"].iter().map(|user| silent(user, kind)).collect();
            let before = scene.shown();
            let plan = scene.load("agent", &replay, false).plan;
            assert!(plan.keeps_all(), "{first} {ended:?} {kind:?}: {plan:?}");
            assert_eq!(scene.shown(), before);
        }
    }
}

#[test]
fn turns_without_words_behind_others_are_there_once_though_their_prompts_are_the_same() {
    let said = |texts: &[&str]| texts.iter().map(|text| Said::parse(text)).collect::<Vec<_>>();
    let mut scene = Scene::new();
    scene.say_at_once(&said(&["ok/e2", "do 69/e1"]), &[0, 1, 1, 1, 1]);
    scene.say_at_once(&said(&["do 1/", "ok /"]), &[0, 1]);
    scene.tell("agent", usize::MAX);
    let mut replay = said(&["ok/", "do 69/e1e2", "do 1/", "ok/"]);
    replay[0].ended = Ended::Never;
    let before = scene.shown();
    let plan = scene.load("agent", &replay, false).plan;
    assert!(plan.keeps_all(), "{plan:?}");
    assert_eq!(scene.shown(), before);
}

#[test]
fn prompts_that_a_window_sends_without_waiting_are_there_once_beside_those_of_others() {
    type Written = &'static [(&'static str, &'static str)];
    let cases: [(Written, &[&str]); 4] = [
        // Those of the turns at once are told together with one of the next turn.
        (
            &[
                ("1", "pm1"),
                ("0", "pm0"),
                ("0", "e"),
                ("1", "pm2"),
                ("1", "e"),
                ("2", "pm3"),
                ("2", "am4"),
                ("2", "pm5"),
                ("2", "e"),
            ],
            &["m1 m0 m2 m3/m4", "m5/~"],
        ),
        // What the agent said by itself was written behind a prompt that it came before.
        (&[("1", "pm0"), ("1", "pm1"), ("1", "e"), ("0", "pm3"), ("0", "e"), ("", "am2")], &["m0 m1/m2", "m3/~"]),
        // The agent has put two together, and another window's prompt comes before the third.
        (
            &[
                ("1", "pu1"),
                ("1", "aa1"),
                ("1", "e"),
                ("2", "pu2"),
                ("2", "ae3"),
                ("2", "pu4"),
                ("2", "aa4"),
                ("2", "pu6"),
                ("2", "ab4"),
                ("2", "aa6"),
                ("2", "e"),
                ("", "ae5"),
                ("3", "pu7"),
                ("3", "aa7"),
                ("3", "e"),
            ],
            &["u1/a1e3", "u2 u4/a4e5", "u7/a7b4", "u6/a6"],
        ),
        (
            &[
                ("1", "pu1"),
                ("1", "aa1"),
                ("1", "e"),
                ("2", "pu2"),
                ("2", "ae3"),
                ("2", "pu4"),
                ("2", "aa4"),
                ("", "ae5"),
                ("2", "pu6"),
                ("3", "pu7"),
                ("3", "aa7"),
                ("2", "ab4"),
                ("3", "e"),
                ("2", "aa6"),
                ("2", "e"),
            ],
            &["u1/a1e3", "u2 u4/a4e5", "u7/a7b4", "u6/a6"],
        ),
    ];
    for (written, told) in cases {
        let mut scene = Scene::new();
        scene.change(|session| session.give_to("agent", "x", 0));
        scene.write(written);
        scene.tell("agent", usize::MAX);
        let replay: Vec<Said> = told.iter().map(|text| Said::parse(text)).collect();
        let plan = scene.load("agent", &replay, false).plan;
        assert!(plan.keeps_all(), "{told:?}: {plan:?}");
        settled(&mut scene, &replay);
    }
}

/// Turns at once, and what the agent says by itself in another window meanwhile, each before one of the steps; and what it tells
/// that keeps all of it in one transcript. What it said in the `early` turns while their prompts were on their way to it stands before
/// them there.
fn with_asides(windows: usize, order: &[usize], places: &[usize], early: u8) -> (Scene, Vec<Said>) {
    const EARLY: &str = "early ";
    let is_early = |window: usize| early >> window & 1 == 1;
    let scene = Scene::new();
    scene.change(|session| session.give_to("agent", "x", 0));
    let order: Vec<usize> = order.iter().map(|window| window % windows).collect();
    let at_once: Vec<Said> = (0..windows)
        .map(|window| {
            let said = turn(window + 1);
            Said { agent: format!("{}{}", if is_early(window) { EARLY } else { "" }, said.agent), ..said }
        })
        .collect();
    let steps = order.len() + 4 * windows;
    let asides: Vec<(usize, String)> =
        places.iter().zip(0..).map(|(place, number)| (place % steps, format!("by itself {number}"))).collect();
    scene.say_with_asides(&[turn(0)], &[], Some("x"), &[]);
    scene.say_with_asides(&at_once, &order, Some("x"), &asides);
    scene.tell("agent", usize::MAX);
    let mut told = vec![turn(0)];
    let mut done = vec![0; windows];
    let rest = (0..windows).flat_map(|window| [window; 4]);
    for (nth, window) in order.iter().copied().chain(rest).enumerate() {
        for (_, aside) in asides.iter().filter(|(place, _)| *place == nth) {
            told.last_mut().unwrap().agent.push_str(aside);
        }
        let said = &at_once[window];
        let (one, other) = said.agent.split_at(said.agent.len() / 2);
        match done[window] {
            0 => {
                let before = told.last_mut().unwrap();
                before.agent.push_str(if is_early(window) { EARLY } else { "" });
                told.push(Said { agent: String::new(), ..said.clone() });
            }
            1 => told.last_mut().unwrap().agent.push_str(one.strip_prefix(EARLY).unwrap_or(one)),
            2 => told.last_mut().unwrap().agent.push_str(other),
            _ => {}
        }
        done[window] += 1;
    }
    (scene, told)
}

fn windows() -> impl Strategy<Value = (usize, Vec<usize>)> {
    (2_usize..4, proptest::collection::vec(0_usize..6, 0..14))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_agent_that_replays_them_all_changes_nothing(
        (windows, order) in windows(),
        as_they_ended in any::<bool>(),
    ) {
        let (mut scene, turns) = spoken(windows, &order);
        prop_assert_eq!(&scene.shown(), &turns);
        let mut replay = turns.clone();
        // Turns that were not spoken at once have an order.
        let places = scene.turns();
        if as_they_ended && places[1..windows].iter().all(|turn| places[windows].at.start() < turn.at.end()) {
            replay[1..=windows].reverse();
        }
        let plan = scene.load("agent", &replay, false).plan;
        prop_assert!(plan.keeps_all());
        prop_assert_eq!(plan.heard, plan.length());
        prop_assert!(scene.aside().is_empty());
        prop_assert!(scene.session().segments.is_empty());
        prop_assert_eq!(&scene.shown(), &turns);
        settled(&mut scene, &replay);
    }

    #[test]
    fn an_agent_that_replays_their_words_as_they_were_said_changes_nothing(
        (windows, order) in windows(),
        moved_on in any::<bool>(),
        is_gone_on_with in any::<bool>(),
        are_joined in any::<bool>(),
    ) {
        let (mut scene, mut turns) = spoken(windows, &order);
        let mut replay = mingled(&turns, windows, &order, are_joined);
        if is_gone_on_with {
            replay.push(turn(99));
            turns.push(turn(99));
        }
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(scene.aside().is_empty());
        prop_assert_eq!(&scene.shown(), &turns);
        prop_assert_eq!(plan.heard, plan.length());
        settled(&mut scene, &replay);
    }

    #[test]
    fn turns_that_are_cancelled_stay_though_the_agent_has_kept_their_prompts_alone(
        (windows, order) in windows(),
        cancelled in any::<u8>(),
        moved_on in any::<bool>(),
        are_joined in any::<bool>(),
    ) {
        let mut scene = Scene::new();
        scene.change(|session| session.give_to("agent", "x", 0));
        let order: Vec<usize> = order.iter().map(|window| window % windows).collect();
        let ended = |window: usize| if cancelled >> window & 1 == 1 { Ended::Cancelled } else { Ended::Well };
        let at_once: Vec<Said> = (1..=windows).map(|window| Said { ended: ended(window), ..turn(window) }).collect();
        scene.say_with_asides(&[turn(0)], &[], Some("x"), &[]);
        scene.say_with_asides(&at_once, &order, Some("x"), &[]);
        scene.say_with_asides(&[turn(windows + 1)], &[], Some("x"), &[]);
        scene.tell("agent", usize::MAX);
        let shown = scene.shown();
        let kept = at_once.into_iter().map(|said| match said.ended {
            Ended::Cancelled => Said { agent: String::new(), ..said },
            _ => said,
        });
        let kept: Vec<Said> = [turn(0)].into_iter().chain(kept).chain([turn(windows + 1)]).collect();
        let replay = mingled(&kept, windows, &order, are_joined);
        scene.load("agent", &replay, moved_on);
        prop_assert!(scene.aside().is_empty(), "{:?}", replay);
        prop_assert_eq!(&scene.shown(), &shown);
        settled(&mut scene, &replay);
    }

    #[test]
    fn what_an_agent_says_by_itself_while_others_have_turns_stays_where_it_is(
        windows in 1_usize..4,
        order in proptest::collection::vec(0_usize..6, 0..14),
        places in proptest::collection::vec(0_usize..60, 0..4),
        early in 0_u8..8,
        moved_on in any::<bool>(),
        is_gone_on_with in any::<bool>(),
    ) {
        let (mut scene, mut replay) = with_asides(windows, &order, &places, early);
        let mut shown = scene.shown();
        if is_gone_on_with {
            replay.push(turn(99));
            shown.push(turn(99));
        }
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(scene.aside().is_empty(), "{:?}: {:?}", replay, plan);
        prop_assert_eq!(&scene.shown(), &shown);
        prop_assert_eq!(plan.heard, plan.length());
        settled(&mut scene, &replay);
    }

    #[test]
    fn what_the_agent_has_changed_among_their_words_is_told_once_as_it_tells_it(
        (windows, order) in windows(),
        moved_on in any::<bool>(),
        change in any::<prop::sample::Index>(),
        is_left_out in any::<bool>(),
    ) {
        let (mut scene, turns) = spoken(windows, &order);
        let mut replay = mingled(&turns, windows, &order, false);
        let told = 1 + change.index(windows);
        if replay[told].agent.is_empty() {
            return Ok(());
        }
        if is_left_out {
            let left = replay[told].agent.len() - 4;
            replay[told].agent.truncate(left);
        } else {
            replay[told].agent.push_str(" new words");
        }
        scene.load("agent", &replay, moved_on);
        let shown: String = scene.shown().iter().map(|said| said.agent.as_str()).collect();
        let whole: String = replay.iter().map(|said| said.agent.as_str()).collect();
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().collect();
            letters.sort_unstable();
            letters
        };
        prop_assert_eq!(letters(&shown), letters(&whole), "{:?} in {:?}", replay, scene.shown());
        settled(&mut scene, &replay);
    }

    #[test]
    fn what_comes_behind_prompts_that_nobody_answered_is_told_in_one_piece_with_them(
        (windows, order) in windows(),
        moved_on in any::<bool>(),
        unanswered in 1_usize..3,
    ) {
        let scene = Scene::new();
        let asked: Vec<Said> = (0..unanswered).map(|number| Said {
            user: format!("never {number}"),
            agent: String::new(),
            ended: Ended::Cancelled,
        }).collect();
        for said in &asked {
            scene.say(said);
        }
        let order: Vec<usize> = order.iter().map(|window| window % windows).collect();
        let at_once: Vec<Said> = (1..=windows).map(turn).collect();
        scene.say_at_once(&at_once, &order);
        scene.tell("agent", usize::MAX);
        let mut scene = scene;
        let all = [vec![turn(0)], at_once, vec![turn(windows + 1)]].concat();
        let mut replay = mingled(&all, windows, &order, true);
        replay.remove(0);
        replay.pop();
        replay.splice(0..0, asked.iter().map(|said| Said { ended: Ended::Never, ..said.clone() }));
        let before = scene.shown();
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(plan.keeps_all(), "{:?}: {:?}", replay, plan);
        prop_assert_eq!(scene.shown(), before);
    }

    #[test]
    fn a_turn_that_the_agent_went_back_behind_is_set_aside_and_nothing_else(
        (windows, order) in windows(),
        lost in any::<prop::sample::Index>(),
    ) {
        let (mut scene, turns) = spoken(windows, &order);
        let lost = 1 + lost.index(windows);
        let gone = turns[lost].clone();
        let whole = scene.entries();
        // It went on otherwise from there: what it had heard in that place is another turn now.
        let mut replay = turns.clone();
        replay[lost] = turn(77);
        let plan = scene.load("agent", &replay, true).plan;
        let its: Vec<_> = whole.iter().filter(|(_, text)| {
            Entry::parse(text).and_then(|entry| entry.turn) == Some(&*tag(&gone.user))
        }).cloned().collect();
        prop_assert!(!its.is_empty());
        prop_assert_eq!(scene.aside(), its);
        prop_assert_eq!(&scene.shown(), &replay);
        prop_assert_eq!(plan.heard, plan.length());
        settled(&mut scene, &replay);
    }

    #[test]
    fn a_turn_left_out_by_the_replay_stays(
        (windows, order) in windows(),
        lost in any::<prop::sample::Index>(),
        moved_on in any::<bool>(),
    ) {
        let (mut scene, turns) = spoken(windows, &order);
        let mut replay = turns.clone();
        replay.remove(1 + lost.index(windows));
        let plan = scene.load("agent", &replay, moved_on).plan;
        prop_assert!(plan.keeps_all());
        prop_assert_eq!(&scene.shown(), &turns);
        settled(&mut scene, &replay);
    }

    #[test]
    fn the_last_of_them_that_was_lost_is_gone_and_the_others_are_whole((windows, order) in windows()) {
        let (mut scene, turns) = spoken(windows, &order);
        let (replay, whole) = (&turns[..windows], scene.entries().len());
        scene.load("agent", replay, true);
        prop_assert_eq!(&scene.shown(), replay);
        let places: BTreeSet<_> = scene.aside().into_iter().chain(scene.entries()).map(|(place, _)| place).collect();
        prop_assert_eq!(places.len(), whole);
        settled(&mut scene, replay);
    }

    #[test]
    fn a_turn_had_without_the_layer_comes_where_it_belongs(
        (windows, order) in windows(),
        place in any::<prop::sample::Index>(),
    ) {
        let (mut scene, mut turns) = spoken(windows, &order);
        turns.insert(place.index(turns.len() + 1), turn(99));
        let plan = scene.load("agent", &turns, true).plan;
        prop_assert!(scene.aside().is_empty());
        prop_assert_eq!(&scene.shown(), &turns);
        prop_assert_eq!(plan.heard, plan.length());
        settled(&mut scene, &turns);
    }
}
