//! Sessions that went on, or ended, without the layer: what the agent has and what the log holds become one.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, ask_load, ask_prompt, ask_resume, begun, converse, leave, lines, listing, load, mark,
    oblige, replay, row, said, told, told_all,
};

const OLD: Turns<'static> = &[("Old question", "Old answer")];
const NEW: Turns<'static> = &[("New question", "New answer")];
const OUTSIDE: Turns<'static> = &[("Outside question", "Outside answer")];
const LONG_AGO: &str = "2025-01-01T00:00:00Z";
/// Later than anything that [`told`] says, and before [`two_days_later`].
const LATER: &str = "2025-10-10T00:00:00Z";
const DAY: i64 = 86_400_000;

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})
}

fn two_days_later(world: &World) {
    world.now.set(world.now.get() + 2 * DAY);
}

/// The rows of a list, whole.
fn rows(desk: &mut Desk<'_>) -> Vec<Value> {
    desk.ask("session/list", json!({}))["result"]["sessions"].as_array().unwrap().clone()
}

/// All these turns, as an agent would replay them.
fn all(parts: &[Turns<'static>]) -> Vec<(&'static str, &'static str)> {
    parts.iter().copied().flatten().copied().collect()
}

#[test]
fn what_the_agent_had_from_before_comes_before_what_was_said_since() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &[row("o1", "Old", LONG_AGO)]);
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, OLD, "never").answer("resume");
    desk.turn("o1", NEW[0].0, &[NEW[0].1]);
    desk.engine.peer_closed(Peer::Client);
    let listed = row("o1", "Old", "2025-10-09T08:53:20Z");
    for time in ["next", "after that"] {
        let mut desk = listing(&store, &world, "a", &loads(), std::slice::from_ref(&listed));
        let out = load(&mut desk, "o1", &all(&[OLD, NEW]));
        assert_eq!(said(&out.client), lines(&[OLD, NEW]), "{time}");
    }
}

#[test]
fn the_list_follows_the_agents_own_but_for_a_title_that_the_user_gave() {
    for renamed in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &loads());
        if renamed {
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.ask("session/set_title", json!({"sessionId": id, "title": "Mine"}));
        }
        two_days_later(&world);
        let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "Better title", LATER)]);
        let rows = rows(&mut desk);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["title"], if renamed { "Mine" } else { "Better title" });
        assert!(rows[0]["updatedAt"].as_str().unwrap().starts_with("2025-10-10T00:00:00"), "{}", rows[0]);
    }
}

#[test]
fn a_session_that_went_on_outside_is_loaded_from_the_agent_and_shown_whole() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let listed = [row("s1", "Better title", LATER)];
    let has = all(&[TOLD, OUTSIDE]);
    for time in ["next", "after that"] {
        let mut desk = listing(&store, &world, "a", &loads(), &listed);
        let out = ask_load(&mut desk, "load", &id);
        assert!(time != "next" || out.asked("session/load").is_some(), "{:?}", out.agent);
        let out = oblige(&mut desk, out, &has, "never");
        assert!(out.answer("load")["error"].is_null());
        assert_eq!(said(&out.client), lines(&[TOLD, OUTSIDE]), "{time}");
    }
}

#[test]
fn a_session_that_went_on_outside_is_shown_whole_though_the_agent_tells_what_was_said_here_in_other_words() {
    const OTHERWISE: Turns<'static> = &[(TOLD[0].0, "A first one"), (TOLD[1].0, "A second one")];
    for (replay, shown) in [
        (all(&[OTHERWISE, OUTSIDE]), lines(&[OTHERWISE, OUTSIDE])),
        // Other words alone are no sign that it went on.
        (all(&[OTHERWISE]), lines(&[TOLD])),
        // Nor is a summary, or the end only.
        (all(&[&[("Summary", "")], &OTHERWISE[1..]]), lines(&[TOLD])),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let id = told(&store, &world, &json!({"loadSession": true}));
        two_days_later(&world);
        for time in ["next", "after that"] {
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            let out = load(&mut desk, &id, &replay);
            assert_eq!(said(&out.client), shown, "{time}");
            leave(desk);
        }
    }
}

