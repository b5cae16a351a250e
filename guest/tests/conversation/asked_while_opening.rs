//! What an agent asks its user before it has answered that it has a session open, as goose does where the window was closed while it
//! waited for an answer: lists say that the user is waited for, and what was asked is kept with who answered it.

use acp_sessions_corpus::Call;
use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::follower::{state, window};
use crate::scenes::{CWD, LONG, Question, ask_load, ask_prompt, ask_resume, leave, set, told_all};

/// What becomes of the question: meanwhile, or once the session is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    AnsweredMeanwhile,
    Answered,
    WithdrawnMeanwhile,
    AgentGone,
}

/// A store with a session of one turn.
fn had(world: &World) -> Memory {
    let store = Memory::new();
    let mut desk = window(&store, world);
    desk.new_session("s1", CWD);
    desk.turn("s1", "Hi", &["Ho"]);
    leave(desk);
    world.now.set(world.now.get() + 60_000);
    store
}

/// What the store has of the permissions asked for in the session, as how they were answered.
fn permissions(store: &Memory, world: &World) -> Vec<Value> {
    let call = Call::ReadPermissions { session_id: "s1".to_owned(), after: None, limit: 10 };
    let page = world.recorder.typed(store, world.time(), call);
    let asked = page["ok"]["permissions"].as_array().unwrap();
    asked.iter().map(|asked| asked["answer"]["outcome"].clone()).collect()
}

fn ends(desk: &mut Desk<'_>, question: Question, how: Ends) {
    match how {
        Ends::AnsweredMeanwhile | Ends::Answered => {
            assert_eq!(question.answer(desk, "q").agent.len(), 1, "the agent has its answer");
        }
        Ends::WithdrawnMeanwhile => {
            desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": "q"}}));
        }
        Ends::AgentGone => {
            desk.engine.peer_closed(Peer::Agent);
            desk.pull();
        }
    }
}

#[test]
fn what_is_asked_before_a_session_is_open_is_waited_for_and_kept() {
    for question in Question::KINDS {
        for is_before_replay in [true, false] {
            for how in [Ends::AnsweredMeanwhile, Ends::Answered, Ends::WithdrawnMeanwhile, Ends::AgentGone] {
                let case = format!("{question:?} {is_before_replay} {how:?}");
                let world = World::unrecorded();
                let store = had(&world);
                let mut desk = window(&store, &world);
                let mut out = ask_load(&mut desk, "load", "s1");
                let asked = out.request("session/load");
                if is_before_replay {
                    assert_eq!(question.ask(&mut desk, "q", "s1").client.len(), 1, "{case}: asked at once");
                }
                for (kind, text) in [("user_message_chunk", "Hi"), ("agent_message_chunk", "Ho")] {
                    out.extend(desk.agent(update("s1", chunk(kind, text))));
                }
                if !is_before_replay {
                    assert_eq!(question.ask(&mut desk, "q", "s1").client.len(), 1, "{case}: asked at once");
                }
                let is_over = matches!(how, Ends::AnsweredMeanwhile | Ends::WithdrawnMeanwhile);
                if is_over {
                    ends(&mut desk, question, how);
                }
                out.extend(desk.reply(&asked, json!({})));
                told_all(&mut desk, out);
                assert_eq!(state(&mut desk, "s1"), if is_over { "idle" } else { "requires_action" }, "{case}");
                if !is_over {
                    ends(&mut desk, question, how);
                    desk.wait(LONG);
                    if how != Ends::AgentGone {
                        assert_eq!(state(&mut desk, "s1"), "idle", "{case}");
                    }
                }
                leave(desk);
                let kept = match (question, how) {
                    (Question::Form, _) => vec![],
                    (_, Ends::AnsweredMeanwhile | Ends::Answered) => {
                        vec![json!({"selected": {"id": "y", "name": "Yes", "kind": "allow_once"}})]
                    }
                    (_, Ends::WithdrawnMeanwhile | Ends::AgentGone) => vec![json!("cancelled")],
                };
                assert_eq!(permissions(&store, &world), kept, "{case}");
            }
        }
    }
}

/// How an agent comes to be asked to open a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Load,
    Resume,
    /// It was started again, and there is a prompt.
    Prompt,
}

impl Way {
    const ALL: [Self; 3] = [Self::Load, Self::Resume, Self::Prompt];

    fn capabilities(self) -> Value {
        match self {
            Self::Load => json!({"loadSession": true}),
            Self::Resume | Self::Prompt => json!({"sessionCapabilities": {"resume": {}}}),
        }
    }

    fn method(self) -> &'static str {
        if self == Self::Load { "session/load" } else { "session/resume" }
    }
}

