//! The times that an agent's own list gives, and those that are known here.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, update};
use crate::follower::{SOON, notified, rows, subscribe};
use crate::scenes::{CWD, ask_load, ask_resume, leave, listing, load, oblige, row};

const EARLIER: &str = "2025-08-01T00:00:00.000Z";
const LATER: &str = "2025-08-20T00:00:00.000Z";

fn reopens() -> [Value; 2] {
    [json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}}})]
}

/// Milliseconds after a whole second.
fn fraction(world: &World) {
    world.now.set(world.now.get() + 141);
}

/// A row of the agent's with these members beside what each has.
fn with(id: &str, members: &Value) -> Value {
    let mut row = json!({"sessionId": id, "cwd": CWD});
    row.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    row
}

/// Of each row of the list the id and the times, but for when it was created.
fn times(desk: &mut Desk<'_>) -> Vec<Value> {
    let member = |row: &Value| json!([row["sessionId"], row["lastPromptAt"], row["updatedAt"]]);
    rows(desk).iter().map(member).collect()
}

fn created(desk: &mut Desk<'_>, id: &str) -> Value {
    let row = rows(desk).into_iter().find(|row| row["sessionId"] == id).unwrap();
    row["_meta"]["acp-sessions"]["createdAt"].clone()
}

/// Opens a session of the agent's, which tells nothing of it, and prompts it.
fn go_on(desk: &mut Desk<'_>, capabilities: &Value, id: &str) {
    let loads = capabilities["loadSession"] == true;
    let out = if loads { ask_load(desk, "open", id) } else { ask_resume(desk, "open", id) };
    oblige(desk, out, &[], "never").answer("open");
    desk.turn(id, "Go on", &["Gone on"]);
}

#[test]
fn what_was_prompted_here_stays_first_whatever_older_time_the_agents_list_gives() {
    for capabilities in reopens() {
        for theirs in [EARLIER, "2025-10-09T08:53:20Z"] {
            let (store, world) = (Memory::new(), World::default());
            fraction(&world);
            let list = [row("x1", "One", EARLIER), row("x2", "Two", LATER)];
            let mut desk = listing(&store, &world, "a", &capabilities, &list);
            assert_eq!(desk.listed(), ["x2", "x1"]);
            go_on(&mut desk, &capabilities, "x1");
            let here = times(&mut desk);
            assert_eq!(here[0], json!(["x1", "2025-10-09T08:53:20.141Z", "2025-10-09T08:53:20.141Z"]));
            let (_, page) = subscribe(&mut desk, json!({}));
            assert_eq!(page.len(), 2);
            let list = [row("x1", "One", theirs), row("x2", "Two", LATER)];
            let mut other = listing(&store, &world, "a", &capabilities, &list);
            assert_eq!(times(&mut other), here, "{capabilities} {theirs}");
            let told = notified(&desk.wait(SOON), "session/list/changes");
            assert!(told.is_empty(), "{capabilities} {theirs}: {told:?}");
        }
    }
}

#[test]
fn what_an_agent_says_of_an_older_time_takes_nothing_back_that_was_done_here() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    fraction(&world);
    desk.turn("s1", "Go", &["Gone"]);
    let here = times(&mut desk);
    let info = json!({"sessionUpdate": "session_info_update", "title": "Theirs", "updatedAt": "2025-10-09T08:53:20Z"});
    desk.agent(update("s1", info));
    assert_eq!(times(&mut desk), here);
    assert_eq!(rows(&mut desk)[0]["title"], "Theirs");
}

#[test]
fn a_time_that_an_agent_takes_back_is_followed_where_nothing_was_said_here() {
    let (store, world) = (Memory::new(), World::default());
    for (list, expected) in [
        ([row("x1", "One", LATER)], [json!(["x1", null, LATER])]),
        ([row("x1", "One", EARLIER)], [json!(["x1", null, EARLIER])]),
        ([with("x1", &json!({"updatedAt": LATER, "lastPromptAt": EARLIER}))], [json!(["x1", EARLIER, LATER])]),
    ] {
        assert_eq!(times(&mut listing(&store, &world, "a", &json!({}), &list)), expected);
    }
}