#[test]
fn a_list_without_times_does_not_hide_what_was_said_outside() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let listed = [json!({"sessionId": "s1", "cwd": CWD})];
    for parts in [&[TOLD][..], &[TOLD, OUTSIDE], &[TOLD, OUTSIDE], &[TOLD, OUTSIDE, NEW]] {
        let mut desk = listing(&store, &world, "a", &loads(), &listed);
        let out = load(&mut desk, &id, &all(parts));
        assert_eq!(said(&out.client), lines(parts));
        leave(desk);
    }
}

#[test]
fn a_session_that_went_on_outside_and_then_here_keeps_the_order_of_what_was_said() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let listed = [row("s1", "Better title", LATER)];
    let mut desk = listing(&store, &world, "a", &loads(), &listed);
    load(&mut desk, &id, &all(&[TOLD, OUTSIDE]));
    desk.turn(&id, NEW[0].0, &[NEW[0].1]);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = listing(&store, &world, "a", &loads(), &listed);
    let out = load(&mut desk, &id, &all(&[TOLD, OUTSIDE, NEW]));
    assert_eq!(said(&out.client), lines(&[TOLD, OUTSIDE, NEW]));
}

#[test]
fn what_was_said_outside_while_a_session_went_on_here_without_it_is_found_later() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    // Nobody asks the agent what it has: the session is resumed, and goes on.
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "Better title", LATER)]);
    let out = ask_resume(&mut desk, "resume", &id);
    oblige(&mut desk, out, &all(&[TOLD, OUTSIDE]), "never").answer("resume");
    desk.turn(&id, NEW[0].0, &[NEW[0].1]);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "Better title", "2025-10-11T08:53:20Z")]);
    let out = load(&mut desk, &id, &all(&[TOLD, OUTSIDE, NEW]));
    assert_eq!(said(&out.client), lines(&[TOLD, OUTSIDE, NEW]));
}

#[test]
fn a_session_that_vanished_at_the_agent_stays_with_its_history_and_is_rehydrated() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    drop(listing(&store, &world, "a", &loads(), &[row("s1", "First question", LONG_AGO)]));
    let mut desk = listing(&store, &world, "a", &loads(), &[]);
    assert_eq!(desk.listed(), [id.as_str()]);
    let mut out = ask_load(&mut desk, "load", &id);
    while let Some(asked) =
        out.agent.iter().find(|asked| matches!(asked["method"].as_str(), Some("session/load" | "session/resume")))
    {
        let asked = asked.clone();
        out.agent.clear();
        out.extend(desk.refuse(&asked, -32002));
    }
    let out = oblige(&mut desk, out, &[], "s2");
    assert_eq!(mark(&out, "load")["attached"], "new");
    assert_eq!(said(&out.client), lines(&[TOLD]));
    let out = ask_prompt(&mut desk, "prompt", &id, "Third");
    assert!(account(&out).is_some_and(|text| text.contains("Second answer")));
}

#[test]
fn a_session_that_vanished_at_the_agent_and_has_no_history_here_goes_from_the_list() {
    let (store, world) = (Memory::new(), World::default());
    let both = [row("o1", "One", LONG_AGO), row("o2", "Two", LONG_AGO)];
    assert_eq!(listing(&store, &world, "a", &loads(), &both).listed().len(), 2);
    let mut desk = listing(&store, &world, "a", &loads(), &both[1..]);
    assert_eq!(desk.listed(), ["o2"]);
    let mut desk = listing(&store, &world, "a", &loads(), &both);
    assert_eq!(desk.listed().len(), 2, "nobody deleted it here: the agent may bring it back");
}

