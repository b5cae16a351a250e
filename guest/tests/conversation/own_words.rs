//! What the layer says itself never comes back as something the user, the agent or a title says.

use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{TOLD, Turns, account, ask_load, ask_prompt, lines, listing, load, oblige, row, said, told};

/// A session whose agent has just been given a prompt, and the account before it.
fn prompted<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Out, String) {
    let id = told(store, world, &json!({}));
    let mut desk = Desk::ready(store, world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "s2");
    let out = ask_prompt(&mut desk, "prompt", &id, "Third");
    let text = account(&out).unwrap();
    (desk, out, text)
}

fn head(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

#[test]
fn an_account_never_becomes_a_title() {
    for breaks in [true, false] {
        for length in [40, 80, 160, 10_000] {
            let (store, world) = (Memory::new(), World::default());
            let (mut desk, out, text) = prompted(&store, &world);
            let ours = head(&text, 30);
            let text = head(&text, length);
            let title = if breaks { text } else { text.split_whitespace().collect::<Vec<_>>().join(" ") };
            let info = json!({"sessionUpdate": "session_info_update", "title": title});
            let mut told = desk.agent(update("s2", info));
            told.extend(desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})));
            assert!(told.client.iter().all(|message| !message.to_string().contains(&ours)), "{:?}", told.client);
            let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
            assert_eq!(rows[0]["title"], "First question", "{length} with breaks: {breaks}");
        }
    }
}

#[test]
fn an_account_in_the_agents_own_list_never_becomes_a_title() {
    for length in [40, 80, 160] {
        let (store, world) = (Memory::new(), World::default());
        let (mut desk, out, text) = prompted(&store, &world);
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        let listed = row("s2", &head(&text, length), "2025-10-09T08:53:20Z");
        let mut desk = listing(&store, &world, "a", &json!({}), &[listed]);
        let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
        assert_eq!(rows.as_array().unwrap().len(), 1);
        assert_eq!(rows[0]["title"], "First question", "{length}");
    }
}

#[test]
fn a_session_that_the_agent_names_after_an_account_has_no_title_of_its_own() {
    let (store, world) = (Memory::new(), World::default());
    let (desk, _, text) = prompted(&store, &world);
    drop(desk);
    let store = Memory::new();
    let listed = row("o1", &head(&text, 80), "2025-01-01T00:00:00Z");
    let mut desk = listing(&store, &world, "a", &json!({}), &[listed]);
    let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert!(!rows.to_string().contains(&head(&text, 30)), "{rows}");
}

#[test]
fn an_echo_with_its_blocks_joined_reaches_the_client_without_the_account_and_is_not_recorded() {
    const THIRD: Turns<'static> = &[("Third", "Third answer")];
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, out, text) = prompted(&store, &world);
    let mut told = desk.agent(update("s2", chunk("user_message_chunk", &format!("{text}\n\nThird"))));
    told.extend(desk.agent(update("s2", chunk("agent_message_chunk", "Third answer"))));
    told.extend(desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})));
    let shown = said(&told.client);
    assert_eq!(shown[0].trim_start_matches('>').trim(), "Third");
    for time in ["on this connection", "on the next"] {
        let out = load(&mut desk, "s1", &[]);
        assert_eq!(said(&out.client), lines(&[TOLD, THIRD]), "{time}");
        desk = Desk::ready(&store, &world, &json!({}));
    }
}

#[test]
fn an_echo_in_pieces_shows_and_records_nothing_of_the_account() {
    const THIRD: Turns<'static> = &[("Third", "Third answer")];
    for size in [1, 7, 100] {
        let (store, world) = (Memory::new(), World::default());
        let (mut desk, out, text) = prompted(&store, &world);
        let whole: Vec<char> = format!("{text}\n\nThird").chars().collect();
        let mut told = Out::default();
        for piece in whole.chunks(size) {
            let piece: String = piece.iter().collect();
            told.extend(desk.agent(update("s2", chunk("user_message_chunk", &piece))));
        }
        told.extend(desk.agent(update("s2", chunk("agent_message_chunk", "Third answer"))));
        told.extend(desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})));
        let shown = said(&told.client).concat();
        let tail = text.char_indices().rev().nth(30).map(|(at, _)| &text[at..]).unwrap();
        for ours in [head(&text, 30).as_str(), "First answer", tail] {
            assert!(!shown.contains(ours), "{size}: {shown}");
        }
        let out = load(&mut desk, "s1", &[]);
        assert_eq!(said(&out.client), lines(&[TOLD, THIRD]), "{size}");
    }
}

#[test]
fn an_account_that_the_agent_replays_is_not_taken_for_something_the_user_said() {
    const THIRD: Turns<'static> = &[("Third", "Third answer")];
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, out, text) = prompted(&store, &world);
    desk.agent(update("s2", chunk("agent_message_chunk", "Third answer")));
    desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
    drop(desk);
    // The agent now says that it has been busy without the layer, and replays what it was told as the user's.
    world.now.set(2 * 86_400_000);
    let first = format!("{text}\n\nThird");
    let replayed = [(first.as_str(), "Third answer"), ("Outside", "Yes")];
    let listed = row("s2", "Third", "2025-10-10T00:00:00Z");
    let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &[listed]);
    for time in ["next", "after that"] {
        let out = load(&mut desk, "s1", &replayed);
        assert_eq!(said(&out.client), lines(&[TOLD, THIRD, &[("Outside", "Yes")]]), "{time}");
    }
}