#[test]
fn a_time_of_the_first_moment_is_none() {
    let none = ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000+00:00"];
    let untold = [with("x1", &json!({})), with("x2", &json!({})), row("x3", "Three", EARLIER), with("x4", &json!({}))];
    let shown = times(&mut listing(&Memory::new(), &World::unrecorded(), "a", &json!({}), &untold));
    assert_eq!(shown[0], json!(["x3", null, EARLIER]));
    for members in [json!({"updatedAt": none[0]}), json!({"updatedAt": none[1], "lastPromptAt": none[0]})] {
        for zero in ["x1", "x2", "x4"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let list = untold.clone().map(|row| if row["sessionId"] == zero { with(zero, &members) } else { row });
            let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &list);
            assert_eq!(times(&mut desk), shown, "{zero} {members}");
            // Told by itself it is none either.
            let out = ask_load(&mut desk, "open", "x3");
            oblige(&mut desk, out, &[], "never").answer("open");
            desk.agent(update("x3", json!({"sessionUpdate": "session_info_update", "updatedAt": none[0]})));
            assert_eq!(times(&mut desk), shown, "{zero} {members}");
        }
    }
}

#[test]
fn when_a_session_was_prompted_is_shown_as_its_agent_says_whatever_else_that_says() {
    let (store, world) = (Memory::new(), World::default());
    let day = |day: u32| format!("2025-09-{day:02}T00:00:00.000Z");
    let list = [
        with("active since", &json!({"updatedAt": day(26), "lastPromptAt": day(1)})),
        with("undated", &json!({"lastPromptAt": day(24)})),
        with("prompted since", &json!({"updatedAt": day(22), "lastPromptAt": day(25)})),
        with("created since", &json!({"updatedAt": day(22), "lastPromptAt": day(20), "createdAt": day(21)})),
        with("ended since", &json!({"lastPromptAt": day(10), "lastTurnEndedAt": day(11), "createdAt": day(9)})),
        with("unprompted", &json!({"updatedAt": day(23)})),
        with("dateless", &json!({})),
    ];
    let shown = [
        json!(["prompted since", day(25), day(25)]),
        json!(["undated", day(24), null]),
        json!(["unprompted", null, day(23)]),
        json!(["created since", day(20), day(22)]),
        json!(["ended since", day(10), null]),
        json!(["active since", day(1), day(26)]),
        json!(["dateless", null, null]),
    ];
    for time in ["first", "again"] {
        let mut desk = listing(&store, &world, "a", &json!({}), &list);
        assert_eq!(times(&mut desk), shown, "{time}");
        for (id, expected) in
            [("active since", day(1)), ("undated", day(24)), ("created since", day(20)), ("ended since", day(9))]
        {
            assert_eq!(created(&mut desk, id), expected, "{time}");
        }
        // What bounds find is what is shown.
        let bounds = json!({"createdBefore": day(2), "updatedAfter": day(25)});
        let found = desk.ask("session/list", bounds)["result"]["sessions"].clone();
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found[0]["sessionId"], "active since");
        leave(desk);
    }
}

#[test]
fn when_a_known_session_was_prompted_elsewhere_is_shown_as_its_agent_says() {
    let (store, world) = (Memory::new(), World::default());
    let day = |day: u32| format!("2025-09-{day:02}T00:00:00.000Z");
    for (members, shown) in [
        (json!({"updatedAt": day(10)}), json!(["x1", null, day(10)])),
        (json!({"updatedAt": day(10), "lastPromptAt": day(1)}), json!(["x1", day(1), day(10)])),
        (json!({"updatedAt": day(10), "lastPromptAt": day(12)}), json!(["x1", day(12), day(12)])),
        (json!({"lastPromptAt": day(14)}), json!(["x1", day(14), day(14)])),
    ] {
        for time in ["first", "again"] {
            let mut desk = listing(&store, &world, "a", &json!({}), &[with("x1", &members)]);
            assert_eq!(times(&mut desk), std::slice::from_ref(&shown), "{members} {time}");
        }
    }
}

