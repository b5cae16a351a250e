//! Titles: who gives them, who is told of them.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::sessions::panel::{self, SessionError};
use acp_sessions_guest::storage::{Memory, Storage};
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, update};
use crate::scenes::{CWD, ask_load, ask_prompt, ask_resume, begun, leave, listing, load, oblige, row, updates};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn titles() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "title": {}}})
}

fn set_title<S: Storage>(desk: &mut Desk<'_, S>, title: &str) -> Out {
    let params = json!({"sessionId": "s1", "title": title, "_meta": {"x": 1}});
    desk.client(json!({"id": "title", "method": "session/set_title", "params": params}))
}

fn info(title: &Value) -> Value {
    json!({"sessionUpdate": "session_info_update", "title": title})
}

fn listed_title(desk: &mut Desk<'_>) -> Value {
    desk.ask("session/list", json!({}))["result"]["sessions"][0]["title"].clone()
}

/// A session of one turn, open.
fn of_one_turn<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    begun(store, world, capabilities, &[("Hi", "Ho")])
}

#[test]
fn a_session_is_called_as_the_first_prompt_in_it_whichever_ends_first() {
    for is_refused in [true, false] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        let first = ask_prompt(&mut desk, "first", "s1", "The first thing").request("session/prompt");
        let second = ask_prompt(&mut desk, "second", "s1", "Something else").request("session/prompt");
        let ended = json!({"stopReason": "end_turn"});
        let mut out = if is_refused { desk.refuse(&second, -32600) } else { desk.reply(&second, ended.clone()) };
        out.extend(desk.reply(&first, ended));
        assert_eq!(updates(&out, "session_info_update"), [&info(&"The first thing".into())], "{is_refused}");
        assert_eq!(listed_title(&mut desk), "The first thing", "{is_refused}");
    }
}

#[test]
fn a_session_is_called_as_the_first_prompt_in_it_from_there_on_whatever_becomes_of_its_window() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut killed = Desk::ready(&store, &world, &json!({}));
    killed.new_session("s1", CWD);
    let out = ask_prompt(&mut killed, "first", "s1", "The first thing");
    assert!(updates(&out, "session_info_update").is_empty(), "the client is told with the end of the turn");
    assert_eq!(listed_title(&mut killed), "The first thing");
    drop(killed);
    for comes in [0, 60_000] {
        world.now.set(world.now.get() + comes);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        assert_eq!(listed_title(&mut desk), "The first thing", "{comes}");
        let out = load(&mut desk, "s1", &[]);
        assert_eq!(updates(&out, "session_info_update"), [&info(&"The first thing".into())], "{comes}");
        desk.turn("s1", "Something else", &["Yes"]);
        assert_eq!(listed_title(&mut desk), "The first thing", "{comes}");
        leave(desk);
    }
}

#[test]
fn a_window_is_told_what_its_session_is_called_with_the_end_of_the_first_turn_though_another_has_come() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "first", "s1", "The first thing").request("session/prompt");
    let mut other = Desk::ready(&store, &world, &json!({}));
    load(&mut other, "s1", &[]);
    other.turn("s1", "Something else", &["Yes"]);
    let out = desk.reply(&asked, json!({"stopReason": "end_turn"}));
    let told = updates(&out, "session_info_update");
    assert!(!told.is_empty() && told.iter().all(|told| **told == info(&"The first thing".into())), "{told:?}");
    assert_eq!(listed_title(&mut desk), "The first thing");
}

#[test]
fn a_session_whose_only_prompt_was_refused_is_called_as_that() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "only", "s1", "The only thing").request("session/prompt");
    desk.refuse(&asked, -32600);
    assert_eq!(listed_title(&mut desk), "The only thing");
}

