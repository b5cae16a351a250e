//! Agents whose list gives a later time for a session just because it was opened, or because their program has ended.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::follower::rows;
use crate::scenes::{Turns, ask_load, begun, converse, leave, lines, listing, load, mark, replay, row, said, told_all};

const FIX: (&str, &str) = ("fix the bug", "It is fixed.");
const STATUS: (&str, &str) = ("/status", "Model: one. 12% are used.");
const CLEAR: (&str, &str) = ("/clear", "");
const OUTSIDE: (&str, &str) = ("and now?", "Now all is done.");
const MINUTE: i64 = 60_000;
/// How long the agent takes to open a session, in milliseconds.
const OPENING: i64 = 1300;

/// A time as the agent's list gives it, in whole seconds.
fn listed_at(world_now: i64) -> String {
    // The world begins at 08:53:20.
    let seconds = 8 * 3600 + 53 * 60 + 20 + world_now / 1000;
    format!("2025-10-09T{:02}:{:02}:{:02}.000Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

struct Story {
    store: Memory,
    world: World,
    capabilities: Value,
    /// What the agent's list gives as the time of the session.
    listed: i64,
}

impl Story {
    /// A session `s1` in which these turns were had.
    fn had(capabilities: Value, turns: Turns<'_>) -> Self {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &capabilities, turns));
        Self { store, world, capabilities, listed: 0 }
    }

    fn now(&self) -> i64 {
        self.world.now.get()
    }

    /// Another program of the agent's, which lists the session, so long after that.
    fn later(&self, before: i64, behind: i64) -> Desk<'_> {
        self.world.now.set(self.now() + before);
        let desk =
            listing(&self.store, &self.world, "a", &self.capabilities, &[row("s1", "Fix", &listed_at(self.listed))]);
        self.world.now.set(self.now() + behind);
        desk
    }

    /// The agent opens what it was asked for, which moves its list's time.
    fn opens(&mut self, turns: Turns<'_>, behind_list: i64) -> (Vec<String>, Value) {
        let asked_at = self.now() + MINUTE + behind_list;
        let mut desk = self.later(MINUTE, behind_list);
        let mut out = ask_load(&mut desk, "load", "s1");
        if let Some(asked) = out.asked("session/load").cloned() {
            out.extend(replay(&mut desk, "s1", turns));
            out.extend(desk.wait(OPENING));
            out.extend(desk.reply(&asked, json!({})));
        } else {
            let asked = out.request("session/resume");
            out.extend(desk.wait(OPENING));
            out.extend(desk.reply(&asked, json!({})));
        }
        let out = told_all(&mut desk, out);
        leave(desk);
        self.listed = asked_at;
        (said(&out.client), mark(&out, "load")["setAside"].clone())
    }
}

fn loads() -> Value {
    json!({"loadSession": true})
}

#[test]
fn a_command_had_last_stays_though_its_agents_list_gives_the_time_at_which_it_was_loaded() {
    let mut story = Story::had(loads(), &[FIX, STATUS]);
    for time in ["first", "second", "third"] {
        assert_eq!(story.opens(&[FIX], 0), (lines(&[&[FIX, STATUS]]), Value::Null), "{time}");
    }
    // What is said elsewhere just then is not missed for that.
    for time in ["at once", "again"] {
        let stays = (lines(&[&[FIX, STATUS, OUTSIDE]]), Value::Null);
        assert_eq!(story.opens(&[FIX, OUTSIDE], 0), stays, "{time}");
    }
}

/// Claude Code goes on in another transcript behind `/clear`.
#[test]
fn what_was_said_behind_a_command_with_which_its_agent_tells_nothing_more_stays_as_it_does() {
    for behind in [&[CLEAR][..], &[CLEAR, OUTSIDE], &[CLEAR, OUTSIDE, ("and then?", "Then nothing.")]] {
        let all = [&[FIX], behind].concat();
        for ends in [false, true] {
            let lists = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
            let mut story = Story::had(lists, &all);
            for time in ["first", "second", "third"] {
                if ends {
                    story.listed = story.now() + 4321;
                }
                assert_eq!(story.opens(&[FIX], 0), (lines(&[&all]), Value::Null), "{behind:?}, {ends}, {time}");
            }
            // Whoever goes back to before it does that later.
            story.listed = story.now() + MINUTE / 2;
            let (shown, set_aside) = story.opens(&[FIX], 0);
            assert_eq!(shown, lines(&[&[FIX]]), "{behind:?}");
            assert!(set_aside.as_u64() > Some(0));
        }
    }
}

#[test]
fn a_command_had_last_stays_though_its_agents_list_gives_the_time_at_which_it_was_resumed() {
    let mut story = Story::had(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}), &[FIX, STATUS]);
    let stays = (lines(&[&[FIX, STATUS]]), Value::Null);
    assert_eq!(story.opens(&[FIX], 0), stays, "loaded");
    // Its list says nothing new, so it is resumed.
    story.listed = 0;
    assert_eq!(story.opens(&[FIX], 0), stays, "resumed");
    assert_eq!(story.opens(&[FIX], 0), stays, "loaded again");
}

