//! Tool calls that an agent tells of by asking permission for them, as Gemini CLI and Qwen Code do: the transcript has them whole.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, envelope, update};
use crate::scenes::{
    CWD, LONG, UNTIL_FORGOTTEN, answers, ask_fork, ask_load, ask_prompt, leave, listing, load, load_told, mark, oblige,
    row, said, says, told_all,
};
use crate::side_by_side::{SOON, two_windows};

/// What a question says of a call.
fn call(id: &str) -> Value {
    json!({"toolCallId": id, "status": "pending", "title": format!("rm {id}"), "content": [], "kind": "execute", "rawInput": {"x": 1}})
}

/// The agent asks for a call in a session.
fn asks<S: Storage>(desk: &mut Desk<'_, S>, session: &str, request: &str, call: &Value) -> Out {
    let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]);
    let params = json!({"sessionId": session, "toolCall": call, "options": options});
    desk.agent(json!({"id": request, "method": "session/request_permission", "params": params}))
}

/// A session `s1` in whose first turn the agent asks for a call, by the request `p1`.
fn asked_in_a_turn<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    asks(&mut desk, "s1", "p1", &call("c1"));
    desk
}

fn chooses(request: &str) -> Value {
    json!({"id": request, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}})
}

/// A `tool_call` or an update of one.
fn told(kind: &str, id: &str, status: &str) -> Value {
    json!({"sessionUpdate": kind, "toolCallId": id, "status": status})
}

/// What a client is told of calls, in words.
fn calls(out: &Out) -> Vec<String> {
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    let calls = updates.filter(|update| update["toolCallId"].is_string());
    calls
        .map(|call| {
            let is_whole = call["sessionUpdate"] == "tool_call";
            let words = ["toolCallId", "title", "kind", "status"].map(|member| call[member].as_str().unwrap_or("-"));
            format!("{} {}", if is_whole { "call" } else { "update" }, words.join("/"))
        })
        .collect()
}

/// What a window of another agent's shows of a session that nobody has open.
fn loaded(store: &Memory, world: &World, session: &str) -> Out {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("b"), &json!({}));
    let out = load(&mut desk, session, &[]);
    leave(desk);
    out
}

const ASKED: &str = "call c1/rm c1/execute/pending";
const COMPLETED: &str = "update c1/-/-/completed";
const FAILED: &str = "update c1/-/-/failed";

/// The name of a manner, what is told and how, and what is in the history.
type Manner = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// What an agent tells of a call beside its question, and what the transcript has of that behind it.
const MANNERS: [Manner; 5] = [
    ("updates alone", &[("tool_call_update", "completed")], &["update c1/-/-/completed"]),
    (
        "a call when it has begun",
        &[("tool_call", "in_progress"), ("tool_call_update", "completed")],
        &["update c1/-/-/in_progress", "update c1/-/-/completed"],
    ),
    ("a call when it has ended", &[("tool_call", "failed")], &["update c1/-/-/failed"]),
    (
        "a call twice",
        &[("tool_call", "pending"), ("tool_call", "completed")],
        &["update c1/-/-/pending", "update c1/-/-/completed"],
    ),
    // Its turn has ended well.
    ("nothing", &[], &[COMPLETED]),
];