/// A window of which the agent is being asked to open `s1`, and may say nothing of it for a second; what its client has asked is
/// `open`.
fn being_opened<'a>(store: &'a Memory, world: &'a World, way: Way) -> (Desk<'a>, Out) {
    let mut desk = set(store, world, &way.capabilities(), &[("agent-timeout-ms", "1000")]);
    desk.new_session("s1", CWD);
    desk.turn("s1", "Hi", &["Ho"]);
    if way == Way::Prompt {
        desk.revive(&way.capabilities());
        let out = ask_prompt(&mut desk, "open", "s1", "Go");
        return (desk, out);
    }
    leave(desk);
    world.now.set(world.now.get() + 60_000);
    let mut desk = set(store, world, &way.capabilities(), &[("agent-timeout-ms", "1000")]);
    let out = if way == Way::Load { ask_load(&mut desk, "open", "s1") } else { ask_resume(&mut desk, "open", "s1") };
    (desk, out)
}

/// The agent asks `q` of its user; the id that the client knows the question by.
fn asks(desk: &mut Desk<'_>, question: Question) -> String {
    let out = question.ask(desk, "q", "s1");
    out.client[0]["id"].as_str().unwrap().to_owned()
}

/// How often the client is told that nobody waits for the answer to this question.
fn withdrawn(out: &Out, question: &str) -> usize {
    let is_it =
        |line: &&Value| line["method"] == "$/cancel_request" && line["params"] == json!({"requestId": question});
    out.client.iter().filter(is_it).count()
}

#[test]
fn an_agent_that_waits_for_its_user_before_it_opens_a_session_is_not_silent() {
    for way in Way::ALL {
        for question in Question::KINDS {
            for is_silent_then in [false, true] {
                let case = format!("{way:?} {question:?} {is_silent_then}");
                let world = World::unrecorded();
                let store = Memory::new();
                let (mut desk, mut out) = being_opened(&store, &world, way);
                let asked = out.request(way.method());
                let known_as = asks(&mut desk, question);
                out.extend(desk.wait_awake(10_000));
                assert!(out.is_open("open"), "{case}: {:?}", out.client);
                // Its time goes on when it has the answer.
                out.extend(desk.wait(900));
                assert_eq!(question.answer(&mut desk, &known_as).agent.len(), 1, "{case}");
                out.extend(desk.wait(900));
                assert!(out.is_open("open"), "{case}: {:?}", out.client);
                if is_silent_then {
                    out.extend(desk.wait(200));
                    let error = &out.answer("open")["error"]["message"];
                    assert!(error.as_str().unwrap().contains("did not answer"), "{case}: {error}");
                    assert_eq!(withdrawn(&out, &known_as), 0, "{case}");
                    continue;
                }
                for (kind, text) in [("user_message_chunk", "Hi"), ("agent_message_chunk", "Ho")] {
                    if way == Way::Load {
                        out.extend(desk.agent(update("s1", chunk(kind, text))));
                    }
                }
                out.extend(desk.reply(&asked, json!({})));
                if way == Way::Prompt {
                    let sent = out.request("session/prompt");
                    out.extend(desk.reply(&sent, json!({"stopReason": "end_turn"})));
                }
                assert_eq!(out.answer("open")["error"], Value::Null, "{case}");
            }
        }
    }
}

/// How an opening comes to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fails {
    Refused,
    Cancelled,
    AgentGone,
    AgentRestarted,
}

#[test]
fn what_is_asked_in_a_session_that_is_not_opened_after_all_is_withdrawn() {
    for way in Way::ALL {
        for question in Question::KINDS {
            for how in [Fails::Refused, Fails::Cancelled, Fails::AgentGone, Fails::AgentRestarted] {
                if (way, how) == (Way::Prompt, Fails::Cancelled) {
                    // The session is opened all the same.
                    continue;
                }
                let case = format!("{way:?} {question:?} {how:?}");
                let world = World::unrecorded();
                let store = Memory::new();
                let (mut desk, mut out) = being_opened(&store, &world, way);
                let asked = out.request(way.method());
                let known_as = asks(&mut desk, question);
                let failed = match how {
                    Fails::Refused => desk.refuse(&asked, -32000),
                    Fails::Cancelled => {
                        desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "open"}}))
                    }
                    Fails::AgentGone => {
                        desk.engine.peer_closed(Peer::Agent);
                        desk.pull()
                    }
                    Fails::AgentRestarted => desk.restart(),
                };
                let is_answer = |line: &&Value| line["id"] == "q";
                let answers: Vec<&Value> = failed.agent.iter().filter(is_answer).collect();
                if matches!(how, Fails::AgentGone | Fails::AgentRestarted) {
                    assert_eq!(answers, Vec::<&Value>::new(), "{case}");
                } else {
                    let unanswered = match question {
                        Question::Permission => json!({"outcome": {"outcome": "cancelled"}}),
                        Question::Form => json!({"action": "cancel"}),
                    };
                    assert_eq!(answers.iter().map(|answer| &answer["result"]).collect::<Vec<_>>(), [&unanswered]);
                }
                if how != Fails::AgentGone {
                    assert_eq!(failed.client[0]["method"], "$/cancel_request", "{case}: before it has failed");
                }
                out.extend(failed);
                assert_eq!(withdrawn(&out, &known_as), 1, "{case}");
                assert!(out.answer("open")["error"].is_object(), "{case}");
                let late = question.answer(&mut desk, &known_as);
                assert_eq!(late.agent, Vec::<Value>::new(), "{case}: a late answer is for nobody");
            }
        }
    }
}
