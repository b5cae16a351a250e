//! A message that is looked at in its midst, in the window in which it is said, stays one message.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, ask_fork, ask_load, ask_prompt, ask_resume, leave, load, oblige, said, says, updates};

/// What looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    Load,
    Resume,
    Fork,
}

/// The ids of the agent's messages.
fn ids(out: &Out) -> Vec<Value> {
    let mut ids: Vec<Value> =
        updates(out, "agent_message_chunk").iter().map(|chunk| chunk["messageId"].clone()).collect();
    ids.dedup();
    ids
}

#[test]
fn a_message_that_is_looked_at_in_its_midst_stays_one() {
    for looks in [[Looks::Load, Looks::Load], [Looks::Resume, Looks::Fork], [Looks::Fork, Looks::Load]] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let can = json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}}});
        let mut desk = Desk::ready(&store, &world, &can);
        desk.new_session("s1", CWD);
        let asked = ask_prompt(&mut desk, "turn", "s1", "Go").request("session/prompt");
        for (part, looks) in ["A wond", "erful ans"].into_iter().zip(looks) {
            desk.agent(says(part));
            desk.wait(300);
            let out = match looks {
                Looks::Load => ask_load(&mut desk, "look", "s1"),
                Looks::Resume => ask_resume(&mut desk, "look", "s1"),
                Looks::Fork => ask_fork(&mut desk, "s1"),
            };
            oblige(&mut desk, out, &[], "f1");
        }
        desk.agent(says("wer."));
        desk.reply(&asked, json!({"stopReason": "end_turn"}));
        let next = ask_prompt(&mut desk, "next", "s1", "On").request("session/prompt");
        desk.agent(says("Another."));
        desk.reply(&next, json!({"stopReason": "end_turn"}));
        leave(desk);
        let mut other = Desk::ready(&store, &world, &json!({}));
        let out = load(&mut other, "s1", &[]);
        assert_eq!(said(&out.client).concat(), "> GoA wonderful answer.> OnAnother.", "{looks:?}");
        assert_eq!(ids(&out).len(), 2, "{looks:?}: {:?}", updates(&out, "agent_message_chunk"));
    }
}
