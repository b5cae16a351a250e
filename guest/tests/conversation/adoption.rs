//! Sessions that the agent has from before: their history is taken over once, whole or not at all.

use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World};
use crate::scenes::{
    CWD, Turns, account, ask_load, ask_prompt, ask_resume, leave, lines, listing, load, mark, oblige, replay, row, said,
};

const OLD: Turns<'static> = &[("Old question", "Old answer"), ("Older question", "Older answer")];
const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn rows() -> Vec<Value> {
    vec![row("o1", "Old", LONG_AGO)]
}

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})
}

#[test]
fn an_agents_session_that_was_resumed_is_shown_when_it_is_loaded() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, OLD, "never").answer("resume");
    let out = ask_load(&mut desk, "load", "o1");
    assert_eq!(out.request("session/load")["params"]["sessionId"], "o1");
    let out = oblige(&mut desk, out, OLD, "never");
    out.answer("load");
    assert_eq!(out.client.last().unwrap()["id"], "load", "the history ends before the answer");
    assert_eq!(said(&out.client), lines(&[OLD]));
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    assert_eq!(said(&load(&mut desk, "o1", OLD).client), lines(&[OLD]), "it is kept");
}

#[test]
fn a_fork_of_an_agents_session_has_its_history_fetched_first() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let mut desk = listing(&store, &world, "a", &capabilities, &rows());
    let params = json!({"sessionId": "o1", "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let out = oblige(&mut desk, out, OLD, "f1");
    let asked = out.agent.iter().filter_map(|message| message["method"].as_str());
    let asked: Vec<_> = asked.filter(|method| matches!(*method, "session/load" | "session/new")).collect();
    assert_eq!(asked, ["session/load", "session/new"]);
    assert_eq!(said(&out.client), [""; 0], "a fork is not shown what was said");
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(said(&load(&mut desk, &fork, OLD).client), lines(&[OLD]));
    let out = ask_prompt(&mut desk, "prompt", &fork, "Only here");
    assert!(account(&out).is_some_and(|text| text.contains("Older answer")));
    oblige(&mut desk, out, &[], "never");
    assert_eq!(said(&load(&mut desk, "o1", OLD).client), lines(&[OLD]), "the parent is as it was");
}

#[test]
fn an_interrupted_adoption_leaves_nothing_behind() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    ask_load(&mut desk, "load", "o1").request("session/load");
    replay(&mut desk, "o1", &OLD[..1]);
    desk.wait(300);
    drop(desk);
    for time in ["next", "after that"] {
        let mut desk = listing(&store, &world, "a", &loads(), &rows());
        assert_eq!(said(&load(&mut desk, "o1", OLD).client), lines(&[OLD]), "{time}");
    }
}

#[test]
fn two_windows_that_adopt_at_once_have_it_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = listing(&store, &world, "a", &loads(), &rows());
    let mut second = listing(&store, &world, "a", &loads(), &rows());
    let (mut one, mut two) = (ask_load(&mut first, "load", "o1"), ask_load(&mut second, "load", "o1"));
    let asked = (one.request("session/load"), two.request("session/load"));
    for at in 0..OLD.len() {
        one.extend(replay(&mut first, "o1", &OLD[at..=at]));
        one.extend(first.wait(300));
        two.extend(replay(&mut second, "o1", &OLD[at..=at]));
        two.extend(second.wait(300));
    }
    one.extend(first.reply(&asked.0, json!({})));
    two.extend(second.reply(&asked.1, json!({})));
    for out in [&one, &two] {
        assert!(out.answer("load")["error"].is_null());
        assert_eq!(said(&out.client), lines(&[OLD]));
    }
    let mut third = listing(&store, &world, "a", &loads(), &rows());
    assert_eq!(said(&load(&mut third, "o1", OLD).client), lines(&[OLD]));
}