#[test]
fn a_list_that_is_not_complete_takes_nothing_away() {
    let (store, world) = (Memory::new(), World::default());
    let both = [row("o1", "One", LONG_AGO), row("o2", "Two", LONG_AGO)];
    listing(&store, &world, "a", &loads(), &both);
    for fails in [false, true] {
        let mut desk = Desk::open(&store, &world, &[]);
        let out = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}}}));
        let out = desk.reply(&out.request("session/list"), json!({"sessions": [both[0]], "nextCursor": "2"}));
        let next = out.request("session/list");
        if fails {
            desk.refuse(&next, -32603);
        }
        desk.wait(2000);
        assert_eq!(desk.listed().len(), 2);
    }
}

#[test]
fn an_agents_session_that_it_no_longer_has_is_not_replaced_by_an_empty_one() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &[row("o1", "One", LONG_AGO)]);
    let mut out = ask_load(&mut desk, "load", "o1");
    while let Some(asked) = out.agent.pop() {
        assert_ne!(asked["method"], "session/new");
        out.extend(desk.refuse(&asked, -32002));
    }
    assert_eq!(out.answer("load")["error"]["code"], -32002);
    assert!(desk.listed().is_empty());
}

#[test]
fn a_list_that_comes_while_the_agent_loads_is_evidence_too() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let mut desk = Desk::open(&store, &world, &[]);
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let list = desk.greet(Some("a"), &capabilities).request("session/list");
    let asked = ask_load(&mut desk, "load", &id);
    desk.reply(&list, json!({"sessions": [row("s1", "First question", LATER)]}));
    assert_eq!(said(&oblige(&mut desk, asked, &TOLD[..1], "never").client), lines(&[&TOLD[..1]]));
}

#[test]
fn a_turn_does_not_hide_what_was_said_outside_before_it_where_nobody_could_look() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    // Somebody goes on without the layer, and then with a program of the agent's that neither lists nor loads.
    two_days_later(&world);
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    load(&mut desk, &id, &[]).answer("load");
    turn_of_two_seconds(&mut desk, NEW[0].0, NEW[0].1);
    desk.engine.peer_closed(Peer::Client);
    // The one time that the list tells is that of the turn.
    let listed = row("s1", "Title", "2025-10-11T08:53:21Z");
    for time in ["next", "after that"] {
        let mut desk = listing(&store, &world, "a", &loads(), std::slice::from_ref(&listed));
        let out = load(&mut desk, &id, &all(&[TOLD, OUTSIDE, NEW]));
        assert_eq!(said(&out.client), lines(&[TOLD, OUTSIDE, NEW]), "{time}");
    }
}

#[test]
fn what_is_said_since_an_agent_was_asked_for_its_history_does_not_contradict_it() {
    let (store, world) = (Memory::new(), World::default());
    let lists = || listing(&store, &world, "a", &json!({"loadSession": true}), &[row("o1", "Old", LONG_AGO)]);
    let mut slow = lists();
    let asked = ask_load(&mut slow, "load", "o1").request("session/load");
    replay(&mut slow, "o1", OLD);
    // The agent has lost it meanwhile, and goes on in another window.
    let mut desk = lists();
    load(&mut desk, "o1", &[]);
    desk.turn("o1", "New question", &["New answer"]);
    leave(desk);
    slow.reply(&asked, json!({})).answer("load");
    leave(slow);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, "o1", &[]);
    assert_eq!(said(&out.client), lines(&[OLD, NEW]));
    assert!(mark(&out, "load")["setAside"].is_null());
}