#[test]
fn a_title_that_the_user_sets_is_told_to_an_agent_that_has_titles() {
    for (capabilities, is_told) in [(titles(), true), (json!({"loadSession": true}), false)] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = of_one_turn(&store, &world, &capabilities);
        for is_open in [true, false] {
            let out = set_title(&mut desk, "  Mine ");
            assert_eq!(out.answer("title")["result"], json!({"title": "Mine"}));
            let told = out.asked("session/set_title").map(|asked| asked["params"].clone());
            let expected = json!({"sessionId": "s1", "title": "Mine", "_meta": {"x": 1}});
            assert_eq!(told, is_told.then_some(expected), "open: {is_open}");
            if let Some(asked) = out.asked("session/set_title").cloned() {
                assert!(desk.refuse(&asked, -32603).client.is_empty(), "what the agent makes of it is its own affair");
            }
            assert_eq!(listed_title(&mut desk), "Mine");
            desk.engine.peer_closed(Peer::Client);
            desk = Desk::ready(&store, &world, &capabilities);
        }
    }
}

#[test]
fn a_title_that_cannot_be_set_is_told_to_nobody() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = of_one_turn(&store, &world, &titles());
    let out = set_title(&mut desk, " ");
    assert_eq!(out.answer("title")["error"]["code"], -32602);
    assert!(out.agent.is_empty());
}

#[test]
fn a_title_that_the_user_sets_is_one_line_to_everybody() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = of_one_turn(&store, &world, &titles());
    for (given, kept) in [
        ("One\r\n\n two\u{0}three\t\u{2028}four\u{85}", "One two three four"),
        ("two  spaces", "two  spaces"),
        (&["a"; 250].join("\n\n"), &["a"; 250].join(" ")),
    ] {
        let out = set_title(&mut desk, given);
        assert_eq!(out.answer("title")["result"]["title"], kept);
        assert_eq!(out.request("session/set_title")["params"]["title"], kept);
        assert_eq!(listed_title(&mut desk), kept);
        let by_hand = panel::rename(&Store::new(&store), "s1", given);
        assert_eq!(by_hand.ok().as_deref(), Some(kept));
        assert_eq!(listed_title(&mut desk), kept);
    }
    for nothing in [" \n ", "\u{0}", "\t\u{2029}\u{7f}"] {
        assert_eq!(set_title(&mut desk, nothing).answer("title")["error"]["code"], -32602, "{nothing:?}");
        let by_hand = panel::rename(&Store::new(&store), "s1", nothing);
        assert!(matches!(by_hand, Err(SessionError::Invalid(_))), "{nothing:?}");
    }
}

#[test]
fn a_title_that_was_set_is_no_error_though_the_store_cannot_be_read_any_more() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &titles());
    desk.new_session("s1", CWD);
    store.is_unreadable_then.set(true);
    let out = set_title(&mut desk, "Mine");
    assert!(store.is_unreadable.take());
    assert_eq!(out.answer("title")["result"]["title"], "Mine");
    assert_eq!(out.request("session/set_title")["params"]["title"], "Mine");
}

#[test]
fn an_agent_that_begins_the_session_afresh_is_told_its_users_title() {
    let (store, world) = (Memory::new(), World::default());
    set_title(&mut of_one_turn(&store, &world, &json!({})), "Mine");
    let capabilities = json!({"sessionCapabilities": {"title": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let out = ask_load(&mut desk, "load", "s1");
    let out = oblige(&mut desk, out, &[], "s2");
    assert_eq!(out.request("session/set_title")["params"], json!({"sessionId": "s2", "title": "Mine"}));
}

#[test]
fn what_an_agent_calls_a_session_while_that_is_opened_for_the_first_time_is_kept() {
    let said = json!({"sessionUpdate": "session_info_update", "title": "Theirs", "_meta": {"theirs": 1}});
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    for is_fork in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (out, id, answer) = if is_fork {
            desk.new_session("s1", CWD);
            desk.turn("s1", "Hi", &["Ho"]);
            let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
            let out = desk.client(json!({"id": "open", "method": "session/fork", "params": params}));
            (out.request("session/fork"), "f1", json!({"sessionId": "f1"}))
        } else {
            (ask_load(&mut desk, "open", "o1").request("session/load"), "o1", json!({}))
        };
        let mut told = desk.agent(update(id, said.clone()));
        told.extend(desk.reply(&out, answer));
        told.answer("open");
        assert_eq!(updates(&told, "session_info_update")[0]["title"], "Theirs", "{is_fork}");
        let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
        let row = rows.as_array().unwrap().iter().find(|row| row["title"] == "Theirs");
        let row = row.unwrap_or_else(|| panic!("{is_fork}: {rows}"));
        assert_eq!(row["_meta"]["theirs"], 1, "{is_fork}");
    }
}

#[test]
fn an_agent_without_a_list_is_told_its_users_title_as_it_opens_the_session() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"title": {}, "resume": {}}});
    leave(of_one_turn(&store, &world, &capabilities));
    // It was not there when its user said so.
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &json!({}));
    set_title(&mut desk, "Mine");
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let out = ask_load(&mut desk, "load", "s1");
    let out = oblige(&mut desk, out, &[], "s2");
    assert_eq!(out.request("session/set_title")["params"], json!({"sessionId": "s1", "title": "Mine"}));
}

