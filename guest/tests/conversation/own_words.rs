//! What the layer says itself never comes back as something the user, the agent or a title says.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, StorageError};
use acp_sessions_guest::transcript::own_words::{CLOSING, CONTEXT, OPENING};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
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
fn an_account_that_the_agent_tells_of_a_session_that_is_over_and_was_never_noted_reaches_nobody() {
    for has_left in [true, false] {
        let (store, world) = (Faulty::default(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let asked = ask_load(&mut desk, "load", &id).request("session/new");
        store.fail(0, 1000, StorageError::ReadOnly);
        assert!(desk.reply(&asked, json!({"sessionId": "s2"})).answer("load")["error"].is_null());
        let out = ask_prompt(&mut desk, "prompt", &id, "Third");
        let text = account(&out).unwrap();
        if has_left {
            desk.engine.peer_closed(Peer::Client);
            desk.pull();
        } else {
            let close = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
            assert!(close.is_open("close"));
            let out = desk.reply(&out.request("session/prompt"), json!({"stopReason": "cancelled"}));
            assert_eq!(out.answer("close")["error"]["code"], -32603);
        }
        let info = json!({"sessionUpdate": "session_info_update", "title": text});
        for said in [info, chunk("user_message_chunk", &text), chunk("agent_message_chunk", "Late")] {
            let out = desk.agent(update("s2", said.clone()));
            // Where the store did not take what was said the close has failed, and it is not over: but for the account, all
            // that its agent says is shown.
            let is_shown = !has_left && said["content"]["text"] == "Late";
            assert_eq!(out.client.len(), usize::from(is_shown), "left: {has_left}, {said}: {:?}", out.client);
        }
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

/// The agent has answered the prompt that came with the account, days ago; what it was told.
fn told_with_account(store: &Memory, world: &World) -> String {
    let (mut desk, out, text) = prompted(store, world);
    desk.agent(update("s2", chunk("agent_message_chunk", "Third answer")));
    desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
    world.now.set(2 * 86_400_000);
    text
}

#[test]
fn an_account_that_the_agent_replays_is_not_taken_for_something_the_user_said() {
    const THIRD: Turns<'static> = &[("Third", "Third answer")];
    let (store, world) = (Memory::new(), World::default());
    let text = told_with_account(&store, &world);
    // The agent now says that it has been busy without the layer, and replays what it was told as the user's.
    let first = format!("{text}\n\nThird");
    let replayed = [(first.as_str(), "Third answer"), ("Outside", "Yes")];
    let listed = row("s2", "Third", "2025-10-10T00:00:00Z");
    let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &[listed]);
    for time in ["next", "after that"] {
        let out = load(&mut desk, "s1", &replayed);
        assert_eq!(said(&out.client), lines(&[TOLD, THIRD, &[("Outside", "Yes")]]), "{time}");
    }
}

/// Who says it, in which message, and what.
type Messages<'a> = Vec<(&'static str, Value, &'a str)>;
/// Who says it, and what.
type Shown = &'static [(&'static str, &'static str)];

/// What an agent replays, text in pieces of `size` characters.
fn replayed(messages: &[(&str, Value, &str)], size: usize) -> Vec<Value> {
    let mut updates = Vec::new();
    for (kind, id, text) in messages {
        let mut with = |mut update: Value| {
            if !id.is_null() {
                update["messageId"] = id.clone();
            }
            updates.push(update);
        };
        if *kind == "image" {
            let content = json!({"type": "image", "data": "", "mimeType": "image/png"});
            with(json!({"sessionUpdate": "user_message_chunk", "content": content}));
            continue;
        }
        for piece in text.chars().collect::<Vec<_>>().chunks(size) {
            with(chunk(&format!("{kind}_message_chunk"), &piece.iter().collect::<String>()));
        }
    }
    updates
}

/// A load by an agent that replays these updates.
fn load_replayed(desk: &mut Desk<'_>, session: &str, updates: &[Value]) -> Out {
    let mut out = ask_load(desk, "load", session);
    let asked = out.request("session/load");
    let agent_id = asked["params"]["sessionId"].as_str().unwrap().to_owned();
    for told in updates {
        out.extend(desk.agent(update(&agent_id, told.clone())));
    }
    out.extend(desk.reply(&asked, json!({})));
    oblige(desk, out, &[], "fresh")
}

/// The client's updates of messages: what kind, and the text, or the type of what is no text; adjacent text joined.
fn messages(out: &Out) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for update in out.client.iter().map(|message| &message["params"]["update"]) {
        let Some(kind) = update["sessionUpdate"].as_str().filter(|kind| kind.ends_with("_message_chunk")) else {
            continue;
        };
        let text = update["content"]["text"].as_str();
        match (text, all.last_mut().filter(|(last, _)| last == kind)) {
            (Some(text), Some((_, joined))) if joined != "[image]" => joined.push_str(text),
            _ => all.push((kind.to_owned(), text.unwrap_or("[image]").to_owned())),
        }
    }
    all
}

#[test]
fn an_account_that_is_replayed_in_pieces_is_neither_shown_nor_kept() {
    let account = format!("{OPENING}{CONTEXT}\n\nUser: Before\n\n{CLOSING}\n\n");
    let (one, cut_off) = (format!("{account}Third"), &account[..account.len() - 20]);
    let null = || Value::Null;
    let cases: [(&str, Messages<'_>, Shown); 7] = [
        (
            "in one message",
            vec![("user", null(), &one), ("agent", null(), "Yes")],
            &[("user", "Third"), ("agent", "Yes")],
        ),
        (
            "in a message of its own",
            vec![("user", json!("m1"), &account), ("user", json!("m2"), "Third"), ("agent", null(), "Yes")],
            &[("user", "Third"), ("agent", "Yes")],
        ),
        (
            "cut off with its message",
            vec![("user", json!("m1"), cut_off), ("user", json!("m2"), "Third"), ("agent", null(), "Yes")],
            &[("user", "Third"), ("agent", "Yes")],
        ),
        (
            "what only begins like one",
            vec![("user", null(), "A list: [Ea"), ("agent", null(), "Yes"), ("user", null(), "[E")],
            &[("user", "A list: [Ea"), ("agent", "Yes"), ("user", "[E")],
        ),
        (
            "what only begins like one, in two messages",
            vec![("user", json!("m1"), "Before ["), ("user", json!("m2"), "Earlier"), ("agent", null(), "Yes")],
            &[("user", "Before [Earlier"), ("agent", "Yes")],
        ),
        (
            "what only begins like one, before an image",
            vec![("user", null(), "Look: [Ea"), ("image", null(), ""), ("agent", null(), "Yes")],
            &[("user", "Look: [Ea"), ("user", "[image]"), ("agent", "Yes")],
        ),
        (
            "one that the agent quotes",
            vec![("user", null(), "Say it"), ("agent", null(), "[End of the earlier conversation.")],
            &[("user", "Say it"), ("agent", "[End of the earlier conversation.")],
        ),
    ];
    for (name, told, expected) in &cases {
        let expected: Vec<(String, String)> =
            expected.iter().map(|(kind, text)| (format!("{kind}_message_chunk"), (*text).to_owned())).collect();
        for size in [1, 7, 100, 10_000] {
            let (store, world) = (Memory::new(), World::default());
            let listed = || [row("o1", "Old", "2025-01-01T00:00:00Z")];
            let updates = replayed(told, size);
            let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &listed());
            let out = load_replayed(&mut desk, "o1", &updates);
            assert!(out.answer("load")["error"].is_null());
            assert_eq!(out.client.last().unwrap()["id"], "load", "{name}: all of it comes before the answer");
            assert_eq!(messages(&out), expected, "{name}, {size} at a time: what is shown");
            // An agent that cannot load: what is shown is what was recorded.
            let mut desk = listing(&store, &world, "a", &json!({}), &listed());
            let out = load(&mut desk, "o1", &[]);
            assert_eq!(messages(&out), expected, "{name}, {size} at a time: what was kept");
        }
    }
}

#[test]
fn an_account_that_the_agent_replays_in_pieces_is_no_change_of_the_conversation() {
    for size in [1, 7, 100] {
        let (store, world) = (Memory::new(), World::default());
        let text = told_with_account(&store, &world);
        let first = format!("{text}\n\nThird");
        let null = || Value::Null;
        let told = [
            ("user", null(), first.as_str()),
            ("agent", null(), "Third answer"),
            ("user", null(), "Outside ["),
            ("agent", null(), "Yes"),
        ];
        let listed = row("s2", "Third", "2025-10-10T00:00:00Z");
        let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &[listed]);
        let out = load_replayed(&mut desk, "s1", &replayed(&told, size));
        let expected = lines(&[TOLD, &[("Third", "Third answer"), ("Outside [", "Yes")]]);
        assert_eq!(said(&out.client), expected, "{size} at a time");
    }
}

/// What an agent that is given a prompt with an account says to it, in pieces of `size` characters.
fn answered(store: &Memory, world: &World, said: impl Fn(&str) -> String, size: usize) -> (Out, String) {
    let (mut desk, out, text) = prompted(store, world);
    let mut told = Out::default();
    for piece in said(&text).chars().collect::<Vec<_>>().chunks(size) {
        told.extend(desk.agent(update("s2", chunk("agent_message_chunk", &piece.iter().collect::<String>()))));
    }
    told.extend(desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})));
    (told, text)
}