#[test]
fn what_an_agent_says_in_a_turn_during_which_its_session_was_changed_outside_is_there_once() {
    let (went_on, last) = (("Outside question", "Outside answer. The end."), ("First question", "The end."));
    let first = ("First question", "");
    let cases: [(&str, Turns<'_>, Turns<'_>); 3] = [
        // The session went on outside in the midst of the answer, or before it.
        ("Well. ", &[first, ("Question", "Well. "), went_on], &[first, ("Question", "Well. "), went_on]),
        ("", &[first, ("Question", ""), went_on], &[first, ("Question", ""), went_on]),
        // The prompt was taken back. Nothing else tells that anything was, and all that the agent has is here.
        ("", &[last], &[first, ("Question", "The end.")]),
    ];
    for (beginning, has, whole) in cases {
        for is_cut_off in [true, false] {
            let (store, world) = (Memory::new(), World::default());
            let capabilities = json!({"loadSession": true});
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let id = desk.new_session("s1", CWD);
            desk.turn(&id, "First question", &[]);
            ask_prompt(&mut desk, "turn", &id, "Question");
            for text in [beginning, "The end."] {
                desk.agent(update("s1", chunk("agent_message_chunk", text)));
            }
            if !is_cut_off {
                desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
            }
            leave(desk);
            for time in ["next", "after that"] {
                let mut desk = Desk::ready(&store, &world, &capabilities);
                let said = said(&load(&mut desk, &id, has).client);
                let words = |lines: Vec<String>| lines.concat().replace("> ", "");
                assert_eq!(words(said), words(lines(&[whole])), "{time}, {has:?}, cut off: {is_cut_off}");
                leave(desk);
            }
        }
    }
}

#[test]
fn a_prompt_that_a_program_of_the_agents_has_refused_is_kept_though_the_agent_does_not_tell_it() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let id = desk.new_session("s1", CWD);
    // One that has no such session.
    let mut other = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    load(&mut other, &id, &[]).answer("load");
    let asked = ask_prompt(&mut other, "refused", &id, "Refused").request("session/prompt");
    other.refuse(&asked, -32002).answer("refused");
    leave(other);
    // The client does not wait for the end of a turn, and the agent joins what it was asked.
    let first = ask_prompt(&mut desk, "first", &id, "First ").request("session/prompt");
    let second = ask_prompt(&mut desk, "second", &id, "second").request("session/prompt");
    for asked in [first, second] {
        desk.reply(&asked, json!({"stopReason": "end_turn"}));
    }
    leave(desk);
    for time in ["next", "after that"] {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let mut out = ask_load(&mut desk, "load", &id);
        if let Some(asked) = out.asked("session/load").cloned() {
            out.extend(desk.agent(update("s1", chunk("user_message_chunk", "First second"))));
            out.extend(desk.reply(&asked, json!({})));
        }
        let out = told_all(&mut desk, out);
        assert_eq!(said(&out.client), ["> RefusedFirst second"], "{time}");
        assert!(mark(&out, "load")["setAside"].is_null(), "{time}");
        leave(desk);
    }
}

#[test]
fn what_is_said_since_an_agent_was_asked_for_its_history_is_known_again_where_it_joins_it_with_a_prompt_before() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let id = desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", &id, "First ");
    leave(desk);
    let mut slow = Desk::ready(&store, &world, &capabilities);
    let late = ask_load(&mut slow, "load", &id).request("session/load");
    let user = |text: &str| update("s1", chunk("user_message_chunk", text));
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let asked = ask_load(&mut desk, "load", &id).request("session/load");
    desk.agent(user("First "));
    let out = desk.reply(&asked, json!({}));
    told_all(&mut desk, out);
    desk.turn(&id, "Second", &["Answer"]);
    leave(desk);
    for told in [user("First "), user("Second"), update("s1", chunk("agent_message_chunk", "Answer"))] {
        slow.agent(told);
    }
    let out = slow.reply(&late, json!({}));
    assert_eq!(said(&out.client), ["> First Second", "Answer"]);
    assert!(mark(&out, "load")["setAside"].is_null());
}

#[test]
fn a_prompt_without_an_answer_stays_before_the_next_though_the_session_went_on_outside_before_both() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &loads());
    desk.new_session("s1", CWD);
    desk.turn("s1", TOLD[0].0, &[TOLD[0].1]);
    desk.turn("s1", "Never mind. ", &[]);
    let answer = "An answer that tells the turn whatever its prompt is said to have been";
    desk.turn("s1", "Another question", &[answer]);
    leave(desk);
    let joined = ("Never mind. Another question", answer);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads());
        let out = load(&mut desk, "s1", &[TOLD[0], OUTSIDE[0], joined]);
        assert_eq!(said(&out.client), lines(&[&TOLD[..1], OUTSIDE, &[joined]]), "{time}");
        leave(desk);
    }
}