#[test]
fn an_adoption_that_fails_does_not_cut_anothers() {
    let (store, world) = (Memory::new(), World::default());
    let unlisted = json!({"loadSession": true});
    let mut first = Desk::ready(&store, &world, &unlisted);
    let mut second = Desk::ready(&store, &world, &unlisted);
    let one = ask_load(&mut first, "load", "o1").request("session/load");
    let mut out = ask_load(&mut second, "load", "o1");
    let two = out.request("session/load");
    replay(&mut first, "o1", &OLD[..1]);
    first.wait(300);
    out.extend(replay(&mut second, "o1", &OLD[..1]));
    out.extend(second.wait(300));
    out.extend(replay(&mut second, "o1", &OLD[1..]));
    out.extend(second.reply(&two, json!({})));
    assert!(out.answer("load")["error"].is_null());
    assert_eq!(said(&out.client), lines(&[OLD]));
    first.refuse(&one, -32603);
    let mut third = Desk::ready(&store, &world, &unlisted);
    assert_eq!(said(&load(&mut third, "o1", OLD).client), lines(&[OLD]));
}

#[test]
fn an_adoption_over_a_store_that_fails_is_whole_or_not_at_all() {
    for nth in 0..40 {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = listing(&store, &world, "a", &loads(), &rows());
        store.fail(nth, 1, StorageError::Full);
        let out = ask_load(&mut desk, "load", "o1");
        let mut out = oblige(&mut desk, out, OLD, "never");
        out.extend(desk.wait(300));
        out.answer("load");
        let was_too_late = store.mend();
        drop(desk);
        for time in ["next", "after that"] {
            let mut desk = listing(&store, &world, "a", &loads(), &rows());
            assert_eq!(said(&load(&mut desk, "o1", OLD).client), lines(&[OLD]), "commit {nth} failed; {time}");
        }
        if was_too_late {
            return;
        }
    }
    panic!("an adoption takes more than 40 commits");
}

/// Another window has taken the one that loads for gone, and dropped what it had been told so far.
#[test]
fn nothing_is_left_of_an_adoption_in_which_a_window_that_was_taken_for_gone_is_killed() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    let asked = ask_load(&mut desk, "load", "o1").request("session/load");
    sweep_from_another(&store, &world);
    replay(&mut desk, "o1", OLD);
    // What it was told is written, and nothing after that.
    store.fail(1, usize::MAX, StorageError::Unavailable("it is being killed".to_owned()));
    desk.reply(&asked, json!({}));
    drop(desk);
    assert!(store.mend());
    sweep_from_another(&store, &world);
    let logs = store.log_names(None, 10).unwrap();
    assert!(logs.iter().all(|log| store.log_end(log).unwrap() == 0), "{logs:?}");
}

/// A minute later another window takes all others for gone, as where both were suspended and it was awake first.
fn sweep_from_another<S: Storage>(store: &S, world: &World) {
    world.now.set(world.now.get() + 60_000);
    let mut other = Desk::ready(store, world, &json!({}));
    for _ in 0..30 {
        other.wait(1000);
    }
    leave(other);
}

#[test]
fn a_history_of_which_another_window_has_dropped_the_beginning_is_not_taken_over() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    let asked = ask_load(&mut desk, "load", "o1").request("session/load");
    let long = "A long answer. ".repeat(30_000);
    let first = [("Old question", long.as_str())];
    replay(&mut desk, "o1", &first);
    sweep_from_another(&store, &world);
    replay(&mut desk, "o1", &OLD[1..]);
    let out = desk.reply(&asked, json!({}));
    assert_eq!(out.answer("load")["error"]["code"], -32603, "{}", out.answer("load"));
    let all = [&first, &OLD[1..]].concat();
    for time in ["again", "after that"] {
        assert_eq!(said(&load(&mut desk, "o1", &all).client), lines(&[&all]), "{time}");
        leave(desk);
        desk = listing(&store, &world, "a", &loads(), &rows());
    }
}