#[test]
fn an_agent_that_says_all_it_was_told_as_its_own_does_not_say_the_account() {
    for size in [1, 7, 100, 100_000] {
        let (store, world) = (Memory::new(), World::default());
        let (told, text) = answered(&store, &world, |account| format!("You said: {account}\n\nThird"), size);
        let expected = [("agent_message_chunk".to_owned(), "You said: Third".to_owned())];
        assert_eq!(messages(&told), expected, "{size} at a time");
        assert_eq!(told.client.last().unwrap()["id"], "prompt", "all of it comes before the answer");
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = load(&mut desk, "s1", &[]);
        assert_eq!(said(&out.client), lines(&[TOLD, &[("Third", "You said: Third")]]), "{size} at a time");
        assert!(!format!("{:?}", out.client).contains(&head(&text, 30)));
    }
}

#[test]
fn what_an_agent_says_that_is_no_account_is_said_whole() {
    let begun = format!("{OPENING}{CONTEXT}\n\nUser: Before");
    for answer in ["A list: [", "[Earlier", &begun, CLOSING] {
        for size in [1, 7, 100_000] {
            let (store, world) = (Memory::new(), World::default());
            let (told, _) = answered(&store, &world, |_| answer.to_owned(), size);
            let expected = [("agent_message_chunk".to_owned(), answer.to_owned())];
            assert_eq!(messages(&told), expected, "{size} at a time");
            assert_eq!(told.client.last().unwrap()["id"], "prompt", "all of it comes before the answer");
            let mut desk = Desk::ready(&store, &world, &json!({}));
            let out = load(&mut desk, "s1", &[]);
            assert_eq!(said(&out.client), lines(&[TOLD, &[("Third", answer)]]), "{size} at a time");
        }
    }
}

