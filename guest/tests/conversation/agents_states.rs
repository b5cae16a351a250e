//! What an agent's own list says is being done in sessions, of which windows here come and go (draft: session list extensions,
//! `state`).

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::agents_changes::{followed, stated, subscription, tell, tells_changes};
use crate::desk::{Desk, World};
use crate::follower::{SOON, members, one, state, subscribe, told, window};
use crate::scenes::{CWD, LONG, answers, ask_prompt, leave, load, oblige, row};

const HI: &[(&str, &str)] = &[("Hi", "Ho")];
const LONG_AGO: &str = "2025-01-01T00:00:00Z";

/// A session `s1` of one turn, of which nothing is open any more.
fn spoken(store: &Memory, world: &World) {
    let mut desk = window(store, world);
    desk.new_session("s1", CWD);
    desk.turn("s1", "Hi", &["Ho"]);
    leave(desk);
}

/// The client closes the session.
fn close(desk: &mut Desk<'_>) {
    let out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
    assert!(oblige(desk, out, &[], "never").answer("close")["error"].is_null());
}

#[test]
fn what_an_agent_says_stays_where_windows_only_open_the_session_and_close_it() {
    for said in ["running", "requires_action", "idle"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        spoken(&store, &world);
        let mut desk = followed(&store, &world, &[stated("s1", said)]);
        let (ours, page) = subscribe(&mut desk, json!({}));
        assert_eq!(members(&page, "state"), one("s1", said));
        let stays = |desk: &mut Desk<'_>, what: &str| {
            let states: Vec<Value> =
                members(&told(&desk.wait(SOON), &ours).0, "state").into_iter().map(|of| of.1).collect();
            assert!(states.iter().all(|state| *state == said), "{said}, {what}: {states:?}");
            assert_eq!(state(desk, "s1"), said, "{what}");
        };
        for ends in ["closed", "left", "killed"] {
            let mut other = window(&store, &world);
            load(&mut other, "s1", HI).answer("load");
            other.wait(LONG);
            stays(&mut desk, "opened");
            match ends {
                "closed" => close(&mut other),
                "left" => leave(other),
                _ => drop(other),
            }
            for _ in 0..20 {
                stays(&mut desk, ends);
            }
        }
        // The same in the agent's own window.
        load(&mut desk, "s1", HI).answer("load");
        stays(&mut desk, "opened here");
        close(&mut desk);
        stays(&mut desk, "closed here");
    }
}

#[test]
fn what_an_agent_says_while_a_window_has_the_session_open_stays_when_that_closes_it() {
    for ends in ["closed", "left", "killed"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        spoken(&store, &world);
        let mut other = window(&store, &world);
        load(&mut other, "s1", HI).answer("load");
        let mut desk = followed(&store, &world, &[stated("s1", "running")]);
        assert_eq!(state(&mut desk, "s1"), "running");
        match ends {
            "closed" => close(&mut other),
            "left" => leave(other),
            _ => drop(other),
        }
        for _ in 0..20 {
            desk.wait(SOON);
            assert_eq!(state(&mut desk, "s1"), "running", "{ends}");
        }
    }
}

/// When a window opens a session in which the agent says that another program is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opens {
    Before,
    After,
}

#[test]
fn a_turn_here_ends_what_the_agent_has_said_also_where_its_window_has_gone_since() {
    for opens in [Opens::Before, Opens::After] {
        for (ends, left) in
            [("open", json!("idle")), ("closed", Value::Null), ("left", Value::Null), ("killed", Value::Null)]
        {
            let (store, world) = (Memory::new(), World::unrecorded());
            spoken(&store, &world);
            let mut other = window(&store, &world);
            if opens == Opens::Before {
                load(&mut other, "s1", HI).answer("load");
            }
            let mut desk = followed(&store, &world, &[stated("s1", "running")]);
            let (ours, _) = subscribe(&mut desk, json!({}));
            if opens == Opens::After {
                load(&mut other, "s1", HI).answer("load");
            }
            ask_prompt(&mut other, "turn", "s1", "Go");
            if ends != "killed" {
                other.agent(answers("turn"));
            }
            match ends {
                "open" => {}
                "closed" => close(&mut other),
                "left" => leave(other),
                _ => drop(other),
            }
            // Nobody has looked meanwhile.
            let waits = if ends == "killed" { 11 } else { 1 };
            let rows: Vec<Value> = (0..waits).flat_map(|_| told(&desk.wait(SOON), &ours).0).collect();
            let last = members(&rows, "state").pop();
            assert_eq!(last, Some(("s1".to_owned(), left.clone())), "{opens:?} {ends}");
            assert_eq!(state(&mut desk, "s1"), left, "{opens:?} {ends}");
            // It is said again.
            tell(&mut desk, "theirs", &[stated("s1", "running")], &[]);
            assert_eq!(state(&mut desk, "s1"), "running", "{opens:?} {ends}");
        }
    }
}

#[test]
fn an_agent_that_does_not_have_a_session_any_more_says_nothing_of_it() {
    for goes in ["removed", "not in its list", "not in the list of the agent that was started again"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        spoken(&store, &world);
        let mut desk = followed(&store, &world, &[stated("s1", "running"), row("s2", "Other", LONG_AGO)]);
        assert_eq!(state(&mut desk, "s1"), "running");
        let rows = [row("s2", "Other", LONG_AGO)];
        desk.wait(SOON);
        match goes {
            "removed" => drop(tell(&mut desk, "theirs", &[], &["s1"])),
            "not in its list" => {
                desk.wait(60_000);
                let resync = json!({"method": "session/list/resync", "params": {"subscriptionId": "theirs"}});
                let mut out = desk.agent(resync);
                out.extend(desk.wait(SOON));
                desk.reply(&out.request("session/list"), json!({"sessions": rows}));
            }
            _ => {
                let out = desk.revive(&tells_changes());
                subscription(&mut desk, &out, "others", &rows);
            }
        }
        desk.wait(SOON);
        desk.wait(60_000);
        assert_eq!(state(&mut desk, "s1"), Value::Null, "{goes}");
    }
}
