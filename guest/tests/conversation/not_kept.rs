//! The last turn of a session, which its agent has not kept: whatever time the agent's own list gives, nobody has gone back behind it
//! as long as that is not a later one.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{
    CWD, Turns, UNTIL_FORGOTTEN, account, answers, ask_load, ask_prompt, leave, lines, listing, load, mark, oblige,
    row, said, says,
};

const KEPT: Turns<'static> = &[("First", "One")];
const CUT_OFF: Turns<'static> = &[("Second", "Tw")];
const CONTEXT: Turns<'static> = &[("/context", "12% are used.")];
const COST: Turns<'static> = &[("/cost", "It was cheap.")];

/// When each of the turns is had takes two seconds, with one between them; the first begins at 20.
const IN_FIRST: &str = "2025-10-09T08:53:21Z";
const AT_END_OF_FIRST: &str = "2025-10-09T08:53:22Z";
const BETWEEN: &str = "2025-10-09T08:53:22.500Z";
const IN_SECOND: &str = "2025-10-09T08:53:24Z";
const AT_END_OF_SECOND: &str = "2025-10-09T08:53:25Z";
/// Long behind all of them, and before [`next_day`].
const LATER: &str = "2025-10-09T20:00:00Z";

fn next_day(world: &World) {
    world.now.set(world.now.get() + 86_400_000);
}

/// Agents that load, and that can resume as well.
fn agents() -> [Value; 2] {
    [json!({"loadSession": true}), json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})]
}

/// A connection to the agent, which gives this time in its list, if it has one.
fn connected<'a>(store: &'a Memory, world: &'a World, agent: &Value, list: Option<&str>) -> Desk<'a> {
    match list {
        Some(updated) => listing(store, world, "a", agent, &[row("s1", "Title", updated)]),
        None => Desk::ready(store, world, agent),
    }
}

/// A connection on which the session is made, and no list has told of it yet.
fn made<'a>(store: &'a Memory, world: &'a World, agent: &Value, has_list: bool) -> Desk<'a> {
    let mut desk = if has_list { listing(store, world, "a", agent, &[]) } else { Desk::ready(store, world, agent) };
    desk.new_session("s1", CWD);
    desk
}

/// Turns of two seconds, each a second behind the one before.
fn have(desk: &mut Desk<'_>, turns: Turns<'_>) {
    for (user, agent) in turns {
        begin(desk, (user, agent));
        desk.agent(answers("turn"));
        desk.wait(1000);
    }
}

/// A turn that has gone on for two seconds.
fn begin(desk: &mut Desk<'_>, (user, agent): (&str, &str)) -> Value {
    let asked = ask_prompt(desk, "turn", "s1", user).request("session/prompt");
    desk.agent(says(agent));
    desk.wait(2000);
    asked
}

/// What cuts a turn off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Quit,
    Killed,
    AgentsEnd,
    Cancel,
    Error,
}

impl By {
    const ALL: [Self; 5] = [Self::Quit, Self::Killed, Self::AgentsEnd, Self::Cancel, Self::Error];

    fn cuts_off(self, mut desk: Desk<'_>, world: &World, asked: &Value) {
        match self {
            Self::Quit => {}
            Self::Killed => {
                drop(desk);
                world.now.set(world.now.get() + UNTIL_FORGOTTEN);
                return;
            }
            Self::AgentsEnd => {
                desk.restart();
            }
            Self::Cancel => {
                desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
                desk.reply(asked, json!({"stopReason": "cancelled"}));
            }
            Self::Error => {
                desk.refuse(asked, -32603);
            }
        }
        leave(desk);
    }
}

/// That the agent is told of the turn that was cut off with this prompt.
fn is_told(out: &Out, name: &str) {
    let account = account(out).unwrap_or_default();
    assert!(CUT_OFF.iter().all(|(user, agent)| account.contains(user) && account.contains(agent)), "{name}: {account}");
}

