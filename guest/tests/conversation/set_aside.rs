//! What was taken out of a conversation because its agent went back behind it is kept, and can be seen and found.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::sessions::transcript::{TranscriptError, set_aside, transcript};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, ask_prompt, ask_resume, converse, leave, lines, listing, load, mark, oblige, row, said, told,
};

/// Later than anything that [`told`] says, and before the story goes on.
const LATER: &str = "2025-10-10T00:00:00Z";
const DAY: i64 = 86_400_000;
/// The entries of a turn: the prompt, the answer, the end.
const TURN: u64 = 3;

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})
}

/// A session of which the agent has the first turn only, since somebody went back without the layer; and the connection
/// on which that has shown.
fn rewound<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, String) {
    let id = told(store, world, &loads());
    world.now.set(world.now.get() + 2 * DAY);
    let mut desk = again(store, world);
    let out = load(&mut desk, &id, &TOLD[..1]);
    assert_eq!(said(&out.client), lines(&[&TOLD[..1]]));
    assert_eq!(mark(&out, "load")["setAside"], TURN);
    (desk, id)
}

fn again<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    listing(store, world, "a", &loads(), &[row("s1", "Title", LATER)])
}

fn ask(desk: &mut Desk<'_>, id: &str, replay: &Value) -> Out {
    let meta = json!({"acp-sessions": {"replay": replay}});
    let params = json!({"sessionId": id, "cwd": CWD, "mcpServers": [], "_meta": meta});
    let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
    oblige(desk, out, &TOLD[..1], "never")
}

/// Whether each update that says something is marked as set aside.
fn are_marked(out: &Out) -> bool {
    let updates = out.client.iter().filter(|message| message["method"] == "session/update");
    let mut said = updates.filter(|message| message["params"]["update"]["content"].is_object());
    said.all(|message| message["params"]["_meta"]["acp-sessions"]["setAside"] == true)
}

#[test]
fn a_load_shows_it_when_asked_and_says_that_it_is_there() {
    let (store, world) = (Memory::new(), World::default());
    let (mut open, id) = rewound(&store, &world);
    let aside: Turns<'_> = &TOLD[1..];
    for is_open in [true, false] {
        if !is_open {
            open.engine.peer_closed(Peer::Client);
            open = again(&store, &world);
        }
        for (replay, expected) in [
            (json!({"setAside": true}), lines(&[aside])),
            (json!({"setAside": true, "last": 1}), lines(&[aside])[1..].to_vec()),
            (json!({"setAside": true, "last": 0}), vec![]),
        ] {
            let out = ask(&mut open, &id, &replay);
            assert_eq!(said(&out.client), expected, "{replay}, open: {is_open}");
            assert!(are_marked(&out));
            assert_eq!(mark(&out, "load")["setAside"], TURN);
            assert_eq!(mark(&out, "load").get("cursor"), None, "it is no place in the conversation");
        }
        // What is not asked for is not shown, and not marked.
        let out = ask(&mut open, &id, &json!({"last": 9}));
        assert_eq!(said(&out.client), lines(&[&TOLD[..1]]));
        assert!(!are_marked(&out));
        assert!(mark(&out, "load")["cursor"].is_string());
    }
}

#[test]
fn resuming_says_that_it_is_there_and_so_does_the_list() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id) = rewound(&store, &world);
    let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
    assert_eq!(rows[0]["_meta"]["acp-sessions"]["setAside"], TURN);
    let out = ask_resume(&mut desk, "resume", &id);
    assert_eq!(mark(&out, "resume")["setAside"], TURN);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = again(&store, &world);
    let out = ask_resume(&mut desk, "resume", &id);
    let out = oblige(&mut desk, out, &TOLD[..1], "never");
    assert_eq!(mark(&out, "resume")["setAside"], TURN);
    // A fork goes on from the conversation.
    let params = json!({"sessionId": id, "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let out = oblige(&mut desk, out, &[], "forked");
    assert_eq!(mark(&out, "fork").get("setAside"), None);
}

#[test]
fn a_turn_that_was_cut_off_behind_it_goes_with_it_unless_nobody_had_answered() {
    let prompt = "> Third question".to_owned();
    for (answer, stays) in [(Some("The beginning"), vec![]), (None, vec![prompt])] {
        for fails in [true, false] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            converse(&mut desk, "s1", TOLD);
            let asked = ask_prompt(&mut desk, "third", "s1", "Third question");
            if let Some(answer) = answer {
                desk.agent(update("s1", chunk("agent_message_chunk", answer)));
            }
            if fails {
                desk.refuse(&asked.request("session/prompt"), -32603);
            }
            leave(desk);
            world.now.set(world.now.get() + 2 * DAY);
            for time in ["once", "again"] {
                let mut desk = again(&store, &world);
                let shown = said(&load(&mut desk, "s1", &TOLD[..1]).client);
                assert_eq!(shown, [lines(&[&TOLD[..1]]), stays.clone()].concat(), "{answer:?}, {fails}, {time}");
                leave(desk);
            }
        }
    }
}