/// A session of the agent's is loaded by its id while the agent's list is not there yet; then that comes.
fn loaded_before_the_list<'a>(store: &'a Memory, world: &'a World, turns: &[(&str, &str)], list: &[Value]) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let asked = desk.greet(Some("a"), &capabilities).request("session/list");
    load(&mut desk, "x1", turns).answer("load");
    desk.reply(&asked, json!({ "sessions": list }));
    desk.wait(0);
    desk
}

#[test]
fn a_load_before_the_agents_list_has_come_has_the_times_of_that_list() {
    for turns in [&[][..], &[("Old question", "Old answer")]] {
        for (members, createds) in
            [(json!({"updatedAt": LATER, "createdAt": EARLIER}), EARLIER), (json!({"updatedAt": LATER}), LATER)]
        {
            let (store, world) = (Memory::new(), World::default());
            let list = [with("x1", &members), row("x2", "Two", "2025-09-01T00:00:00Z")];
            let mut desk = loaded_before_the_list(&store, &world, turns, &list);
            for time in ["first", "again"] {
                assert_eq!(desk.listed(), ["x2", "x1"], "{members} {time}");
                assert_eq!(times(&mut desk)[1], json!(["x1", null, LATER]), "{members} {time}");
                assert_eq!(created(&mut desk, "x1"), createds, "{members} {time}");
                leave(desk);
                desk = listing(&store, &world, "a", &json!({}), &list);
            }
        }
    }
}

#[test]
fn what_was_prompted_here_before_the_agents_list_has_come_is_as_old_as_that_says() {
    for turns in [&[][..], &[("Old question", "Old answer")]] {
        let (store, world) = (Memory::new(), World::default());
        leave(loaded_before_the_list(&store, &world, turns, &[]));
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        load(&mut desk, "x1", turns).answer("load");
        desk.turn("x1", "Go on", &["Gone on"]);
        let here = times(&mut desk);
        let list = [with("x1", &json!({"updatedAt": LATER, "createdAt": EARLIER}))];
        let mut desk = listing(&store, &world, "a", &json!({}), &list);
        assert_eq!(times(&mut desk), here);
        assert_eq!(created(&mut desk, "x1"), EARLIER);
    }
}

