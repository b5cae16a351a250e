//! What is pipelined behind `initialize` by a client that has gone, or in front of an agent that ends, is answered once.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};

/// What both sides do behind three pipelined requests.
#[derive(Debug, Clone, Copy)]
enum Then {
    Answers,
    AgentEnds,
    ClientEnds,
}

#[test]
fn what_is_pipelined_is_answered_once_whoever_ends_when() {
    use Then::{AgentEnds, Answers, ClientEnds};
    for order in [
        vec![Answers, AgentEnds],
        vec![AgentEnds],
        vec![ClientEnds, AgentEnds],
        vec![ClientEnds, Answers, AgentEnds],
        vec![Answers, ClientEnds, AgentEnds],
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let mut all = Out::default();
        let requests = [
            ("initialize", json!({"protocolVersion": 1})),
            ("session/new", json!({"cwd": "/", "mcpServers": []})),
            ("session/list", json!({})),
            ("session/delete", json!({"sessionId": "other"})),
        ];
        for (id, (method, params)) in requests.into_iter().enumerate() {
            all.extend(desk.client(json!({"id": id, "method": method, "params": params})));
        }
        for step in &order {
            match step {
                Answers => all.extend(desk.agent(json!({"id": 0, "result": {"protocolVersion": 1}}))),
                AgentEnds => desk.engine.peer_closed(Peer::Agent),
                ClientEnds => desk.engine.peer_closed(Peer::Client),
            }
            all.extend(desk.pull());
        }
        for id in 0..4 {
            assert_eq!(all.answers(&Value::from(id)).len(), 1, "{order:?}: answers to {id}: {:?}", all.client);
        }
    }
}
