//! Numbers and texts that many programs cannot take: what stands beside them is read all the same, and where they are given
//! on, they are as they were sent. What people read is shown to them, as far as it is text.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, TOLD, account, answers, ask_load, ask_prompt, ask_resume, converse, leave, oblige, told};

/// What a peer says, after which nothing is said that cannot be read.
fn line(desk: &mut Desk<'_>, peer: Peer, rest: &str) -> (Vec<String>, Vec<String>) {
    desk.as_sent(peer, &format!("{{\"jsonrpc\":\"2.0\",{rest}}}"))
}

/// A request of the client's, with params as they are written, which the layer answers by itself.
fn ask(desk: &mut Desk<'_>, method: &str, params: &str) -> Vec<Value> {
    let (client, agent) =
        line(desk, Peer::Client, &format!("\"id\":\"ask\",\"method\":\"{method}\",\"params\":{params}"));
    assert_eq!(agent, Vec::<String>::new());
    client.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_list_may_be_asked_for_with_any_number() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for nth in 0..60 {
        desk.new_session(&format!("s{nth}"), CWD);
    }
    for (params, rows) in [
        (r#"{"limit":1e300}"#, 60),
        (r#"{"limit":1e400}"#, 60),
        (r#"{"limit":184467440737095516170}"#, 60),
        (r#"{"_meta":{"x":1e400,"acp-sessions":{"limit":1e400}}}"#, 60),
        (r#"{"_meta":{"x":1e400,"acp-sessions":{"limit":7}}}"#, 7),
        (r#"{"limit":3,"_meta":{"x":[-1e400]}}"#, 3),
        (r#"{"limit":3,"_meta":{"x":"\ud800"}}"#, 3),
    ] {
        let answer = &ask(&mut desk, "session/list", params)[0];
        assert_eq!(answer["result"]["sessions"].as_array().map(Vec::len), Some(rows), "{params}: {answer}");
    }
    for limit in ["-1e400", "1e-400", "1.5", "\"1e400\""] {
        let answer = &ask(&mut desk, "session/list", &format!("{{\"limit\":{limit}}}"))[0];
        assert_eq!(answer["error"]["data"]["field"], "limit", "{limit}: {answer}");
    }
}

#[test]
fn a_load_shows_as_much_as_is_asked_for_whatever_is_said_beside() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    converse(&mut desk, &id, TOLD);
    let mut load = |meta: &str| {
        let params = format!("{{\"sessionId\":\"{id}\",\"cwd\":\"{CWD}\",\"mcpServers\":[],\"_meta\":{meta}}}");
        ask(&mut desk, "session/load", &params)
    };
    let last = load(r#"{"acp-sessions":{"replay":{"last":1}}}"#);
    assert!(last.len() < load("{}").len());
    for beside in ["1e400", r#"{"y":[-1e400]}"#, r#""\ud800""#] {
        let shown = load(&format!("{{\"x\":{beside},\"acp-sessions\":{{\"x\":{beside},\"replay\":{{\"last\":1}}}}}}"));
        assert_eq!(shown, last, "{beside}");
    }
    let all = load(r#"{"acp-sessions":{"replay":{"last":1000}}}"#);
    assert!(last.len() < all.len());
    for number in ["1e300", "1e400", "184467440737095516170", "123456789012345678901234567890"] {
        let shown = load(&format!("{{\"acp-sessions\":{{\"replay\":{{\"last\":{number}}}}}}}"));
        assert_eq!(shown, all, "{number}");
    }
    for number in ["-1e400", "1.5", "\"1e400\""] {
        let answer = &load(&format!("{{\"acp-sessions\":{{\"replay\":{{\"last\":{number}}}}}}}"))[0];
        assert_eq!(answer["error"]["code"], -32602, "{number}: {answer}");
    }
}

#[test]
fn what_was_said_is_accounted_for_whatever_is_said_beside() {
    for beside in ["1e400", r#""\ud800""#] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "turn", "s1", "How many?");
        for update in [
            r#""sessionUpdate":"tool_call","toolCallId":"c","title":"Counting","rawInput":X"#,
            r#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Eighty","_meta":{"x":X}}"#,
        ] {
            let update = update.replace('X', beside);
            let params = format!("{{\"sessionId\":\"s1\",\"update\":{{{update}}}}}");
            let said = format!("\"method\":\"session/update\",\"params\":{params}");
            let (client, _) = line(&mut desk, Peer::Agent, &said);
            assert!(client[0].contains(&update), "{client:?}");
        }
        desk.agent(answers("turn")).answer("turn");
        leave(desk);
        let mut desk = Desk::open(&store, &world, &[]);
        desk.greet(Some("b"), &json!({}));
        let out = ask_resume(&mut desk, "open", "s1");
        oblige(&mut desk, out, &[], "b1");
        let text = account(&ask_prompt(&mut desk, "next", "s1", "And now?")).unwrap();
        assert!(text.contains("User: How many?\n\nTool call: Counting\n\nAssistant: Eighty"), "{text}");
    }
}

/// An agent's options, the first of which is its mode; these stand in the others.
fn options(beside: &str) -> String {
    r#"[{"type":"select","id":"m","name":"Mode","category":"mode","currentValue":"code","options":[{"group":"g","options":
        [{"value":"code"},{"value":"plan"}]}],"_meta":{"z":X}},{"id":7},5,{"currentValue":X,"id":"n"}]"#
        .replace("\n        ", "")
        .replace('X', beside)
}

const AWKWARD: [&str; 5] =
    ["1e400", r#""\ud800""#, "18446744073709551617", "0.10000000000000000001", r#"{"b":1.0,"a":1E0,"c":[1e400]}"#];

/// A session of an agent that has these options.
fn with_options<'a>(store: &'a Memory, world: &'a World, options: &str) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    line(
        &mut desk,
        Peer::Agent,
        &format!("\"id\":\"new\",\"result\":{{\"sessionId\":\"s1\",\"configOptions\":{options}}}"),
    );
    desk.turn("s1", "Hi", &["Ho"]);
    desk
}

/// The client sets something, and the agent agrees without a list.
fn set(desk: &mut Desk<'_>, method: &str, params: &Value) {
    let mut all = json!({"sessionId": "s1"});
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    let asked = desk.client(json!({"id": "set", "method": method, "params": all}));
    desk.reply(&asked.request(method), json!({})).answer("set");
}

#[test]
fn options_are_as_they_were_sent_but_for_what_is_set() {
    for beside in AWKWARD {
        for (method, params) in [
            ("session/set_mode", json!({"modeId": "plan"})),
            ("session/set_config_option", json!({"configId": "m", "value": "plan"})),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let options = options(beside);
            let mut desk = with_options(&store, &world, &options);
            set(&mut desk, method, &params);
            let load = format!("\"sessionId\":\"s1\",\"cwd\":\"{CWD}\",\"mcpServers\":[]");
            let load = format!("\"id\":\"load\",\"method\":\"session/load\",\"params\":{{{load}}}");
            let (client, _) = line(&mut desk, Peer::Client, &load);
            let expected = options.replacen("\"currentValue\":\"code\"", "\"currentValue\":\"plan\"", 1);
            assert!(client.iter().any(|line| line.contains(&expected)), "{method}: {client:?} without {expected}");
        }
    }
}

#[test]
fn what_is_in_force_is_not_asked_for_once_more_nor_what_is_not_offered() {
    for beside in AWKWARD {
        let options = options(beside);
        let is_in_force = options.replacen("\"currentValue\":\"code\"", "\"currentValue\":\"plan\"", 1);
        let is_gone = options.replacen("\"id\":\"m\"", "\"id\":\"other\"", 1);
        for (now, is_asked) in [(&options, true), (&is_in_force, false), (&is_gone, false)] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = with_options(&store, &world, &options);
            set(&mut desk, "session/set_config_option", &json!({"configId": "m", "value": "plan"}));
            leave(desk);
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            let asked = ask_load(&mut desk, "load", "s1").request("session/load");
            let answer = format!("\"id\":{},\"result\":{{\"configOptions\":{now}}}", asked["id"]);
            let (_, agent) = line(&mut desk, Peer::Agent, &answer);
            let settings = agent.iter().filter(|line| line.contains("session/set_")).count();
            assert_eq!(settings, usize::from(is_asked), "{now}: {agent:?}");
        }
    }
}

#[test]
fn an_error_of_the_agents_is_given_on_as_it_is_whatever_is_said_beside() {
    for beside in AWKWARD {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
        let error = format!(r#"{{"code":-32000,"message":"Log in","data":{{"z":{beside},"a":[]}}}}"#);
        let (client, _) = line(&mut desk, Peer::Agent, &format!("\"id\":\"new\",\"error\":{error}"));
        assert_eq!(client, [format!("{{\"jsonrpc\":\"2.0\",\"id\":\"new\",\"error\":{error}}}")]);
    }
}

#[test]
fn a_session_that_cannot_be_opened_fails_as_its_agent_says() {
    for beside in AWKWARD {
        let (store, world) = (Memory::new(), World::unrecorded());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let asked = ask_load(&mut desk, "load", &id).request("session/new");
        let error = format!(r#"{{"code":-32000,"message":"Log in","data":{beside}}}"#);
        let (client, _) = line(&mut desk, Peer::Agent, &format!("\"id\":{},\"error\":{error}", asked["id"]));
        let answer = client.iter().find(|line| line.contains("\"id\":\"load\"")).unwrap();
        assert!(answer.contains(&error), "{answer}");
    }
}

/// A text in which a program has cut a character through, as it is sent, and as it is read.
const CUT: (&str, &str) = (r#""Quota gone \ud83d""#, "Quota gone \u{fffd}");

#[test]
fn a_title_that_ends_in_half_a_character_is_shown() {
    let (sent, read) = CUT;
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}}})).request("session/list");
    let row = format!(r#"{{"sessionId":"theirs","cwd":"{CWD}","title":{sent},"updatedAt":"2025-01-01T00:00:00Z"}}"#);
    line(&mut desk, Peer::Agent, &format!("\"id\":{},\"result\":{{\"sessions\":[{row}]}}", asked["id"]));
    desk.wait(0);
    let titles = |desk: &mut Desk<'_>| {
        let list = desk.ask("session/list", json!({}));
        let rows = list["result"]["sessions"].as_array().unwrap().clone();
        rows.iter().map(|row| row["title"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&mut desk), [read]);

    let id = desk.new_session("s1", CWD);
    let update = format!(r#"{{"sessionUpdate":"session_info_update","title":{sent}}}"#);
    let said = format!(r#""method":"session/update","params":{{"sessionId":"s1","update":{update}}}"#);
    let (client, _) = line(&mut desk, Peer::Agent, &said);
    let shown: Vec<Value> = client.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(shown[0]["params"]["update"]["title"], read);
    assert_eq!(titles(&mut desk), [read, read]);

    let answers = ask(&mut desk, "session/set_title", &format!(r#"{{"sessionId":"{id}","title":"By hand \ud83d"}}"#));
    let answer = answers.iter().find(|answer| answer["id"] == "ask").unwrap();
    assert_eq!(answer["result"]["title"], "By hand \u{fffd}", "{answer}");
    assert!(titles(&mut desk).contains(&json!("By hand \u{fffd}")));
}

#[test]
fn an_error_says_what_it_says_though_it_ends_in_half_a_character() {
    let (sent, read) = CUT;
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    let error = format!(r#"{{"code":-32000,"message":{sent},"data":1e400}}"#);
    let (client, _) = line(&mut desk, Peer::Agent, &format!("\"id\":\"new\",\"error\":{error}"));
    let told = error.replace(sent, &json!(read).to_string());
    assert_eq!(client, [format!("{{\"jsonrpc\":\"2.0\",\"id\":\"new\",\"error\":{told}}}")]);
}

#[test]
fn a_prompt_that_not_every_program_can_read_is_refused_for_that() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    let unreadable =
        "holds a text with half of a surrogate pair, or a number too large, which not every program can read";
    for (prompt, fault) in [
        (r#"[{"type":"text","text":"Fix \ud83d"}]"#, unreadable),
        (r#"[{"type":"text","text":"Fix","_meta":{"x":[1e999]}}]"#, unreadable),
        (r#"[{"type":"text","text":"Fix"},5]"#, "must be an array of content blocks"),
        (r#"[{"type":"text","text":"\ud83d"},"Fix"]"#, "must be an array of content blocks"),
    ] {
        let params = format!(r#"{{"sessionId":"{id}","prompt":{prompt}}}"#);
        let answer = &ask(&mut desk, "session/prompt", &params)[0];
        assert_eq!(answer["error"]["message"], format!("Invalid params: `prompt` {fault}"));
        assert_eq!(answer["error"]["data"]["field"], "prompt");
    }
    ask_prompt(&mut desk, "turn", &id, "Fix it").request("session/prompt");
}