#[test]
fn when_a_session_was_made_or_forked_here_is_not_the_agents_to_say() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"fork": {}}}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "Go", &["Gone"]);
    desk.ask("session/close", json!({"sessionId": "s1"}));
    world.now.set(world.now.get() + 1000);
    let params = json!({"sessionId": "s1", "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    oblige(&mut desk, out, &[], "f1").answer("fork");
    let before = (times(&mut desk), created(&mut desk, "s1"), created(&mut desk, "f1"));
    leave(desk);
    let old = json!({"updatedAt": LATER, "createdAt": EARLIER});
    let mut desk = listing(&store, &world, "a", &json!({}), &[with("s1", &old), with("f1", &old)]);
    assert_eq!((times(&mut desk), created(&mut desk, "s1"), created(&mut desk, "f1")), before);
}

#[test]
fn a_time_to_come_puts_no_session_before_the_others() {
    const TO_COME: &str = "2031-01-01T00:00:00.000Z";
    const NOW: &str = "2025-10-09T08:53:20.000Z";
    let (store, world) = (Memory::new(), World::default());
    let list = [
        with("x1", &json!({"updatedAt": TO_COME, "lastPromptAt": EARLIER})),
        with("x2", &json!({"updatedAt": TO_COME, "createdAt": EARLIER})),
        with("x3", &json!({"updatedAt": TO_COME, "createdAt": TO_COME})),
        row("x4", "Four", LATER),
    ];
    // Of what is new the best that is known else stands in for it; of the last one that is when it was found.
    let shown = [
        json!(["x3", null, NOW]),
        json!(["x4", null, LATER]),
        json!(["x2", null, EARLIER]),
        json!(["x1", EARLIER, EARLIER]),
    ];
    for time in ["first", "again"] {
        let mut desk = listing(&store, &world, "a", &json!({}), &list);
        assert_eq!(times(&mut desk), shown, "{time}");
        world.now.set(world.now.get() + 60_000);
    }
    // What is told of a session itself is taken likewise, whether it is open or not.
    let capabilities = json!({"loadSession": true});
    let mut desk = listing(&store, &world, "a", &capabilities, &list);
    go_on(&mut desk, &capabilities, "x4");
    let before = times(&mut desk);
    let info = json!({"sessionUpdate": "session_info_update", "title": "Theirs", "updatedAt": TO_COME});
    for id in ["x2", "x4"] {
        let out = desk.agent(update(id, info.clone()));
        assert_eq!(out.client[0]["params"]["update"]["title"], "Theirs", "{id}");
        assert_eq!(out.client[0]["params"]["update"].get("updatedAt"), None, "{id}");
    }
    assert_eq!(times(&mut desk), before);
    // Once it has come it is.
    world.now.set(world.now.get() + 10 * 366 * 86_400_000);
    desk.agent(update("x2", info));
    assert_eq!(times(&mut desk)[0], json!(["x2", null, TO_COME]));
}

#[test]
fn the_model_is_that_of_the_last_turn_as_far_as_the_agents_list_is_no_older() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let is_shown = |members: Value, model: &str| {
        let mut desk = listing(&store, &world, "a", &capabilities, &[with("x1", &members)]);
        assert_eq!(rows(&mut desk)[0]["model"], model, "{members}");
        desk
    };
    // Where nothing was said here, as it says.
    leave(is_shown(json!({"updatedAt": EARLIER, "model": "one"}), "one"));
    leave(is_shown(json!({"updatedAt": EARLIER, "model": "two"}), "two"));
    leave(is_shown(json!({"updatedAt": EARLIER}), "two"));
    leave(is_shown(json!({"lastTurnEndedAt": EARLIER, "model": "three"}), "three"));
    leave(is_shown(json!({"lastTurnEndedAt": EARLIER, "model": "four"}), "four"));
    let mut desk = is_shown(json!({"model": "five"}), "five");
    // Its user chooses one here, and has a turn with it.
    fraction(&world);
    let asked = ask_load(&mut desk, "open", "x1").request("session/load");
    let models = json!({"currentModelId": "mine", "availableModels": [{"modelId": "mine", "name": "Mine"}]});
    let out = desk.reply(&asked, json!({ "models": models }));
    oblige(&mut desk, out, &[], "never").answer("open");
    desk.turn("x1", "Go on", &["Gone on"]);
    leave(desk);
    for older in [json!({"lastTurnEndedAt": LATER}), json!({"updatedAt": LATER}), json!({})] {
        let mut members = older;
        members["model"] = "older".into();
        leave(is_shown(members, "mine"));
    }
    // One of the same second is about the same turn, and a later one about a later turn.
    leave(is_shown(json!({"lastTurnEndedAt": "2025-10-09T08:53:20Z", "model": "My own"}), "My own"));
    world.now.set(world.now.get() + 60_000);
    leave(is_shown(json!({"updatedAt": "2025-10-09T08:54:00Z", "model": "theirs"}), "theirs"));
    // What is still to come is of no turn.
    leave(is_shown(json!({"updatedAt": "2031-01-01T00:00:00Z", "model": "never"}), "theirs"));
}