#[test]
fn a_turn_is_not_taken_back_by_a_list_that_was_read_before_it_when_a_replay_tells_a_part_only() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let mut desk = listing(&store, &world, "a", &loads, &[row("o1", "One", "2025-01-01T00:00:00Z")]);
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, &[], "fresh").answer("resume");
    desk.turn("o1", "New question", &["New answer"]);
    let asked = ask_load(&mut desk, "load", "o1").request("session/load");
    replay(&mut desk, "o1", &[("Old question", "Old answer")]);
    let out = desk.reply(&asked, json!({}));
    assert_eq!(said(&out.client), ["> Old question", "Old answer", "> New question", "New answer"]);
    assert!(mark(&out, "load")["setAside"].is_null());
}

#[test]
fn a_prompt_that_was_cancelled_before_the_agent_said_anything_stays_though_the_session_went_on_outside() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &loads());
    let mut desk = Desk::ready(&store, &world, &loads());
    let out = ask_resume(&mut desk, "resume", "s1");
    oblige(&mut desk, out, &[], "fresh").answer("resume");
    let asked = ask_prompt(&mut desk, "prompt", "s1", "Never mind").request("session/prompt");
    desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    desk.reply(&asked, json!({"stopReason": "cancelled"})).answer("prompt");
    leave(desk);
    two_days_later(&world);
    for time in ["once", "again"] {
        let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)]);
        let out = load(&mut desk, "s1", TOLD);
        let mut whole = lines(&[TOLD]);
        whole.push("> Never mind".to_owned());
        assert_eq!(said(&out.client), whole, "{time}");
        assert!(mark(&out, "load")["setAside"].is_null(), "{time}");
        leave(desk);
    }
}

/// What an agent has that has to be asked to load a session, and one that can resume it without telling anything.
fn both_ways() -> [Value; 2] {
    [json!({"loadSession": true}), loads()]
}

/// A turn of `s1` that takes two seconds.
fn turn_of_two_seconds(desk: &mut Desk<'_>, user: &str, agent: &str) {
    ask_prompt(desk, "turn", "s1", user);
    desk.agent(update("s1", chunk("agent_message_chunk", agent)));
    desk.wait(2000);
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
}

fn close(desk: &mut Desk<'_>, id: &str) {
    assert!(desk.ask("session/close", json!({ "sessionId": id }))["error"].is_null());
}

#[test]
fn what_was_said_outside_since_the_agents_list_was_read_is_shown_by_a_load_in_the_same_process() {
    for capabilities in both_ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let id = told(&store, &world, &capabilities);
        two_days_later(&world);
        let mut desk = listing(&store, &world, "a", &capabilities, &[row("s1", "One", LATER)]);
        assert_eq!(said(&load(&mut desk, &id, TOLD).client), lines(&[TOLD]));
        close(&mut desk, &id);
        // Nobody has listed since.
        world.now.set(world.now.get() + 30_000);
        let has = all(&[TOLD, OUTSIDE]);
        let out = ask_load(&mut desk, "load", &id);
        assert!(out.asked("session/load").is_some(), "{:?}", out.agent);
        assert_eq!(said(&oblige(&mut desk, out, &has, "never").client), lines(&[TOLD, OUTSIDE]), "{capabilities}");
        close(&mut desk, &id);
        // What its replay tells is compared each time, as long as no newer list says that it need not be.
        let has = all(&[TOLD, OUTSIDE, NEW]);
        assert_eq!(said(&load(&mut desk, &id, &has).client), lines(&[TOLD, OUTSIDE, NEW]), "{capabilities}");
    }
}

