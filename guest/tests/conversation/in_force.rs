//! The mode and the model that a client has set, put back when its session is opened again.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, update};
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

/// An agent that has its mode and its model as options as well, and begins each time with the first of each. Another model resets
/// the effort.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Faithful {
    mode: String,
    model: String,
    effort: String,
    /// Whether it answers `session/set_config_option` with the complete list.
    tells_list: bool,
}

impl Faithful {
    fn begun(tells_list: bool) -> Self {
        Self { mode: "code".to_owned(), model: "m1".to_owned(), effort: "low".to_owned(), tells_list }
    }

    fn set(&mut self, id: &str, value: &str) {
        match id {
            "mode" => value.clone_into(&mut self.mode),
            "model" => {
                value.clone_into(&mut self.model);
                "low".clone_into(&mut self.effort);
            }
            "effort" => value.clone_into(&mut self.effort),
            _ => panic!("{id} was never offered"),
        }
    }

    fn options(&self) -> Value {
        let option = |id: &str, category: &str, current: &str, all: &[&str]| {
            let choices: Vec<_> = all.iter().map(|value| json!({ "value": value, "name": value })).collect();
            json!({"id": id, "name": id, "type": "select", "category": category, "currentValue": current, "options": choices})
        };
        json!([
            option("mode", "mode", &self.mode, &["code", "plan", "ask"]),
            option("model", "model", &self.model, &["m1", "m2", "m3"]),
            option("effort", "thought_level", &self.effort, &["low", "high"]),
        ])
    }

    /// What it answers to being asked for a session.
    fn given(&self) -> Value {
        let all = |name: &str, ids: [&str; 3]| ids.map(|id| json!({ name: id, "name": id }));
        json!({
            "modes": {"currentModeId": self.mode, "availableModes": all("id", ["code", "plan", "ask"])},
            "models": {"currentModelId": self.model, "availableModels": all("modelId", ["m1", "m2", "m3"])},
            "configOptions": self.options(),
        })
    }

    /// Does what it is asked to set, as long as it is; what else comes out.
    fn obey(&mut self, desk: &mut Desk<'_>, mut out: Out) -> Out {
        let mut all = Out::default();
        loop {
            let asked: Vec<Value> = out.agent.iter().filter(|asked| asked["method"].is_string()).cloned().collect();
            all.extend(std::mem::take(&mut out));
            for asked in asked {
                let params = &asked["params"];
                let (id, value) = match asked["method"].as_str().unwrap() {
                    "session/set_mode" => ("mode", &params["modeId"]),
                    "session/set_model" => ("model", &params["modelId"]),
                    "session/set_config_option" => (params["configId"].as_str().unwrap(), &params["value"]),
                    _ => continue,
                };
                self.set(id, value.as_str().unwrap());
                let list = asked["method"] == "session/set_config_option" && self.tells_list;
                let answer = if list { json!({ "configOptions": self.options() }) } else { json!({}) };
                out.extend(desk.reply(&asked, answer));
            }
            if out.agent.is_empty() && out.client.is_empty() {
                return all;
            }
        }
    }
}

