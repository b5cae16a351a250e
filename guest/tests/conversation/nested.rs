//! A turn in which its agent gives itself prompts, as Kimi CLI does for a flow, and where it goes on by itself until the task is done. It
//! tells each as its user's, the first one right behind what the user has said.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{World, chunk};
use crate::scenes::{as_shown, begun, leave, shown_later};

const CHOOSE: &str =
    "Is it well?\n\nAvailable branches:\n- YES\n- NO\n\nReply with a choice using <choice>...</choice>.";
const IN_LOOP: &str = "one. (You are running in an automated loop where the same prompt is fed repeatedly. Only choose STOP when the \
                       task is fully complete. Including it will stop further iterations. If you are not 100% sure, choose \
                       CONTINUE.)\n\nAvailable branches:\n- CONTINUE\n- STOP\n\nReply with a choice using <choice>...</choice>.";

/// What an agent tells.
#[derive(Debug, Clone, Copy)]
enum Told {
    User(&'static str),
    Agent(&'static str),
}

use Told::{Agent, User};

const ONE: (&str, &str) = ("one", "First.");
const THREE: (&str, &str) = ("three", "Third.");
const FLOW: (&str, &str) = ("/flow:rel", "Built. Well. <choice>YES</choice>");
const TASKS: (&str, &str) = ("/flow:all", "Ok. Ok. Done.");
const LOOP: (&str, &str) = ("one", "First.<choice>STOP</choice>");

const TOLD_FLOW: &[Told] = &[
    User("/flow:rel"),
    User("Build the release"),
    Agent("Built. "),
    User(CHOOSE),
    Agent("Well. <choice>YES</choice>"),
];
const TOLD_TASKS: &[Told] = &[
    User("/flow:all"),
    User("Do it"),
    Agent("Ok. "),
    User("Test it"),
    Agent("Ok. "),
    User("Write it down"),
    Agent("Done."),
];
const TOLD_APART: &[Told] =
    &[User("/flow:all"), Agent("Ok. "), User("Test it"), Agent("Ok. "), User("Write it down"), Agent("Done.")];
const TOLD_LOOP: &[Told] = &[User("one"), User("one"), Agent("First."), User(IN_LOOP), Agent("<choice>STOP</choice>")];
const TOLD_LOOP_SHORTLY: &[Told] = &[User("one"), User("one"), Agent("First.")];
const TOLD_THREE: &[Told] = &[User("three"), Agent("Third.")];
const TOLD_FOUR: &[Told] = &[User("four"), Agent("Fourth.")];

/// What is shown of a conversation of which the agent tells this, and whether something is set aside for that.
fn shown(store: &Memory, world: &World, told: &[Told]) -> (String, bool) {
    let told = told.iter().map(|told| match told {
        User(text) => chunk("user_message_chunk", text),
        Agent(text) => chunk("agent_message_chunk", text),
    });
    shown_later(store, world, &told.collect::<Vec<Value>>())
}

#[test]
fn the_turn_stays_as_it_was_shown() {
    let told_one = &[User("one"), Agent("First.")];
    for (turn, told) in
        [(FLOW, TOLD_FLOW), (TASKS, TOLD_TASKS), (TASKS, TOLD_APART), (LOOP, TOLD_LOOP), (ONE, TOLD_LOOP_SHORTLY)]
    {
        for (before, told_before) in [(&[][..], &[][..]), (&[ONE], told_one)] {
            for (behind, told_behind) in [(&[][..], &[][..]), (&[THREE], TOLD_THREE)] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let had = [before, &[turn], behind].concat();
                leave(begun(&store, &world, &json!({"loadSession": true}), &had));
                for (since, told_since) in [(&[][..], &[][..]), (&[("four", "Fourth.")], TOLD_FOUR)] {
                    let told = [told_before, told, told_behind, told_since].concat();
                    let expected = as_shown(&[&had[..], since].concat());
                    assert_eq!(shown(&store, &world, &told), (expected.clone(), false), "{told:?}");
                    assert_eq!(shown(&store, &world, &told), (expected, false), "{told:?} again");
                }
            }
        }
    }
}

#[test]
fn what_was_asked_otherwise_without_the_layer_is_shown() {
    for (had, told) in [
        (&[("go", "Done. Done."), THREE][..], &[User("go on"), Agent("Done. "), User("and test"), Agent("Done.")][..]),
        (&[TASKS, THREE], &[User("/flow:all"), Agent("Ok. "), User("three"), Agent("Ok. Done.")]),
        (&[TASKS, THREE], &[User("/flow:all"), Agent("Ok. Ok. Done."), User("five"), User("six")]),
        (&[ONE, THREE], &[User("one of"), Agent("First.")]),
        (&[ONE, THREE], &[User("one"), Agent("Fir"), User("and two"), Agent("st.")]),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &json!({"loadSession": true}), &[&[("zero", "Zeroth.")], had].concat()));
        let told = [&[User("zero"), Agent("Zeroth.")], told, TOLD_FOUR].concat();
        let texts = told.iter().map(|told| match told {
            User(text) | Agent(text) => *text,
        });
        let expected = texts.collect::<String>();
        for time in ["first", "again"] {
            assert_eq!(shown(&store, &world, &told).0.replace("> ", ""), expected, "{told:?} {time}");
        }
    }
}