#[test]
fn an_agent_whose_list_has_another_title_is_told_the_users_once_a_connection() {
    let (store, world) = (Memory::new(), World::default());
    set_title(&mut of_one_turn(&store, &world, &json!({})), "What the user calls it");
    for (theirs, is_told) in [
        ("Theirs", true),
        ("What the user calls it", false),
        // It has been told, and keeps as much of it as it has room for.
        ("What the user…", false),
        ("What the user calls...", false),
    ] {
        let mut desk = Desk::open(&store, &world, &[]);
        let out = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}, "title": {}}}));
        let page = json!({"sessions": [row("s1", theirs, "2025-10-09T08:53:20Z")]});
        let mut out = desk.reply(&out.request("session/list"), page);
        out.extend(desk.wait(0));
        let told: Vec<&Value> = out.agent.iter().filter(|asked| asked["method"] == "session/set_title").collect();
        assert_eq!(told.len(), usize::from(is_told), "{theirs}");
        assert!(told.iter().all(|asked| asked["params"]["title"] == "What the user calls it"));
        assert_eq!(listed_title(&mut desk), "What the user calls it");
    }
}

/// What an agent makes of a title that it is told.
#[derive(Debug, Clone, Copy)]
enum Made {
    /// It keeps it in its own way.
    ItsOwn,
    Error(i64),
    /// It says nothing to it.
    Nothing,
}

/// The agent, which calls the session something else, is read the list of on a new connection: it answers so whatever it is told
/// of titles. How often it is told.
fn told_by_list(store: &Memory, world: &World, made: Made) -> usize {
    let mut desk = Desk::open(store, world, &[]);
    let out = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}, "title": {}}}));
    let mut out = desk.reply(&out.request("session/list"), json!({"sessions": [row("s1", "mine", LONG_AGO)]}));
    out.extend(desk.wait(0));
    let told: Vec<Value> = out.agent.into_iter().filter(|asked| asked["method"] == "session/set_title").collect();
    for asked in &told {
        answer_title(&mut desk, asked, made);
    }
    told.len()
}

fn answer_title(desk: &mut Desk<'_>, asked: &Value, made: Made) {
    match made {
        Made::ItsOwn => desk.reply(asked, json!({"title": "mine"})),
        Made::Error(code) => desk.refuse(asked, code),
        Made::Nothing => return,
    };
}

#[test]
fn a_title_that_an_agent_keeps_in_its_own_way_is_told_to_it_once_whatever_its_list_says() {
    for made in [Made::ItsOwn, Made::Error(-32602)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        of_one_turn(&store, &world, &json!({}));
        for title in ["Mine, Which Is Long", "Another One"] {
            // It takes no titles when its user says so.
            set_title(&mut Desk::ready(&store, &world, &json!({})), title);
            let told: Vec<usize> = (0..3).map(|_| told_by_list(&store, &world, made)).collect();
            assert_eq!(told, [1, 0, 0], "{made:?}, {title}");
        }
    }
}