#[test]
fn a_last_turn_that_was_cut_off_stays_and_is_told_to_its_agent_once() {
    let lists = [None, Some(IN_FIRST), Some(AT_END_OF_FIRST), Some(BETWEEN), Some(IN_SECOND), Some(LATER)];
    for agent in agents() {
        for (by, list) in By::ALL.into_iter().flat_map(|by| lists.map(|list| (by, list))) {
            // What was cancelled its agent has heard, and its user may have gone back behind it since.
            if by == By::Cancel && list == Some(LATER) {
                continue;
            }
            let name = format!("{by:?}, {list:?}, {agent}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = made(&store, &world, &agent, list.is_some());
            have(&mut desk, KEPT);
            let asked = begin(&mut desk, CUT_OFF[0]);
            by.cuts_off(desk, &world, &asked);
            next_day(&world);
            let mut desk = connected(&store, &world, &agent, list);
            let out = load(&mut desk, "s1", KEPT);
            assert_eq!(said(&out.client), lines(&[KEPT, CUT_OFF]), "{name}");
            assert!(mark(&out, "load")["setAside"].is_null(), "{name}");
            is_told(&ask_prompt(&mut desk, "next", "s1", "Third"), &name);
            desk.agent(says("Three"));
            desk.agent(answers("next"));
            assert_eq!(account(&ask_prompt(&mut desk, "more", "s1", "Fourth")), None, "{name}: it was told");
            leave(desk);
        }
    }
}

#[test]
fn a_last_turn_that_its_agents_end_has_cut_off_is_told_to_the_next_agent_of_the_same_window() {
    for agent in agents() {
        for list in [None, Some(IN_FIRST), Some(AT_END_OF_FIRST), Some(IN_SECOND), Some(LATER)] {
            let name = format!("{list:?}, {agent}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = made(&store, &world, &agent, list.is_some());
            have(&mut desk, KEPT);
            begin(&mut desk, CUT_OFF[0]);
            let mut capabilities = agent.clone();
            if list.is_some() {
                capabilities["sessionCapabilities"]["list"] = json!({});
            }
            let out = desk.revive(&capabilities);
            if let (Some(asked), Some(updated)) = (out.asked("session/list"), list) {
                desk.reply(asked, json!({"sessions": [row("s1", "Title", updated)]}));
            }
            let out = ask_prompt(&mut desk, "next", "s1", "Third");
            let out = oblige(&mut desk, out, KEPT, "fresh");
            // One that resumes may have it all.
            if out.asked("session/load").is_some() {
                is_told(&out, &name);
            }
            let out = ask_load(&mut desk, "load", "s1");
            let third: Turns<'_> = &[("Third", "")];
            let has = [KEPT, third].concat();
            let mut whole = lines(&[KEPT, CUT_OFF]);
            whole.push("> Third".to_owned());
            assert_eq!(said(&oblige(&mut desk, out, &has, "fresh").client), whole, "{name}");
            leave(desk);
        }
    }
}

#[test]
fn commands_stay_where_nothing_else_was_said() {
    let lists = [None, Some(IN_FIRST), Some(AT_END_OF_FIRST), Some(BETWEEN), Some(IN_SECOND), Some(AT_END_OF_SECOND)];
    for agent in agents() {
        for list in lists {
            for commands in [CONTEXT.to_vec(), [CONTEXT, COST].concat(), [CONTEXT, CONTEXT].concat()] {
                let name = format!("{list:?}, {agent}, {commands:?}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = made(&store, &world, &agent, list.is_some());
                have(&mut desk, KEPT);
                have(&mut desk, &commands);
                leave(desk);
                for time in ["next day", "the day after"] {
                    next_day(&world);
                    let mut desk = connected(&store, &world, &agent, list);
                    let out = load(&mut desk, "s1", KEPT);
                    assert_eq!(said(&out.client), lines(&[KEPT, &commands]), "{name}, {time}");
                    assert!(mark(&out, "load")["setAside"].is_null(), "{name}, {time}");
                    leave(desk);
                }
            }
        }
    }
}

#[test]
fn a_last_turn_that_came_to_its_end_is_set_aside_where_the_list_gives_a_later_time_and_no_other() {
    const SECOND: Turns<'static> = &[("Second", "Two")];
    for agent in agents() {
        for (list, is_gone) in [
            (IN_FIRST, false),
            (AT_END_OF_FIRST, false),
            (BETWEEN, false),
            (IN_SECOND, false),
            (AT_END_OF_SECOND, false),
            ("2025-10-09T08:53:26Z", true),
            (LATER, true),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = made(&store, &world, &agent, true);
            have(&mut desk, &[KEPT, SECOND].concat());
            leave(desk);
            next_day(&world);
            let mut desk = connected(&store, &world, &agent, Some(list));
            let asked = ask_load(&mut desk, "load", "s1");
            let has_compared = asked.asked("session/load").is_some();
            let out = oblige(&mut desk, asked, KEPT, "fresh");
            let expected = if is_gone { lines(&[KEPT]) } else { lines(&[KEPT, SECOND]) };
            assert_eq!(said(&out.client), expected, "{list}, {agent}, compared: {has_compared}");
            leave(desk);
        }
    }
}