#[test]
fn a_command_had_last_stays_though_its_agents_list_gives_the_time_at_which_its_program_ended() {
    let lists = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let mut story = Story::had(lists, &[FIX, STATUS]);
    for time in ["first", "second", "third"] {
        story.listed = story.now() + 4321;
        assert_eq!(story.opens(&[FIX], 0), (lines(&[&[FIX, STATUS]]), Value::Null), "{time}");
    }
    // What was done there once it had ended moves it further.
    story.listed = story.now() + MINUTE / 2;
    let (shown, set_aside) = story.opens(&[FIX], 0);
    assert_eq!(shown, lines(&[&[FIX]]));
    assert!(set_aside.as_u64() > Some(0));
}

/// How the window or the agent of a session ended.
#[derive(Debug, Clone, Copy)]
enum Ended {
    /// The agent ended by itself, and was not started again.
    AgentFirst,
    /// The window was killed.
    Killed,
    /// The agent ended by itself, and was started again.
    AgentAlone,
}

#[test]
fn a_command_had_last_stays_however_its_agents_program_came_to_its_end() {
    for ended in [Ended::AgentFirst, Ended::Killed, Ended::AgentAlone] {
        let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &capabilities, &[FIX, STATUS]);
        desk.wait_awake(4000);
        // What the program writes at its end comes a moment before, or behind that.
        let mut listed = world.now.get();
        match ended {
            Ended::AgentFirst => {
                world.now.set(world.now.get() + 200);
                desk.engine.peer_closed(Peer::Agent);
                desk.pull();
                leave(desk);
            }
            Ended::Killed => {
                listed += 1000;
                drop(desk);
            }
            Ended::AgentAlone => {
                world.now.set(world.now.get() + 200);
                desk.revive(&capabilities);
                desk.wait_awake(MINUTE);
                leave(desk);
            }
        }
        let mut had = Story { store, world, capabilities, listed };
        assert_eq!(had.opens(&[FIX], 0), (lines(&[&[FIX, STATUS]]), Value::Null), "{ended:?}");
    }
}

#[test]
fn a_command_had_last_stays_though_its_agent_has_let_go_of_the_session_again_since_its_list_gave_the_time() {
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let mut story = Story::had(capabilities, &[FIX, STATUS]);
    let listed = story.now() + 1000;
    for _ in 0..3 {
        let mut desk = story.later(MINUTE, 0);
        load(&mut desk, "s1", &[FIX]);
        leave(desk);
    }
    story.listed = listed;
    for time in ["first", "second"] {
        assert_eq!(story.opens(&[FIX], 0), (lines(&[&[FIX, STATUS]]), Value::Null), "{time}");
        story.listed = listed;
    }
}

#[test]
fn what_its_user_went_back_behind_is_set_aside_though_it_was_loaded_before() {
    let mut story = Story::had(loads(), &[FIX, STATUS]);
    assert_eq!(story.opens(&[FIX], 0), (lines(&[&[FIX, STATUS]]), Value::Null));
    // Something was done there since.
    story.listed = story.now() + MINUTE / 2;
    let (shown, set_aside) = story.opens(&[FIX], 0);
    assert_eq!(shown, lines(&[&[FIX]]));
    assert!(set_aside.as_u64() > Some(0));
}

#[test]
fn an_opening_hides_nothing_that_was_done_since_the_list_was_read() {
    let mut story = Story::had(loads(), &[FIX, STATUS]);
    // The list was read long before: what its user does there meanwhile nobody can know before the next reading.
    assert_eq!(story.opens(&[FIX], 10 * MINUTE), (lines(&[&[FIX, STATUS]]), Value::Null));
    assert_eq!(story.opens(&[FIX], 0).0, lines(&[&[FIX]]));
}

#[test]
fn a_session_that_was_only_opened_is_listed_by_its_last_prompt() {
    let mut story = Story::had(loads(), &[FIX, STATUS]);
    for _ in 0..2 {
        story.opens(&[FIX], 0);
    }
    let mut desk = story.later(2 * MINUTE, 0);
    assert_eq!(rows(&mut desk)[0]["lastPromptAt"], "2025-10-09T08:53:20.000Z");
    leave(desk);
}

/// A turn is had here, once the agent has loaded the session.
fn goes_on(story: &mut Story) {
    let mut desk = story.later(MINUTE, 0);
    let out = ask_load(&mut desk, "load", "s1");
    replay(&mut desk, "s1", &[FIX]);
    desk.reply(&out.request("session/load"), json!({}));
    converse(&mut desk, "s1", &[OUTSIDE]);
    leave(desk);
    story.listed = story.now();
}

#[test]
fn what_is_said_here_behind_an_opening_counts_as_ever() {
    let mut story = Story::had(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}), &[FIX, STATUS]);
    story.opens(&[FIX], 0);
    goes_on(&mut story);
    let shown = lines(&[&[FIX, STATUS, OUTSIDE]]);
    assert_eq!(story.opens(&[FIX, OUTSIDE], 0), (shown.clone(), Value::Null));
    assert_eq!(story.opens(&[FIX, OUTSIDE], 0), (shown, Value::Null));
}