#[test]
fn a_call_that_a_question_tells_of_is_whole_in_replays_and_in_other_windows_and_is_found() {
    for (manner, tells, behind) in MANNERS {
        for is_answered_first in [true, false] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut first, mut second) = two_windows(&store, &world);
            ask_prompt(&mut first, "turn", "s1", "Go");
            first.agent(says("May I?"));
            let out = asks(&mut first, "s1", "p1", &call("c1"));
            assert_eq!((out.client.len(), &out.client[0]["method"]), (1, &json!("session/request_permission")));
            if is_answered_first {
                assert_eq!(first.client(chooses("p1")).client.len(), 0);
            }
            for (kind, status) in tells {
                let out = first.agent(update("s1", told(kind, "c1", status)));
                assert_eq!(out.client[0]["params"]["update"], told(kind, "c1", status), "as it was told");
                assert_eq!(out.client.len(), 1);
            }
            if !is_answered_first {
                first.client(chooses("p1"));
            }
            first.agent(says("Removed."));
            assert_eq!(first.agent(answers("turn")).client.len(), 1);
            let expected: Vec<&str> = [ASKED].into_iter().chain(behind.iter().copied()).collect();
            assert_eq!(calls(&second.wait(SOON)), expected, "{manner}");
            let found = second.ask("session/list", json!({"_meta": {"acp-sessions": {"search": "rm c1"}}}));
            assert_eq!(found["result"]["sessions"][0]["sessionId"], "s1", "{manner}");
            leave(second);
            leave(first);
            for _ in 0..2 {
                let out = loaded(&store, &world, "s1");
                assert_eq!(calls(&out), expected, "{manner}");
                assert_eq!(said(&out.client)[..2], ["> Hi", "Ho"]);
                let updates: Vec<&Value> = out.client.iter().map(|message| &message["params"]["update"]).collect();
                let at = updates.iter().position(|update| update["sessionUpdate"] == "tool_call").unwrap();
                assert_eq!(updates[at - 1]["content"]["text"], "May I?", "where it was asked");
                assert_eq!(updates[at]["rawInput"], json!({"x": 1}));
            }
        }
    }
}

#[test]
fn a_fork_has_the_call_too() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"fork": {}}}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    asks(&mut desk, "s1", "p1", &call("c1"));
    desk.client(chooses("p1"));
    desk.agent(update("s1", told("tool_call_update", "c1", "completed")));
    desk.agent(answers("turn"));
    let out = ask_fork(&mut desk, "s1");
    oblige(&mut desk, out, &[], "f1");
    leave(desk);
    assert_eq!(calls(&loaded(&store, &world, "f1")), [ASKED, "update c1/-/-/completed"]);
}

#[test]
fn what_was_told_of_before_or_was_asked_twice_is_not_told_again() {
    let given = |kind| {
        let mut told = told(kind, "c1", "pending");
        told["rawInput"] = json!({"path": "c1"});
        Some(told)
    };
    for (before, asked, expected) in [
        // As Claude Code does.
        (given("tool_call"), &["c1"][..], &["call c1/-/-/pending"][..]),
        (given("tool_call_update"), &["c1"], &["update c1/-/-/pending"]),
        // As Qwen Code does: what the call is given only the question says.
        (
            Some(told("tool_call", "c1", "pending")),
            &["c1", "c1"],
            &["call c1/-/-/pending", "update c1/rm c1/execute/-"],
        ),
        (None, &["c1", "c1"], &[ASKED, COMPLETED]),
        (None, &["c1", "c2", "c1"], &[ASKED, "call c2/rm c2/execute/pending", COMPLETED, "update c2/-/-/completed"]),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "turn", "s1", "Go");
        if let Some(before) = before {
            desk.agent(update("s1", before));
        }
        for (nth, id) in asked.iter().enumerate() {
            asks(&mut desk, "s1", &format!("p{nth}"), &call(id));
            desk.client(chooses(&format!("p{nth}")));
        }
        desk.agent(answers("turn"));
        leave(desk);
        assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{asked:?}");
    }
}

#[test]
fn of_a_question_without_a_call_nothing_is_made_and_of_one_with_an_id_alone_a_call_of_that_name() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    let asked = [
        Value::Null,
        json!({"title": "Nameless"}),
        json!({"toolCallId": "x".repeat(300), "title": "Long"}),
        json!({"toolCallId": "c1", "title": null, "kind": null, "content": null}),
    ];
    for (nth, call) in asked.iter().enumerate() {
        assert_eq!(asks(&mut desk, "s1", &format!("p{nth}"), call).client.len(), 1);
    }
    desk.agent(answers("turn"));
    leave(desk);
    let out = loaded(&store, &world, "s1");
    let made = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "c1", "status": "pending"});
    let failed = told("tool_call_update", "c1", "failed");
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    assert_eq!(updates.filter(|update| update["toolCallId"].is_string()).collect::<Vec<_>>(), [&made, &failed]);
}

