//! What an agent asks its user before it has answered that it has a session open, as goose does where the window was closed while it
//! waited for an answer: lists say that the user is waited for, and what was asked is kept with who answered it.

use acp_sessions_corpus::Call;
use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::follower::{state, window};
use crate::scenes::{CWD, LONG, Question, ask_load, leave, told_all};

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