#[test]
fn a_list_that_was_read_a_moment_ago_says_whether_anything_was_said_outside() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)]);
    load(&mut desk, &id, TOLD);
    close(&mut desk, &id);
    let out = ask_load(&mut desk, "load", &id);
    assert!(out.asked("session/resume").is_some() && out.asked("session/load").is_none(), "{:?}", out.agent);
    assert_eq!(said(&oblige(&mut desk, out, &[], "never").client), lines(&[TOLD]));
}

#[test]
fn a_turn_does_not_hide_what_was_said_outside_before_its_session_was_resumed() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)]);
    load(&mut desk, &id, TOLD);
    close(&mut desk, &id);
    // It is gone on with outside, which the list that was read does not know.
    world.now.set(world.now.get() + 30_000);
    let out = ask_resume(&mut desk, "resume", &id);
    assert!(out.asked("session/resume").is_some(), "{:?}", out.agent);
    oblige(&mut desk, out, &[], "never").answer("resume");
    turn_of_two_seconds(&mut desk, NEW[0].0, NEW[0].1);
    leave(desk);
    // The one time that the list tells is that of the turn.
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", "2025-10-11T08:53:51Z")]);
    let out = load(&mut desk, &id, &all(&[TOLD, OUTSIDE, NEW]));
    assert_eq!(said(&out.client), lines(&[TOLD, OUTSIDE, NEW]));
}

#[test]
fn a_turn_does_not_hide_what_was_said_outside_while_its_session_was_open() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = told(&store, &world, &loads());
    two_days_later(&world);
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", LATER)]);
    load(&mut desk, &id, TOLD);
    // It is gone on with outside, as the list says that another window reads.
    world.now.set(world.now.get() + 30_000);
    leave(listing(&store, &world, "a", &loads(), &[row("s1", "One", "2025-10-11T08:53:40Z")]));
    for (user, agent) in [NEW[0], ("One more", "Its answer")] {
        turn_of_two_seconds(&mut desk, user, agent);
    }
    leave(desk);
    // The one time that the list tells is that of the last turn.
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", "2025-10-11T08:53:53Z")]);
    let has = all(&[TOLD, OUTSIDE, NEW, &[("One more", "Its answer")]]);
    assert_eq!(said(&load(&mut desk, &id, &has).client), lines(&[&has]));
    leave(desk);
    // It is compared once.
    let mut desk = listing(&store, &world, "a", &loads(), &[row("s1", "One", "2025-10-11T08:53:53Z")]);
    let out = ask_load(&mut desk, "load", &id);
    assert!(out.asked("session/load").is_none(), "{:?}", out.agent);
}

#[test]
fn what_was_said_outside_between_two_turns_of_an_open_window_is_shown_by_the_next_load() {
    for capabilities in both_ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = listing(&store, &world, "a", &capabilities, &[]);
        desk.new_session("s1", CWD);
        converse(&mut desk, "s1", TOLD);
        // Nobody reads the list in between, and the one time that it tells then is that of the last turn.
        world.now.set(world.now.get() + 30_000);
        turn_of_two_seconds(&mut desk, NEW[0].0, NEW[0].1);
        leave(desk);
        let rows = [row("s1", "One", "2025-10-09T08:53:51Z")];
        let has = all(&[TOLD, OUTSIDE, NEW]);
        let mut desk = listing(&store, &world, "a", &capabilities, &rows);
        assert_eq!(said(&load(&mut desk, "s1", &has).client), lines(&[&has]), "{capabilities}");
        leave(desk);
    }
}

#[test]
fn a_load_in_a_window_that_has_the_session_open_compares_where_something_may_have_been_said_outside_since() {
    for capabilities in both_ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &capabilities, TOLD);
        let out = ask_load(&mut desk, "load", "s1");
        assert!(out.asked("session/load").is_none(), "it was said a moment ago");
        assert_eq!(said(&out.client), lines(&[TOLD]));
        world.now.set(world.now.get() + 30_000);
        let has = all(&[TOLD, OUTSIDE]);
        assert_eq!(said(&load(&mut desk, "s1", &has).client), lines(&[&has]), "{capabilities}");
    }
}