#[test]
fn a_replay_of_which_another_window_has_dropped_the_beginning_is_asked_for_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    load(&mut desk, "o1", OLD);
    leave(desk);
    let long = "A long answer. ".repeat(30_000);
    let new: Vec<_> = (0..12).map(|_| ("New question", long.as_str())).collect();
    let mut desk = listing(&store, &world, "a", &loads(), &[row("o1", "Old", "2025-10-10T00:00:00Z")]);
    let asked = ask_load(&mut desk, "load", "o1").request("session/load");
    replay(&mut desk, "o1", OLD);
    replay(&mut desk, "o1", &new);
    sweep_from_another(&store, &world);
    replay(&mut desk, "o1", &[("Last question", "Last answer")]);
    let again = desk.reply(&asked, json!({})).request("session/load");
    let all = [OLD, &new, &[("Last question", "Last answer")]].concat();
    replay(&mut desk, "o1", &all);
    let out = desk.reply(&again, json!({}));
    assert_eq!(said(&out.client), lines(&[&all]));
    assert!(mark(&out, "load").get("setAside").is_none(), "{}", out.answer("load"));
}

#[test]
fn the_answer_to_an_adopting_load_says_where_its_history_ends() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    let out = load(&mut desk, "o1", OLD);
    let cursor = mark(&out, "load")["cursor"].clone();
    assert!(cursor.is_string(), "{:?}", out.answer("load"));
    desk.turn("o1", "New question", &["New answer"]);
    let meta = json!({"acp-sessions": {"replay": {"after": cursor}}});
    let params = json!({"sessionId": "o1", "cwd": CWD, "mcpServers": [], "_meta": meta});
    let out = desk.client(json!({"id": "rest", "method": "session/load", "params": params}));
    let out = oblige(&mut desk, out, OLD, "never");
    out.answer("rest");
    assert_eq!(said(&out.client), lines(&[&[("New question", "New answer")]]));
}

#[test]
fn a_session_that_its_agent_only_lists_cannot_be_shown_and_nothing_else_is_claimed() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &rows());
    let out = load(&mut desk, "o1", &[]);
    let answer = out.answer("load");
    assert!(!answer.to_string().contains("\"rehydrate\":true"), "{answer}");
    let told = [&answer["error"]["message"], &answer["result"]["_meta"]["acp-sessions"]["notice"]];
    assert!(told.iter().any(|text| text.is_string()), "{answer}");
}

#[test]
fn an_adopted_session_outlives_the_sweeps_of_later_connections() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    let mut out: Out = load(&mut desk, "o1", OLD);
    out.extend(desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "o1"}})));
    drop(desk);
    for _ in 0..3 {
        let mut desk = listing(&store, &world, "a", &loads(), &rows());
        for _ in 0..10 {
            desk.wait(1000);
        }
        assert_eq!(desk.listed(), ["o1"]);
        assert_eq!(said(&load(&mut desk, "o1", OLD).client), lines(&[OLD]));
    }
}

#[test]
fn a_load_of_an_unknown_session_does_not_take_over_another_that_was_given_its_id_meanwhile() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = listing(&store, &world, "a", &loads(), &[]);
    let out = ask_load(&mut first, "load", "o1");
    // Another agent hands out the same id, and the list of the first tells of its own.
    let mut other = listing(&store, &world, "b", &loads(), &[]);
    other.new_session("o1", CWD);
    other.turn("o1", "Elsewhere", &["Something else"]);
    listing(&store, &world, "a", &loads(), &rows());
    let out = oblige(&mut first, out, OLD, "never");
    assert_eq!(out.answer("load")["error"]["code"], -32002);
    leave(first);
    leave(other);
    let mut desk = listing(&store, &world, "a", &loads(), &rows());
    let all = json!({"_meta": {"acp-sessions": {"agents": "all"}}});
    let listed = desk.ask("session/list", all)["result"]["sessions"].clone();
    let listed: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|row| row["sessionId"].as_str()).collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    let own = listed.iter().find(|id| **id != "o1").unwrap();
    assert_eq!(said(&load(&mut desk, own, OLD).client), lines(&[OLD]));
    assert_eq!(said(&load(&mut desk, "o1", &[]).client), lines(&[&[("Elsewhere", "Something else")]]));
}