/// What becomes different in a session.
#[derive(Debug, Clone, Copy)]
enum Change {
    Mode(&'static str),
    Model(&'static str),
    Option(&'static str, &'static str),
    /// The agent changes an option by itself, and tells the list, or the mode alone.
    ByItself(&'static str, &'static str),
    ModeByItself(&'static str),
}

fn change(desk: &mut Desk<'_>, agent: &mut Faithful, change: Change) {
    let ask = |method: &str, name: &str, value: &str| {
        let mut params = json!({"sessionId": "s1", name: value});
        if method == "session/set_config_option" {
            params = json!({"sessionId": "s1", "configId": name, "value": value});
        }
        json!({"id": "set", "method": method, "params": params})
    };
    let asked = match change {
        Change::Mode(mode) => ask("session/set_mode", "modeId", mode),
        Change::Model(model) => ask("session/set_model", "modelId", model),
        Change::Option(id, value) => ask("session/set_config_option", id, value),
        Change::ByItself(id, value) => {
            agent.set(id, value);
            desk.agent(update(
                "s1",
                json!({"sessionUpdate": "config_option_update", "configOptions": agent.options()}),
            ));
            return;
        }
        Change::ModeByItself(mode) => {
            agent.set("mode", mode);
            desk.agent(update("s1", json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})));
            return;
        }
    };
    let out = desk.client(asked);
    agent.obey(desk, out).answer("set");
}

/// What an answer says is in force.
fn told(answer: &Value) -> [&str; 5] {
    let option = |at: usize| answer["result"]["configOptions"][at]["currentValue"].as_str().unwrap();
    let [mode, model] = in_force(answer);
    [mode, model, option(0), option(1), option(2)]
}

#[test]
fn a_session_comes_back_as_it_was_however_that_came_about() {
    for tells_list in [true, false] {
        for changes in [
            &[Change::Option("mode", "plan"), Change::ByItself("mode", "code")][..],
            &[Change::Option("mode", "plan"), Change::ModeByItself("code")],
            &[Change::Option("mode", "plan"), Change::Mode("ask")],
            &[Change::Mode("ask"), Change::Option("mode", "plan")],
            &[Change::Option("model", "m2"), Change::Model("m3")],
            &[Change::Model("m3"), Change::Option("model", "m2")],
            &[Change::Option("model", "m2"), Change::Option("effort", "high")],
            &[Change::Model("m2"), Change::Option("effort", "high")],
            &[Change::ByItself("mode", "plan")],
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut agent = Faithful::begun(tells_list);
            let mut desk = met(&store, &world, &client(), &opens_by("session/load"));
            let params = json!({"cwd": CWD, "mcpServers": []});
            let asked = desk.client(json!({"id": "new", "method": "session/new", "params": params}));
            let mut answer = agent.given();
            answer["sessionId"] = "s1".into();
            desk.reply(&asked.request("session/new"), answer);
            desk.turn("s1", "Hi", &["Ho"]);
            for each in changes {
                change(&mut desk, &mut agent, *each);
            }
            let Faithful { mode, model, effort, .. } = agent.clone();
            let expected = [&*mode, &model, &mode, &model, &effort];
            let out = load(&mut desk, "s1", &[]);
            assert_eq!(told(out.answer("load")), expected, "live, {changes:?}");
            leave(desk);
            for time in ["first", "again"] {
                let mut desk = met(&store, &world, &client(), &opens_by("session/load"));
                let mut begun = Faithful::begun(tells_list);
                let asked = ask_load(&mut desk, "load", "s1").request("session/load");
                let out = desk.reply(&asked, begun.given());
                let out = begun.obey(&mut desk, out);
                assert_eq!(told(out.answer("load")), expected, "{time}, {changes:?}");
                assert_eq!(begun, agent, "{time}, {changes:?}");
                let out = load(&mut desk, "s1", &[]);
                assert_eq!(told(out.answer("load")), expected, "live, {time}, {changes:?}");
                leave(desk);
            }
        }
    }
}

#[test]
fn a_mode_that_is_set_while_the_session_is_opened_once_more_stays() {
    let (store, world) = (Memory::new(), World::unrecorded());
    set(&store, &world);
    let mut desk = met(&store, &world, &client(), &opens_by("session/load"));
    let asked = ask_load(&mut desk, "open", "s1");
    opens(&mut desk, &asked, "session/load", Fate::Agreed);
    // The agent has been silent for long enough to be asked for its history once more.
    desk.wait(60_000);
    let params = json!({"sessionId": "s1", "modeId": "third"});
    let mode = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": params}));
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    desk.reply(&mode.request("session/set_mode"), json!({}));
    let mut answer = given(Fate::Agreed);
    answer["modes"]["currentModeId"] = "third".into();
    answer["models"]["currentModelId"] = "set".into();
    let out = desk.reply(&asked, answer);
    let out = oblige(&mut desk, out, &[], "never");
    assert_eq!(out.asked("session/set_mode"), None);
    assert_eq!(in_force(out.answer("load")), ["third", "set"]);
}

#[test]
fn a_mode_that_is_told_before_the_answer_is_older_than_that() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = met(&store, &world, &client(), &opens_by("session/load"));
    for time in ["first", "again"] {
        let asked = ask_load(&mut desk, "load", "s1").request("session/load");
        desk.agent(update("s1", json!({"sessionUpdate": "current_mode_update", "currentModeId": "third"})));
        let out = desk.reply(&asked, given(Fate::Agreed));
        let out = oblige(&mut desk, out, &[], "never");
        assert_eq!(in_force(out.answer("load")), ["first"; 2], "{time}");
        assert_eq!(out.asked("session/set_mode"), None, "{time}");
        leave(desk);
        desk = met(&store, &world, &client(), &opens_by("session/load"));
    }
}

/// A window with an agent of this name, which opens sessions by `session/load`.
fn window_of<'a>(store: &'a Memory, world: &'a World, name: &str) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    let params = json!({"protocolVersion": 1, "clientCapabilities": client()});
    desk.client(json!({"id": 0, "method": "initialize", "params": params}));
    let info = json!({"name": name, "version": "1"});
    let capabilities = opens_by("session/load");
    desk.agent(
        json!({"id": 0, "result": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities}}),
    );
    desk
}