#[test]
fn what_is_asked_between_turns_and_by_sub_agents_is_told_too() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    asks(&mut first, "s1", "p1", &call("c1"));
    first.client(chooses("p1"));
    first.agent(update("s1", told("tool_call", "c1", "completed")));
    let mut out = first.wait(LONG);
    assert_eq!(calls(&out), [""; 0]);
    out = second.wait(SOON);
    out.extend(second.wait(SOON));
    assert_eq!(calls(&out), [ASKED, "update c1/-/-/completed"]);
    ask_prompt(&mut first, "turn", "s1", "Go");
    first.agent(update("s1", json!({"sessionUpdate": "subagent_update", "sessionId": "sub"})));
    asks(&mut first, "sub", "p2", &call("c1"));
    first.client(chooses("p2"));
    first.agent(update("sub", told("tool_call_update", "c1", "completed")));
    first.agent(answers("turn"));
    leave(second);
    leave(first);
    assert_eq!(calls(&loaded(&store, &world, "s1")), [ASKED, "update c1/-/-/completed"]);
    assert_eq!(calls(&loaded(&store, &world, "sub")), [ASKED, "update c1/-/-/completed"]);
}

#[test]
fn a_call_of_another_turn_is_another_unless_it_has_not_ended() {
    for (status, expected) in [("completed", 2), ("in_progress", 1)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        for turn in ["one", "two"] {
            ask_prompt(&mut desk, turn, "s1", turn);
            asks(&mut desk, "s1", turn, &call("c1"));
            desk.client(chooses(turn));
            desk.agent(update("s1", told("tool_call_update", "c1", status)));
            desk.agent(answers(turn));
        }
        leave(desk);
        let calls = calls(&loaded(&store, &world, "s1"));
        assert_eq!(calls.iter().filter(|call| *call == ASKED).count(), expected, "{calls:?}");
    }
}

#[test]
fn a_call_whose_turn_is_cut_off_has_failed_and_so_has_one_whose_question_is_withdrawn_or_dismissed() {
    let cancel = json!({"method": "session/cancel", "params": {"sessionId": "s1"}});
    let cancelled = json!({"id": "turn", "result": {"stopReason": "cancelled"}});
    let refused = json!({"id": "turn", "error": {"code": -32603, "message": "no"}});
    let withdrawn = json!({"method": "$/cancel_request", "params": {"requestId": "p1"}});
    let dismissed = json!({"id": "p1", "result": {"outcome": {"outcome": "cancelled"}}});
    let failed = &[ASKED, "update c1/-/-/failed"][..];
    for (client, agent, expected) in [
        (vec![&cancel, &dismissed], vec![&cancelled], failed),
        (vec![], vec![&refused], failed),
        (vec![], vec![&withdrawn, &answers("turn")], failed),
        (vec![&dismissed], vec![&answers("turn")], failed),
        // The window is killed.
        (vec![], vec![], failed),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = asked_in_a_turn(&store, &world);
        for line in &client {
            desk.client((*line).clone());
        }
        for line in &agent {
            desk.agent((*line).clone());
        }
        if agent.is_empty() {
            drop(desk);
            world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        } else {
            leave(desk);
        }
        assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{client:?} {agent:?}");
    }
}

#[test]
fn a_call_that_the_user_refuses_has_failed_where_its_agent_says_no_more_of_it() {
    let refuses =
        |request: &str| json!({"id": request, "result": {"outcome": {"outcome": "selected", "optionId": "n"}}});
    let (failed, told_failed) = ("update c1/-/-/failed", told("tool_call_update", "c1", "failed"));
    for in_turn in [true, false] {
        for (tells, expected) in [
            (vec![], &[ASKED, failed][..]),
            (vec![told_failed.clone()], &[ASKED, failed, failed]),
            (
                vec![told("tool_call", "c1", "pending"), told_failed.clone()],
                &[ASKED, failed, "update c1/-/-/pending", failed],
            ),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &json!({}));
            desk.new_session("s1", CWD);
            if in_turn {
                ask_prompt(&mut desk, "turn", "s1", "Go");
            }
            asks(&mut desk, "s1", "p1", &call("c1"));
            let out = desk.client(refuses("p1"));
            assert_eq!((out.client.len(), out.agent.len()), (0, 1), "the client knows");
            for told in tells {
                desk.agent(update("s1", told.clone()));
            }
            if in_turn {
                desk.agent(answers("turn"));
            }
            leave(desk);
            assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{in_turn}");
        }
    }
    // Where it was told of before, its agent says what becomes of it.
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    desk.agent(update("s1", told("tool_call", "c1", "pending")));
    asks(&mut desk, "s1", "p1", &call("c1"));
    desk.client(refuses("p1"));
    desk.agent(answers("turn"));
    leave(desk);
    assert_eq!(calls(&loaded(&store, &world, "s1")), ["call c1/-/-/pending", "update c1/rm c1/execute/-"]);
}

