//! The mode and the model that a client has set, put back when its session is opened again.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, ask_fork, ask_load, ask_prompt, ask_resume, leave, load, met, oblige, updates};

/// What becomes of a setting that was made earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Agreed,
    Refused,
    /// The agent does not offer it any more.
    Unavailable,
}

/// Modes and models as an agent gives them, the first of each being in force.
fn given(fate: Fate) -> Value {
    let ids: &[&str] = if fate == Fate::Unavailable { &["first", "third"] } else { &["first", "set", "third"] };
    let all = |name: &str| ids.iter().map(|id| json!({ name: id, "name": id })).collect::<Vec<_>>();
    json!({
        "modes": {"currentModeId": "first", "availableModes": all("id")},
        "models": {"currentModelId": "first", "availableModels": all("modelId")},
    })
}

/// A client that is shown the models of sessions in its list.
fn client() -> Value {
    json!({"session": {"listChanged": {}}})
}

/// An agent that has a session opened by this method.
fn opens_by(method: &str) -> Value {
    match method {
        "session/load" => json!({"loadSession": true}),
        "session/resume" => json!({"sessionCapabilities": {"resume": {}}}),
        _ => json!({"sessionCapabilities": {"fork": {}}}),
    }
}

/// A session in which the client has set both.
fn set(store: &Memory, world: &World) {
    let mut desk = met(store, world, &client(), &json!({}));
    let asked = desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    let mut answer = given(Fate::Agreed);
    answer["sessionId"] = "s1".into();
    desk.reply(&asked.request("session/new"), answer);
    desk.turn("s1", "Hi", &["Ho"]);
    for (method, name) in SETTINGS {
        let asked = desk.client(json!({"id": method, "method": method, "params": {"sessionId": "s1", name: "set"}}));
        desk.reply(&asked.request(method), json!({}));
    }
    leave(desk);
}

const SETTINGS: [(&str, &str); 2] = [("session/set_mode", "modeId"), ("session/set_model", "modelId")];

fn in_force(answer: &Value) -> [&str; 2] {
    ["/result/modes/currentModeId", "/result/models/currentModelId"]
        .map(|path| answer.pointer(path).and_then(Value::as_str).unwrap_or_default())
}

/// The agent opens it, and this becomes of what was set.
fn opens(desk: &mut Desk<'_>, asked: &Out, method: &str, fate: Fate) -> Out {
    let mut answer = given(fate);
    if method == "session/fork" {
        answer["sessionId"] = "f1".into();
    }
    let mut out = desk.reply(&asked.request(method), answer);
    for (setting, name) in SETTINGS {
        let Some(request) = out.asked(setting).cloned() else {
            assert_eq!(fate, Fate::Unavailable, "{setting} is asked for");
            continue;
        };
        assert_eq!(request["params"][name], "set");
        assert_ne!(fate, Fate::Unavailable, "{setting} is not asked for");
        let answered =
            if fate == Fate::Agreed { desk.reply(&request, json!({})) } else { desk.refuse(&request, -32602) };
        out.extend(answered);
    }
    oblige(desk, out, &[], "never")
}

#[test]
fn what_a_client_is_answered_is_in_force() {
    for fate in [Fate::Agreed, Fate::Refused, Fate::Unavailable] {
        for method in ["session/load", "session/resume", "session/fork"] {
            let (store, world) = (Memory::new(), World::default());
            set(&store, &world);
            let mut desk = met(&store, &world, &client(), &opens_by(method));
            let (asked, id) = match method {
                "session/load" => (ask_load(&mut desk, "open", "s1"), "open"),
                "session/resume" => (ask_resume(&mut desk, "open", "s1"), "open"),
                _ => (ask_fork(&mut desk, "s1"), "fork"),
            };
            let out = opens(&mut desk, &asked, method, fate);
            let expected = if fate == Fate::Agreed { ["set"; 2] } else { ["first"; 2] };
            assert_eq!(in_force(out.answer(id)), expected, "{method}, {fate:?}");
            let session = out.answer(id)["result"]["sessionId"].as_str().unwrap_or("s1").to_owned();
            // While it is open, the client may ask again.
            let out = load(&mut desk, &session, &[]);
            assert_eq!(in_force(out.answer("load")), expected, "a load of what is open, {method}, {fate:?}");
            desk.turn(&session, "On", &["Yes"]);
            desk.wait(500);
            let list = desk.ask("session/list", json!({}));
            let row = list["result"]["sessions"].as_array().unwrap().iter().find(|row| row["sessionId"] == *session);
            assert_eq!(row.unwrap()["model"], expected[1], "the row, {method}, {fate:?}");
        }
    }
}

#[test]
fn a_client_is_told_of_a_mode_that_is_no_longer_offered_by_an_agent_that_was_started_again() {
    let (store, world) = (Memory::new(), World::default());
    set(&store, &world);
    let resumes = opens_by("session/resume");
    let mut desk = met(&store, &world, &client(), &resumes);
    let asked = ask_resume(&mut desk, "open", "s1");
    opens(&mut desk, &asked, "session/resume", Fate::Agreed);
    desk.revive(&resumes);
    let asked = ask_prompt(&mut desk, "next", "s1", "On");
    let out = opens(&mut desk, &asked, "session/resume", Fate::Unavailable);
    let told = updates(&out, "current_mode_update");
    assert_eq!(told.iter().map(|update| &update["currentModeId"]).collect::<Vec<_>>(), ["first"]);
}