#[test]
fn what_is_held_back_of_an_agents_words_is_there_when_the_agent_ends() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, _, _) = prompted(&store, &world);
    desk.agent(update("s2", chunk("agent_message_chunk", "A list: [Earlier")));
    desk.engine.peer_closed(Peer::Agent);
    let shown = desk.pull();
    assert!(format!("{:?}", shown.client).contains("[Earlier"), "{:?}", shown.client);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, "s1", &[]);
    assert_eq!(said(&out.client), lines(&[TOLD, &[("Third", "A list: [Earlier")]]));
}

#[test]
fn an_account_that_is_replayed_as_the_agents_is_neither_shown_nor_kept() {
    let account = format!("{OPENING}{CONTEXT}\n\nUser: Before\n\n{CLOSING}\n\n");
    let null = || Value::Null;
    let (told, begun) = (format!("{account}Third"), format!("{OPENING} and so on"));
    let cases: [(Messages<'_>, Vec<(&str, &str)>); 3] = [
        (vec![("user", null(), &told), ("agent", null(), &told)], vec![("user", "Third"), ("agent", "Third")]),
        (
            vec![("user", null(), "Say it"), ("agent", json!("m1"), &account), ("agent", json!("m2"), "Yes")],
            vec![("user", "Say it"), ("agent", "Yes")],
        ),
        (
            vec![
                ("user", null(), "Say it"),
                ("agent", null(), &begun),
                ("user", null(), "More"),
                ("agent", null(), "["),
            ],
            vec![("user", "Say it"), ("agent", &begun), ("user", "More"), ("agent", "[")],
        ),
    ];
    for (told, expected) in &cases {
        let expected: Vec<(String, String)> =
            expected.iter().map(|(kind, text)| (format!("{kind}_message_chunk"), (*text).to_owned())).collect();
        for size in [1, 7, 10_000] {
            let (store, world) = (Memory::new(), World::default());
            let listed = || [row("o1", "Old", "2025-01-01T00:00:00Z")];
            let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &listed());
            let out = load_replayed(&mut desk, "o1", &replayed(told, size));
            assert_eq!(out.client.last().unwrap()["id"], "load", "all of it comes before the answer");
            assert_eq!(messages(&out), expected, "{size} at a time: what is shown");
            let mut desk = listing(&store, &world, "a", &json!({}), &listed());
            let out = load(&mut desk, "o1", &[]);
            assert_eq!(messages(&out), expected, "{size} at a time: what was kept");
        }
    }
}