#[test]
fn where_nothing_is_set_aside_there_is_nothing_to_see() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    let mut desk = Desk::ready(&store, &world, &loads());
    for _ in 0..2 {
        let out = ask(&mut desk, &id, &json!({"setAside": true}));
        assert_eq!(said(&out.client), [""; 0]);
        assert_eq!(mark(&out, "load").get("setAside"), None);
    }
    // Nor of what only the agent has.
    let mut desk = listing(&store, &world, "a", &loads(), &[row("theirs", "Title", LATER)]);
    let out = ask(&mut desk, "theirs", &json!({"setAside": true}));
    assert_eq!(said(&out.client), [""; 0]);
    assert_eq!(said(&load(&mut desk, "theirs", &TOLD[..1]).client), lines(&[&TOLD[..1]]));
}

#[test]
fn a_turn_is_shown_as_soon_as_the_load_that_is_asked_for_it_has_set_it_aside() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    world.now.set(world.now.get() + 2 * DAY);
    let mut desk = again(&store, &world);
    let out = ask(&mut desk, &id, &json!({"setAside": true}));
    assert_eq!(said(&out.client), lines(&[&TOLD[1..]]));
    assert_eq!(mark(&out, "load")["setAside"], TURN);
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id) = rewound(&store, &world);
    for replay in [
        json!({"setAside": false}),
        json!({"setAside": 1}),
        json!({"setAside": null}),
        json!({"setAside": true, "last": "x"}),
        json!({"setAside": true, "after": "r2-1-0"}),
        json!({}),
    ] {
        assert_eq!(ask(&mut desk, &id, &replay).answer("load")["error"]["code"], -32602, "{replay}");
    }
}

#[test]
fn a_search_finds_it_and_says_so() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, _) = rewound(&store, &world);
    for (words, place) in [("first answer", Some("conversation")), ("second answer", Some("setAside")), ("third", None)]
    {
        let answer = desk.ask("session/list", json!({"search": format!("\"{words}\"")}));
        let rows = answer["result"]["sessions"].as_array().unwrap();
        let places: Vec<_> = rows.iter().map(|row| row["_meta"]["acp-sessions"]["match"]["in"].as_str()).collect();
        assert_eq!(places, place.map(Some).into_iter().collect::<Vec<_>>(), "{words}");
    }
}

#[test]
fn what_is_set_aside_is_read_a_page_at_a_time_with_cursors_of_its_own() {
    let (store, world) = (Memory::new(), World::default());
    let (_, id) = rewound(&store, &world);
    let store = Store::new(&store);
    let text = |update: &str| serde_json::from_str::<Value>(update).unwrap()["content"]["text"].clone();
    let (mut texts, mut after) = (Vec::new(), None);
    loop {
        let page = set_aside(&store, &id, after.as_deref(), 1).unwrap();
        texts.extend(page.updates.iter().map(|(_, update)| text(update)));
        after = page.updates.last().map(|(cursor, _)| cursor.clone()).or(after);
        if !page.more {
            break;
        }
    }
    assert_eq!(texts, ["Second question", "Second answer"]);
    // The one's cursor is not the other's.
    let page = transcript(&store, &id, None, 1).unwrap();
    let (of_aside, of_conversation) = (after.unwrap(), page.updates[0].0.clone());
    assert!(matches!(transcript(&store, &id, Some(&of_aside), 1), Err(TranscriptError::Place)));
    assert!(matches!(set_aside(&store, &id, Some(&of_conversation), 1), Err(TranscriptError::Place)));
    assert!(matches!(set_aside(&store, "none", None, 1), Err(TranscriptError::NotFound)));
}
