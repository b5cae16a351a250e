//! What one window says while the agent of another loads the session, or forks it: that agent tells what it had when it was
//! asked, and is to be told the rest.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{
    LONG, TOLD, Turns, account, answers, ask_fork, ask_load, ask_prompt, begun, both_open, leave, lines, load, mark,
    oblige, replay, said, says,
};

fn loads() -> Value {
    json!({"loadSession": true})
}

/// The third turn begins in this window.
fn begins(first: &mut Desk<'_>) {
    ask_prompt(first, "third", "s1", "Third question").request("session/prompt");
    first.agent(says("Third"));
    first.wait(LONG);
}

/// What becomes of a turn that is under way as another window's agent is asked for its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Becomes {
    Answered,
    /// And a whole turn follows.
    Followed,
    Cancelled,
    /// Its agent is started again, and has a turn behind it.
    CutOff,
    /// Its window is closed behind it.
    Left,
}

impl Becomes {
    const ALL: [Self; 5] = [Self::Answered, Self::Followed, Self::Cancelled, Self::CutOff, Self::Left];

    fn in_window(self, mut first: Desk<'_>) {
        first.agent(says(" answer"));
        first.wait(LONG);
        match self {
            Self::Answered | Self::Followed | Self::Left => drop(first.agent(answers("third"))),
            Self::Cancelled => {
                first.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                first.agent(json!({"id": "third", "result": {"stopReason": "cancelled"}}));
            }
            Self::CutOff => drop(first.revive(&loads())),
        }
        if matches!(self, Self::Followed | Self::CutOff) {
            let out = ask_prompt(&mut first, "fourth", "s1", "Fourth question");
            let mut all = TOLD.to_vec();
            all.push(("Third question", "Third answer"));
            oblige(&mut first, out, &all, "fresh");
        }
        if self == Self::Left {
            leave(first);
        }
    }
}

/// The agent has told these turns and answers; what it is told with the prompt that follows, which is sent if it does not wait.
fn told(second: &mut Desk<'_>, asked: &Value, turns: Turns<'_>, is_waiting: bool) -> String {
    replay(second, "s1", turns);
    let mut out = second.reply(asked, json!({}));
    out.extend(second.wait(LONG));
    if !is_waiting {
        assert!(out.answer("load")["error"].is_null());
        out = ask_prompt(second, "next", "s1", "On");
    }
    account(&out).unwrap_or_default()
}

#[test]
fn what_has_become_of_a_turn_that_was_under_way_is_told() {
    for becomes in Becomes::ALL {
        for is_restarted in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut first, mut second) = if is_restarted {
                let (first, mut second) = both_open(&store, &world, &loads(), TOLD);
                second.revive(&loads());
                (first, second)
            } else {
                (begun(&store, &world, &loads(), TOLD), Desk::ready(&store, &world, &loads()))
            };
            begins(&mut first);
            let out = if is_restarted {
                ask_prompt(&mut second, "next", "s1", "On")
            } else {
                ask_load(&mut second, "load", "s1")
            };
            let asked = out.request("session/load");
            becomes.in_window(first);
            let has = [TOLD, &[("Third question", "Third")]].concat();
            let told = told(&mut second, &asked, &has, is_restarted);
            let what = format!("{becomes:?}, restarted: {is_restarted}: {told}");
            assert!(told.contains("Third answer") && !told.contains("Second"), "{what}");
            let is_followed = matches!(becomes, Becomes::Followed | Becomes::CutOff);
            assert_eq!(told.contains("Fourth question"), is_followed, "{what}");
        }
    }
}

/// A window says a whole turn while the agent of a second one loads the session, and is, or is not, at the next one as that has
/// told these turns. What that is told with its prompt.
fn told_behind_whole_turn(turns: Turns<'_>, is_under_way: bool) -> String {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = begun(&store, &world, &loads(), TOLD);
    let mut second = Desk::ready(&store, &world, &loads());
    let asked = ask_load(&mut second, "load", "s1").request("session/load");
    first.turn("s1", "Third question", &["Third answer"]);
    if is_under_way {
        ask_prompt(&mut first, "fourth", "s1", "Fourth question").request("session/prompt");
        first.agent(says("Fourth"));
        first.wait(LONG);
    }
    told(&mut second, &asked, turns, false)
}