#[test]
fn an_agent_that_was_told_a_title_at_once_is_told_again_only_where_it_has_not_taken_it() {
    for (made, then) in [
        (Made::ItsOwn, [0, 0, 0]),
        (Made::Error(-32602), [1, 0, 0]),
        // It does not know its user.
        (Made::Error(-32000), [1, 1, 1]),
        // It may have been killed before it read it.
        (Made::Nothing, [1, 1, 1]),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = of_one_turn(&store, &world, &titles());
        let asked = set_title(&mut desk, "Mine, Which Is Long").request("session/set_title");
        answer_title(&mut desk, &asked, made);
        let told = [(); 3].map(|()| told_by_list(&store, &world, made));
        assert_eq!(told, then, "{made:?}");
    }
}

#[test]
fn an_agent_without_a_list_is_told_a_title_with_each_opening_until_it_has_answered() {
    for (made, is_told) in [(Made::ItsOwn, false), (Made::Nothing, true)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = of_one_turn(&store, &world, &titles());
        let asked = set_title(&mut desk, "Mine").request("session/set_title");
        answer_title(&mut desk, &asked, made);
        leave(desk);
        for _ in 0..2 {
            let mut desk = Desk::ready(&store, &world, &titles());
            let asked = ask_load(&mut desk, "load", "s1").request("session/load");
            let out = desk.reply(&asked, json!({}));
            assert_eq!(out.asked("session/set_title").is_some(), is_told, "{made:?}: {:?}", out.agent);
            leave(desk);
        }
    }
}

#[test]
fn a_title_of_the_users_stays_and_clients_are_shown_no_other() {
    let (store, world) = (Memory::new(), World::default());
    world.now.set(90 * 86_400_000);
    let mut desk = of_one_turn(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    set_title(&mut desk, "Mine");
    let dated = json!({"sessionUpdate": "session_info_update", "title": "Theirs", "updatedAt": "2026-01-01T00:00:00Z"});
    for is_open in [true, false] {
        for title in [json!("Theirs"), Value::Null] {
            let out = desk.agent(update("s1", info(&title)));
            assert!(out.client.is_empty(), "open: {is_open}, {title}: {:?}", out.client);
        }
        let out = desk.agent(update("s1", dated.clone()));
        let shown = updates(&out, "session_info_update");
        assert_eq!(shown.len(), 1, "open: {is_open}");
        assert_eq!((&shown[0]["title"], &shown[0]["updatedAt"]), (&Value::Null, &json!("2026-01-01T00:00:00.000Z")));
        assert_eq!(listed_title(&mut desk), "Mine");
        desk.engine.peer_closed(Peer::Client);
        desk =
            listing(&store, &world, "a", &json!({"loadSession": true}), &[row("s1", "Theirs", "2026-01-01T00:00:00Z")]);
        assert_eq!(listed_title(&mut desk), "Mine");
    }
}

#[test]
fn load_and_resume_tell_the_client_the_title() {
    let (store, world) = (Memory::new(), World::default());
    of_one_turn(&store, &world, &titles()).engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &titles());
    for is_live in [false, true] {
        let out = load(&mut desk, "s1", &[("Hi", "Ho")]);
        let told = updates(&out, "session_info_update");
        assert_eq!(told, [&json!({"sessionUpdate": "session_info_update", "title": "Hi"})], "live: {is_live}");
        assert_eq!(out.client.last().unwrap()["id"], "load", "before the answer");
    }
    set_title(&mut desk, "Mine");
    let mut fresh = Desk::ready(&store, &world, &titles());
    for is_live in [false, true] {
        let out = ask_resume(&mut fresh, "resume", "s1");
        let out = oblige(&mut fresh, out, &[], "never");
        let told = updates(&out, "session_info_update");
        assert_eq!(told, [&json!({"sessionUpdate": "session_info_update", "title": "Mine"})], "live: {is_live}");
        assert_eq!(out.client[0]["id"], "resume", "behind the answer: nothing comes before it");
    }
}

#[test]
fn a_session_without_a_title_has_none_to_tell() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &titles());
    desk.new_session("s1", CWD);
    let out = load(&mut desk, "s1", &[]);
    assert!(updates(&out, "session_info_update").is_empty(), "{:?}", out.client);
}