#[test]
fn a_call_that_the_user_allows_has_ended_when_its_turn_has_ended_well_and_its_agent_says_no_more_of_it() {
    let chosen = |option: &str| json!({"outcome": "selected", "optionId": option});
    let cut_off = &[ASKED, FAILED][..];
    let ended = json!({"id": "turn", "result": {"stopReason": "max_tokens"}});
    let cancelled = json!({"id": "turn", "result": {"stopReason": "cancelled"}});
    let failed = json!({"id": "turn", "error": {"code": -32603, "message": "no"}});
    for is_instance_lost in [false, true] {
        for (outcome, end, expected) in [
            (chosen("y"), &answers("turn"), &[ASKED, COMPLETED][..]),
            (chosen("y"), &ended, &[ASKED, COMPLETED]),
            (chosen("y"), &cancelled, cut_off),
            (chosen("y"), &failed, cut_off),
            (chosen("n"), &answers("turn"), cut_off),
            // What there was no such option for, nobody has allowed.
            (chosen("z"), &answers("turn"), cut_off),
            (json!({"outcome": "cancelled"}), &answers("turn"), cut_off),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = asked_in_a_turn(&store, &world);
            if is_instance_lost {
                desk = Desk::carry_on(&store, &world, &[], desk.memos.clone(), Vec::new());
            }
            desk.client(json!({"id": "p1", "result": {"outcome": outcome}}));
            if is_instance_lost {
                desk.wait(LONG);
                desk = Desk::carry_on(&store, &world, &[], desk.memos.clone(), Vec::new());
            }
            let out = desk.agent(end.clone());
            assert_eq!(calls(&out), [""; 0], "who was asked has the call of the question");
            leave(desk);
            assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{outcome} {end} {is_instance_lost}");
        }
    }
}

/// What becomes of a question that its user does not choose an option for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unanswered {
    /// The client says so, and cancels nothing.
    Dismissed,
    /// It cannot ask its user.
    Refused,
    /// The agent does not wait for the answer any more.
    Withdrawn,
    /// It waits on.
    Never,
}

impl Unanswered {
    const ALL: [Self; 4] = [Self::Dismissed, Self::Refused, Self::Withdrawn, Self::Never];

    /// That becomes of the question of this request.
    fn befalls(self, desk: &mut Desk<'_>, request: &str) {
        match self {
            Self::Dismissed => {
                desk.client(json!({"id": request, "result": {"outcome": {"outcome": "cancelled"}}}));
            }
            Self::Refused => {
                desk.client(json!({"id": request, "error": {"code": -32601, "message": "not here"}}));
            }
            Self::Withdrawn => {
                desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": request}}));
            }
            Self::Never => {}
        }
    }
}

#[test]
fn a_call_that_nobody_allows_has_failed_once_its_turn_has_ended_however_it_has() {
    let ends = [
        json!({"result": {"stopReason": "end_turn"}}),
        json!({"result": {"stopReason": "max_tokens"}}),
        json!({"result": {"stopReason": "cancelled"}}),
        json!({"error": {"code": -32603, "message": "no"}}),
    ];
    for unanswered in Unanswered::ALL {
        for end in &ends {
            // What comes behind the turn.
            for (then, expected) in [
                ("nothing", &[ASKED, FAILED][..]),
                ("a turn", &[ASKED, FAILED]),
                ("the answer", &[ASKED, FAILED]),
                ("an update", &[ASKED, FAILED, COMPLETED]),
            ] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = asked_in_a_turn(&store, &world);
                unanswered.befalls(&mut desk, "p1");
                desk.agent(says("Done."));
                let mut end = end.clone();
                end["id"] = "turn".into();
                let out = desk.agent(end);
                assert_eq!(calls(&out), [""; 0], "who was asked has the call of the question");
                match then {
                    "a turn" => drop(desk.turn("s1", "On", &["Yes"])),
                    "the answer" => drop(desk.client(chooses("p1"))),
                    "an update" => drop(desk.agent(update("s1", told("tool_call_update", "c1", "completed")))),
                    _ => {}
                }
                leave(desk);
                assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{unanswered:?} {then}");
            }
        }
    }
}