#[test]
fn a_whole_turn_is_told_once_whether_or_not_another_is_under_way_as_the_agent_answers() {
    let third = ("Third question", "Third answer");
    let fourth = ("Fourth question", "Fourth");
    for is_under_way in [false, true] {
        let all = [TOLD, &[third, fourth]].concat();
        // Some agents tell nothing as they load.
        for has in [0, 2, 3, 4].map(|has| &all[..has]) {
            let told = told_behind_whole_turn(has, is_under_way);
            let what = format!("under way: {is_under_way}, {has:?}: {told}");
            assert_eq!(told.contains("Third answer"), !has.contains(&third), "{what}");
            assert_eq!(told.contains("Fourth question"), is_under_way && !has.contains(&fourth), "{what}");
            assert!(!told.contains("Second"), "{what}");
        }
    }
}

/// A fork of `s1` that is made while a turn of that is under way, which ends, and may be followed by another, before the agent
/// answers. What its agent is told with the first prompt in it, if there is one.
fn forked_meanwhile(store: &Memory, world: &World, is_followed: bool, is_prompted: bool) -> Option<String> {
    let forks = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    let mut first = begun(store, world, &loads(), TOLD);
    begins(&mut first);
    let mut second = Desk::ready(store, world, &forks);
    let asked = ask_fork(&mut second, "s1").request("session/fork");
    first.agent(says(" answer"));
    first.agent(answers("third"));
    if is_followed {
        first.turn("s1", "Fourth question", &["Fourth answer"]);
    }
    second.reply(&asked, json!({"sessionId": "f1"})).answer("fork");
    let told = is_prompted.then(|| {
        let told = account(&ask_prompt(&mut second, "next", "f1", "On")).unwrap_or_default();
        second.agent(update("f1", chunk("agent_message_chunk", "Going on")));
        second.agent(answers("next"));
        told
    });
    leave(second);
    told
}

#[test]
fn what_is_said_while_an_agent_forks_a_session_stays_in_the_fork_however_much_of_it_the_agent_has_copied() {
    let third: Turns<'_> = &[("Third question", "Third answer")];
    let fourth: Turns<'_> = &[("Fourth question", "Fourth answer")];
    let copies: [Turns<'_>; 5] =
        [&[], &[("Third question", "")], &[("Third question", "Third")], third, &[third[0], fourth[0]]];
    for is_followed in [false, true] {
        let meanwhile = if is_followed { [third, fourth].concat() } else { third.to_vec() };
        for has in copies.into_iter().filter(|has| has.len() <= meanwhile.len()) {
            for is_prompted in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let told = forked_meanwhile(&store, &world, is_followed, is_prompted);
                let what = format!("{has:?}, followed: {is_followed}, prompted: {is_prompted}: {told:?}");
                assert!(told.is_none_or(|told| meanwhile.iter().all(|(_, answer)| told.contains(answer))), "{what}");
                let own: Turns<'_> = if is_prompted { &[("On", "Going on")] } else { &[] };
                // What is known of the fork holds as long as it is.
                for time in ["once", "again"] {
                    let mut desk = Desk::ready(&store, &world, &loads());
                    let out = load(&mut desk, "f1", &[TOLD, has, own].concat());
                    assert!(mark(&out, "load")["setAside"].is_null(), "{time}: {what}");
                    assert_eq!(said(&out.client), lines(&[TOLD, &meanwhile, own]), "{time}: {what}");
                    if time == "again" {
                        let told = account(&ask_prompt(&mut desk, "last", "f1", "Last")).unwrap_or_default();
                        let is_left = |turn: &(&str, &str)| !is_prompted && !has.contains(turn);
                        for turn in &meanwhile {
                            assert_eq!(told.contains(turn.1), is_left(turn), "{what}: {told}");
                        }
                        assert!(!told.contains("Second"), "{what}: {told}");
                    }
                    leave(desk);
                }
            }
        }
    }
}