/// The client loads the session: the agent is asked to load it, or for a new one; what was asked beside.
fn load_with(desk: &mut Desk<'_>, answer: &Value) -> (Out, Vec<Value>) {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.asked("session/load").or_else(|| out.asked("session/new")).cloned().expect("it is opened");
    let mut answer = answer.clone();
    if asked["method"] == "session/new" {
        answer["sessionId"] = "b1".into();
    }
    out = desk.reply(&asked, answer);
    let settings: Vec<Value> = out.agent.iter().filter(|asked| asked["id"].is_string()).cloned().collect();
    (oblige(desk, out, &[], "never"), settings)
}

#[test]
fn an_agent_that_is_another_when_it_is_started_again_is_asked_nothing_of_the_firsts() {
    let (store, world) = (Memory::new(), World::unrecorded());
    set(&store, &world);
    let mut desk = window_of(&store, &world, "a");
    load_with(&mut desk, &given(Fate::Agreed));
    let out = desk.restart();
    let info = json!({"name": "other", "version": "1"});
    let capabilities = opens_by("session/load");
    let answer = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities});
    desk.reply(&out.request("initialize"), answer);
    let out = ask_prompt(&mut desk, "next", "s1", "On");
    let asked = out.request("session/new");
    let theirs =
        json!({"sessionId": "b1", "modes": {"currentModeId": "b", "availableModes": [{"id": "b"}, {"id": "set"}]}});
    let out = desk.reply(&asked, theirs);
    assert_eq!(out.asked("session/set_mode"), None);
    oblige(&mut desk, out, &[], "never");
    leave(desk);
    let mut desk = window_of(&store, &world, "a");
    let (out, _) = load_with(&mut desk, &given(Fate::Agreed));
    assert_eq!(in_force(out.answer("load")), ["set"; 2]);
}

#[test]
fn each_agent_of_a_session_has_settings_of_its_own() {
    let theirs = json!({
        "modes": {"currentModeId": "b", "availableModes": [{"id": "b", "name": "b"}, {"id": "set", "name": "set"}]},
        "configOptions": [{"id": "o", "name": "o", "type": "select", "currentValue": "x",
                           "options": [{"value": "x", "name": "x"}, {"value": "y", "name": "y"}]}],
    });
    for is_overlapping in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        set(&store, &world);
        let mut first = window_of(&store, &world, "a");
        let commands = json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a"}]});
        let (out, asked) = load_with(&mut first, &given(Fate::Agreed));
        assert_eq!((in_force(out.answer("load")), asked.len()), (["set"; 2], 2));
        first.agent(update("s1", commands.clone()));
        first.agent(update("s1", json!({"sessionUpdate": "plan", "entries": [{"content": "p"}]})));
        first.wait(500);
        let first = if is_overlapping {
            Some(first)
        } else {
            leave(first);
            None
        };
        let mut second = window_of(&store, &world, "other");
        let (out, asked) = load_with(&mut second, &theirs);
        assert_eq!(asked, Vec::<Value>::new(), "nothing is asked of it that was set with the first");
        assert_eq!(in_force(out.answer("load")), ["b", ""]);
        assert_eq!(out.answer("load")["result"]["configOptions"], theirs["configOptions"]);
        assert_eq!(updates(&out, "available_commands_update").len(), 0);
        assert_eq!(updates(&out, "plan").len(), 1, "a plan is the session's");
        let params = json!({"sessionId": "s1", "configId": "o", "value": "y"});
        let asked = second.client(json!({"id": "set", "method": "session/set_config_option", "params": params}));
        second.reply(&asked.request("session/set_config_option"), json!({}));
        // What is told in the first one's window meanwhile is the first one's.
        if let Some(mut first) = first {
            first.agent(update("s1", json!({"sessionUpdate": "current_mode_update", "currentModeId": "third"})));
            first.wait(500);
            leave(first);
        }
        second.wait(500);
        leave(second);
        let mut first = window_of(&store, &world, "a");
        let (out, _) = load_with(&mut first, &given(Fate::Agreed));
        let mode = if is_overlapping { "third" } else { "set" };
        assert_eq!(in_force(out.answer("load")), [mode, "set"]);
        assert_eq!(updates(&out, "available_commands_update"), [&commands]);
        leave(first);
        let mut second = window_of(&store, &world, "other");
        let (out, asked) = load_with(&mut second, &theirs);
        let asked: Vec<_> = asked.iter().map(|asked| &asked["params"]["value"]).collect();
        assert_eq!(asked, ["y"]);
        assert_eq!(out.answer("load")["result"]["configOptions"][0]["currentValue"], "y");
    }
}