#[test]
fn a_call_that_its_agent_tells_of_itself_is_as_it_says() {
    for unanswered in Unanswered::ALL {
        for (tells, expected) in [
            (vec![("tool_call_update", "completed")], &[ASKED, COMPLETED][..]),
            (vec![("tool_call_update", "in_progress")], &[ASKED, "update c1/-/-/in_progress"]),
            (vec![("tool_call", "pending")], &[ASKED, "update c1/-/-/pending"]),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = asked_in_a_turn(&store, &world);
            unanswered.befalls(&mut desk, "p1");
            for (kind, status) in tells {
                desk.agent(update("s1", told(kind, "c1", status)));
            }
            desk.agent(answers("turn"));
            leave(desk);
            assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{unanswered:?}");
        }
    }
}

#[test]
fn a_call_that_is_asked_for_between_turns_ends_with_its_answer_and_a_turn_does_not_end_it() {
    for unanswered in Unanswered::ALL {
        for has_turn in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &json!({}));
            desk.new_session("s1", CWD);
            asks(&mut desk, "s1", "p1", &call("c1"));
            if has_turn {
                desk.turn("s1", "Go", &["On"]);
                desk.wait(LONG);
                assert_eq!(calls(&loaded(&store, &world, "s1")), [ASKED], "its user is still asked");
            }
            unanswered.befalls(&mut desk, "p1");
            // Its window is closed at the latest.
            leave(desk);
            assert_eq!(calls(&loaded(&store, &world, "s1")), [ASKED, FAILED], "{unanswered:?} {has_turn}");
        }
    }
    // What is allowed is over with the next turn, unless its agent says what becomes of it.
    for (tells, expected) in [(&[][..], &[ASKED, COMPLETED][..]), (&["failed"], &[ASKED, FAILED])] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        asks(&mut desk, "s1", "p1", &call("c1"));
        desk.client(chooses("p1"));
        for status in tells {
            desk.agent(update("s1", told("tool_call_update", "c1", status)));
        }
        desk.turn("s1", "Go", &["On"]);
        leave(desk);
        assert_eq!(calls(&loaded(&store, &world, "s1")), expected);
    }
}

#[test]
fn a_call_that_has_failed_with_its_turn_is_another_in_the_next() {
    for end in [json!({"result": {"stopReason": "end_turn"}}), json!({"error": {"code": -32603, "message": "no"}})] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        for turn in ["one", "two"] {
            ask_prompt(&mut desk, turn, "s1", turn);
            asks(&mut desk, "s1", turn, &call("c1"));
            Unanswered::Dismissed.befalls(&mut desk, turn);
            let mut end = end.clone();
            end["id"] = turn.into();
            desk.agent(end);
        }
        leave(desk);
        assert_eq!(calls(&loaded(&store, &world, "s1")), [ASKED, FAILED, ASKED, FAILED], "{end}");
    }
}

#[test]
fn a_call_that_has_ended_so_is_another_in_the_next_turn() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    for turn in ["one", "two"] {
        ask_prompt(&mut desk, turn, "s1", turn);
        asks(&mut desk, "s1", turn, &call("c1"));
        desk.client(chooses(turn));
        desk.agent(answers(turn));
    }
    leave(desk);
    assert_eq!(calls(&loaded(&store, &world, "s1")), [ASKED, COMPLETED, ASKED, COMPLETED]);
}

