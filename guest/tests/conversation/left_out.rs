//! Messages of an answer that its agent has said once and does not keep: that a limit is hit, a warning, a note of a compaction.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, account, leave, listing, load_told, prompt_until_sent, row};

/// What an agent tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// A message of the user's, which has an id.
    User(&'static str),
    /// A message of the agent's with an id.
    Agent(&'static str),
    /// One without.
    Notice(&'static str),
    Call(&'static str),
}

use Told::{Agent, Call, Notice, User};

/// A turn: what was asked, and what was told then.
type Turn = (&'static str, &'static [Told]);

const LIMIT: &str = "You have hit your usage limit.\n\n";
const WARNING: &str = "Warning: long threads make the model less accurate.\n\n";
const COMPACTED: &str = "*Context compacted to fit the model's context window.*\n\n";

const HELLO: Turn = ("hello", &[Agent("Hi there.")]);
const THANKS: Turn = ("thanks", &[Agent("With pleasure.")]);
const FAILED: Turn = ("go on", &[Agent("Before the error."), Notice(LIMIT)]);
const FAILED_AT_ONCE: Turn = ("once more", &[Notice(LIMIT)]);
const WARNED: Turn = ("do it", &[Notice(WARNING), Agent("Done.")]);
const LONG: Turn = (
    "all of it",
    &[Notice(WARNING), Agent("First."), Call("c1"), Notice(COMPACTED), Agent("Second."), Call("c2"), Agent("Third.")],
);

fn telling(told: Told, at: usize) -> Value {
    let message = |kind, text: &str| {
        let mut message = chunk(kind, text);
        message["messageId"] = format!("m{at}").into();
        message
    };
    match told {
        User(text) => message("user_message_chunk", text),
        Agent(text) => message("agent_message_chunk", text),
        Notice(text) => chunk("agent_message_chunk", text),
        Call(id) => json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Read", "status": "completed"}),
    }
}

/// A conversation of these turns.
fn had(turns: &[Turn], world: &World) -> Memory {
    let store = Memory::new();
    let mut desk = Desk::ready(&store, world, &json!({"loadSession": true}));
    desk.new_session("s1", CWD);
    for (nth, (prompt, answer)) in turns.iter().enumerate() {
        prompt_until_sent(&mut desk, "turn", &[json!({"type": "text", "text": prompt})]);
        for (at, told) in answer.iter().enumerate() {
            desk.agent(update("s1", telling(*told, 100 * (nth + 1) + at)));
        }
        desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    }
    leave(desk);
    store
}

/// What is shown of it where the agent tells this: each message of the user's behind a mark; and whether something is set aside.
fn shown(store: &Memory, world: &World, told: &[Told]) -> (String, bool) {
    shown_by(store, world, told, false)
}

/// A connection of the agent, which may list the session, as last changed before anything was said here.
fn opened<'a>(store: &'a Memory, world: &'a World, has_list: bool) -> Desk<'a> {
    world.now.set(world.now.get() + 60_000);
    let capabilities = json!({"loadSession": true});
    if has_list {
        return listing(store, world, "a", &capabilities, &[row("s1", "One", "2020-01-01T00:00:00Z")]);
    }
    Desk::ready(store, world, &capabilities)
}

fn tell(desk: &mut Desk<'_>, told: &[Told]) -> Out {
    let told: Vec<Value> = told.iter().enumerate().map(|(at, told)| telling(*told, at)).collect();
    load_told(desk, &told)
}

fn shown_by(store: &Memory, world: &World, told: &[Told], has_list: bool) -> (String, bool) {
    let mut desk = opened(store, world, has_list);
    let out = tell(&mut desk, told);
    let set_aside = !out.answer("load")["result"]["_meta"]["acp-sessions"]["setAside"].is_null();
    let mut shown = String::new();
    for update in out.client.iter().map(|message| &message["params"]["update"]) {
        match update["sessionUpdate"].as_str() {
            Some("user_message_chunk") => shown.push_str("> "),
            Some("agent_message_chunk") => {}
            _ => continue,
        }
        shown.push_str(update["content"]["text"].as_str().unwrap_or_default());
    }
    leave(desk);
    (shown, set_aside)
}

/// These turns as they are shown.
fn lines(turns: &[Turn]) -> String {
    let said = |told: &Told| if let Agent(text) | Notice(text) = told { *text } else { "" };
    let turn = |(prompt, answer): &Turn| format!("> {prompt}{}", answer.iter().map(said).collect::<String>());
    turns.iter().map(turn).collect()
}

/// These turns as an agent tells them that keeps no notices.
fn kept(turns: &[Turn]) -> Vec<Told> {
    let is_kept = |told: &&Told| !matches!(told, Notice(_));
    turns
        .iter()
        .flat_map(|(prompt, answer)| [User(prompt)].into_iter().chain(answer.iter().filter(is_kept).copied()))
        .collect()
}

#[test]
fn an_answer_stays_whole_though_its_agent_has_not_kept_each_message_of_it() {
    for turns in [
        &[FAILED, THANKS][..],
        &[HELLO, WARNED, THANKS],
        &[HELLO, LONG, THANKS],
        &[FAILED, WARNED, THANKS],
        &[HELLO, WARNED, FAILED, LONG, FAILED, THANKS],
        &[HELLO, FAILED_AT_ONCE, THANKS],
        &[FAILED, FAILED_AT_ONCE, FAILED_AT_ONCE, THANKS],
        &[HELLO, FAILED],
        &[FAILED],
        &[HELLO, LONG],
        &[WARNED, LONG, FAILED_AT_ONCE],
    ] {
        let world = World::unrecorded();
        let store = had(turns, &world);
        let since: &[Turn] = &[("and now?", &[Agent("Now all is done.")])];
        for (told, expected) in [
            (kept(turns), lines(turns)),
            ([kept(turns), kept(since)].concat(), lines(&[turns, since].concat())),
            ([kept(turns), kept(since)].concat(), lines(&[turns, since].concat())),
        ] {
            assert_eq!(shown(&store, &world, &told), (expected, false), "{turns:?}");
        }
    }
}

#[test]
fn an_agent_that_has_another_answer_is_believed() {
    for (name, turns, told) in [
        (
            "a part of a message",
            &[WARNED, THANKS][..],
            &[User("do it"), Agent("Do"), User("thanks"), Agent("With pleasure.")][..],
        ),
        (
            "another message",
            &[WARNED, THANKS],
            &[User("do it"), Agent("I did."), User("thanks"), Agent("With pleasure.")],
        ),
        (
            "another order",
            &[LONG, THANKS],
            &[User("all of it"), Agent("Second."), Agent("First."), User("thanks"), Agent("With pleasure.")],
        ),
        (
            "another turn behind it",
            &[WARNED, THANKS],
            &[User("do it"), Agent("Done."), User("thank you"), Agent("You are welcome.")],
        ),
        (
            "what it leaves out told behind the next prompt",
            &[LONG, THANKS],
            &[
                User("all of it"),
                Agent("First."),
                Agent("Second."),
                User("thanks"),
                Agent("Third."),
                Agent("With pleasure."),
            ],
        ),
    ] {
        let world = World::unrecorded();
        let store = had(&[&[HELLO], turns].concat(), &world);
        let told = [kept(&[HELLO]), told.to_vec()].concat();
        let expected: String = told
            .iter()
            .map(|told| match told {
                User(text) => format!("> {text}"),
                Agent(text) | Notice(text) => (*text).to_owned(),
                Call(_) => String::new(),
            })
            .collect();
        let more: &[Turn] = &[("and now?", &[Agent("Now all is done.")])];
        let told = [told, kept(more)].concat();
        let expected = expected + &lines(more);
        for time in ["first", "again"] {
            assert_eq!(shown(&store, &world, &told).0, expected, "{name}, {time}");
        }
    }
}

#[test]
fn what_is_left_out_of_the_last_turn_that_is_told_with_all_behind_it_stays_and_is_told_to_the_agent() {
    // As Claude Code does where a plan is carried out in another transcript.
    const PLANNED: Turn = ("plan it", &[Agent("Here is my plan."), Call("c1"), Agent("I have carried out the plan.")]);
    const MORE: Turn = ("more", &[Agent("More is done.")]);
    for has_list in [false, true] {
        let (world, turns) = (World::unrecorded(), [HELLO, PLANNED, THANKS]);
        let store = had(&turns, &world);
        let told = [kept(&[HELLO]), vec![User("plan it"), Agent("Here is my plan."), Call("c1")]].concat();
        for time in ["first", "again"] {
            let (shown, is_set_aside) = shown_by(&store, &world, &told, has_list);
            assert_eq!((shown, is_set_aside), (lines(&turns), false), "{has_list}, {time}");
        }
        let mut desk = opened(&store, &world, has_list);
        tell(&mut desk, &told);
        let out = prompt_until_sent(&mut desk, "turn", &[json!({"type": "text", "text": MORE.0})]);
        let account = account(&out).expect("it is told");
        assert!(account.contains("I have carried out the plan.") && account.contains("With pleasure."), "{account}");
        desk.agent(update("s1", telling(Agent("More is done."), 900)));
        desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
        leave(desk);
        let told = [told, kept(&[MORE])].concat();
        for time in ["first", "again"] {
            let (shown, is_set_aside) = shown_by(&store, &world, &told, has_list);
            assert_eq!((shown, is_set_aside), (lines(&[HELLO, PLANNED, THANKS, MORE]), false), "{has_list}, {time}");
        }
    }
}

#[test]
fn what_was_done_elsewhere_at_last_is_told_to_the_agent_and_what_it_has_only_said_is_not() {
    const PLAN: &[Told] = &[Agent("Here is my plan."), Call("c1")];
    const DONE: &[Told] = &[
        Agent("Here is my plan."),
        Call("c1"),
        Agent("I carry it out."),
        Call("c2"),
        Call("c3"),
        Agent("I have carried out the plan."),
    ];
    const LIMIT: &[Told] = &[Agent("Here is my plan."), Call("c1"), Agent("You have reached your limit.")];
    for (had_at_last, is_told) in [(DONE, true), (LIMIT, false)] {
        let (world, turns) = (World::unrecorded(), [HELLO, ("plan it", had_at_last)]);
        let store = had(&turns, &world);
        let told = [kept(&[HELLO]), vec![User("plan it")], PLAN.to_vec()].concat();
        for time in ["first", "again"] {
            let (shown, is_set_aside) = shown_by(&store, &world, &told, true);
            assert_eq!((shown, is_set_aside), (lines(&turns), false), "{is_told}, {time}");
        }
        let mut desk = opened(&store, &world, true);
        tell(&mut desk, &told);
        let out = prompt_until_sent(&mut desk, "turn", &[json!({"type": "text", "text": "Commit it"})]);
        let account = account(&out);
        assert_eq!(account.is_some_and(|account| account.contains("I have carried out the plan.")), is_told);
        desk.agent(update("s1", telling(Agent("It is committed."), 900)));
        desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
        leave(desk);
        let more: &[Turn] = &[("Commit it", &[Agent("It is committed.")])];
        let told = [told, kept(more)].concat();
        for time in ["first", "again"] {
            let (shown, is_set_aside) = shown_by(&store, &world, &told, true);
            assert_eq!((shown, is_set_aside), (lines(&turns) + &lines(more), false), "{is_told}, {time}");
        }
    }
}