#[test]
fn a_call_that_is_asked_for_before_a_load_is_answered_ends_with_the_users_answer() {
    for is_answered_first in [true, false] {
        for (tells, expected) in [
            (&[][..], &[ASKED, COMPLETED][..]),
            (&[("tool_call_update", "failed")], &[ASKED, COMPLETED, "update c1/-/-/failed"]),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let loads = json!({"loadSession": true});
            let mut desk = Desk::ready(&store, &world, &loads);
            desk.new_session("s1", CWD);
            desk.turn("s1", "Hi", &["Ho"]);
            leave(desk);
            let mut desk = Desk::ready(&store, &world, &loads);
            let mut out = ask_load(&mut desk, "load", "s1");
            let asked = out.request("session/load");
            asks(&mut desk, "s1", "p1", &call("c1"));
            if is_answered_first {
                desk.client(chooses("p1"));
            }
            for (kind, text) in [("user_message_chunk", "Hi"), ("agent_message_chunk", "Ho")] {
                out.extend(desk.agent(update("s1", chunk(kind, text))));
            }
            out.extend(desk.reply(&asked, json!({})));
            told_all(&mut desk, out);
            if !is_answered_first {
                desk.client(chooses("p1"));
            }
            for (kind, status) in tells {
                desk.agent(update("s1", told(kind, "c1", status)));
            }
            leave(desk);
            assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{is_answered_first}");
        }
    }
}

#[test]
fn a_lost_instance_costs_no_call_and_doubles_none() {
    // Whether the instance is lost with the question itself.
    for is_with_question in [true, false] {
        for in_turn in [true, false] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &json!({}));
            desk.new_session("s1", CWD);
            if in_turn {
                ask_prompt(&mut desk, "turn", "s1", "Go");
            }
            let memos = desk.memos.clone();
            let out = asks(&mut desk, "s1", "p1", &call("c1"));
            let lost = Arrival { peer: Peer::Agent, content: Content::Line(envelope(out.client[0].clone())) };
            let (memos, lost) = if is_with_question { (memos, vec![lost]) } else { (desk.memos.clone(), Vec::new()) };
            let mut desk = Desk::carry_on(&store, &world, &[], memos, lost);
            desk.pull();
            desk.client(chooses("p1"));
            let mut expected = vec![ASKED];
            if in_turn {
                // Of what was told between turns a fresh instance knows nothing.
                desk.agent(update("s1", told("tool_call", "c1", "in_progress")));
                asks(&mut desk, "s1", "p2", &call("c1"));
                expected.push("update c1/-/-/in_progress");
            }
            desk.agent(update("s1", told("tool_call_update", "c1", "completed")));
            desk.agent(answers("turn"));
            leave(desk);
            expected.push("update c1/-/-/completed");
            assert_eq!(calls(&loaded(&store, &world, "s1")), expected, "{is_with_question} {in_turn}");
        }
    }
}

#[test]
fn what_the_agent_replays_of_the_call_is_that_call() {
    let whole = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "status": "completed", "title": "Shell", "kind": "execute"});
    let parts = [
        json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "status": "in_progress", "title": "rm c1", "kind": "execute"}),
        told("tool_call_update", "c1", "completed"),
    ];
    let user = |text: &str| chunk("user_message_chunk", text);
    let agent = |text: &str| chunk("agent_message_chunk", text);
    for replayed in [&[whole][..], &parts] {
        for has_moved_on in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let loads = json!({"loadSession": true});
            let mut desk = listing(&store, &world, "a", &loads, &[]);
            desk.new_session("s1", CWD);
            ask_prompt(&mut desk, "turn", "s1", "Go");
            desk.agent(says("May I?"));
            asks(&mut desk, "s1", "p1", &call("c1"));
            desk.client(chooses("p1"));
            desk.agent(update("s1", told("tool_call_update", "c1", "completed")));
            desk.agent(says("Removed."));
            desk.agent(answers("turn"));
            leave(desk);
            let mut replay = vec![user("Go"), agent("May I?")];
            replay.extend(replayed.iter().cloned());
            replay.push(agent("Removed."));
            let mut expected = vec!["> Go", "May I?Removed."];
            if has_moved_on {
                replay.extend([user("Outside"), agent("Yes")]);
                expected.extend(["> Outside", "Yes"]);
            }
            for _ in 0..2 {
                let rows = [row("s1", "Old", "2025-10-10T00:00:00Z")];
                let mut desk = listing(&store, &world, "a", &loads, &rows);
                let out = load_told(&mut desk, &replay);
                assert_eq!(mark(&out, "load")["setAside"], Value::Null, "{}", out.answer("load"));
                assert_eq!(said(&out.client), expected);
                assert_eq!(calls(&out), [ASKED, "update c1/-/-/completed"]);
                leave(desk);
            }
        }
    }
}
