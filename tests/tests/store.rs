//! What is on disk: whose it is, what may not be in it, what survives, and who shares it.

use std::fs;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{kind, text_of};
use acp_sessions_tests::until;
use serde_json::{Value, json};

#[cfg(unix)]
#[test]
fn the_store_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let scene = Scene::new();
    let home = scene.file("home");
    let store = scene.file("named/by/variable/sessions.db");
    let plain =
        Launch::new(&built("acp-sessions")).arg("agent").env("HOME", &home).env("XDG_DATA_HOME", home.join("data"));
    let by_variable = plain.clone().env("ACP_SESSIONS_STORE", &store);
    for launch in [&plain, &by_variable] {
        let mut client = Client::ready(launch);
        client.new_session(&scene.cwd());
        client.close();
    }
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let default = find(&home, "sessions.db").expect("a store in the platform's data folder");
    for store in [default, store] {
        let folder = store.parent().expect("a folder");
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
        for file in fs::read_dir(folder).expect("readable") {
            let file = file.expect("a file").path();
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}

#[cfg(unix)]
fn find(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    fs::read_dir(folder).ok()?.find_map(|entry| {
        let path = entry.ok()?.path();
        if path.ends_with(name) { Some(path) } else { find(&path, name) }
    })
}

#[test]
fn secrets_for_servers_reach_the_agent_and_never_the_store() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &["--load", "--resume", "--fork"]);
    let secret = "s3cret-that-must-not-be-kept";
    let servers = json!([
        {"name": "local", "command": "/bin/server", "args": ["--token", secret], "env": [{"name": "TOKEN", "value": secret}]},
        {"type": "http", "name": "remote", "url": format!("https://{secret}.example"), "headers":
            [{"name": "Authorization", "value": secret}]}]);
    // Paths are no secrets, and every row shows them.
    let directories = json!(["/another/place"]);
    let place = |id: &str| json!({"sessionId": id, "cwd": scene.cwd(), "mcpServers": servers, "additionalDirectories": directories});

    let mut client = Client::ready(&launch);
    let id = client.result(
        "session/new",
        json!({"cwd": scene.cwd(), "mcpServers": servers, "additionalDirectories": directories}),
    );
    let id = id["sessionId"].as_str().expect("an id").to_owned();
    client.prompt(&id, "hello");
    client.close();
    for method in ["session/load", "session/resume", "session/fork"] {
        let mut client = Client::ready(&launch);
        client.result(method, place(&id));
        client.close();
    }
    client = Client::ready(&launch);
    client.result("session/load", place(&id));
    client.prompt(&id, "hello again");
    client.kill();

    let heard = scene.heard().into_iter().filter(|message| message["params"].get("mcpServers").is_some());
    let heard: Vec<Value> = heard.map(|mut message| message["params"].take()).collect();
    assert!(heard.len() >= 4, "{heard:?}");
    for params in heard {
        assert_eq!(params["mcpServers"], servers);
        assert_eq!(params["additionalDirectories"], directories);
    }
    assert!(!scene.store_holds(secret), "the store holds {secret}");
    let row = Client::ready(&launch).row(&id);
    assert_eq!(row["additionalDirectories"], directories, "{row}");
    assert!(scene.store_holds("hello again"), "what may be kept is kept in plain text");
}

#[test]
fn a_program_killed_in_mid_stream_loses_no_session_and_garbles_nothing() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "stream 100");
    client.start_prompt(&id, "stream 100000");
    client.wait_for_update(&id, |update| update["content"]["text"] == "word-500 ");
    client.kill();

    let mut client = Client::ready(&launch);
    assert_eq!(client.listed(), std::slice::from_ref(&id));
    let (replay, _) = client.load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "user_message_chunk"), "stream 100stream 100000");
    let words = |count: usize| (0..count).map(|number| format!("word-{number} ")).collect::<Vec<_>>().concat();
    let text = text_of(&replay, "agent_message_chunk");
    let rest = text.strip_prefix(&words(100)).expect("the first turn was over, so it is whole");
    assert!(words(100_000).starts_with(rest), "the second turn is what was said, up to a point");
    client.prompt(&id, "hello");
    client.close();
    let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
    assert!(text_of(&replay, "agent_message_chunk").ends_with("You said: hello"));
}

#[test]
fn what_streams_is_kept_while_it_streams() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.start_endless(&id, "wait");
    let mut other = Client::ready(&launch);
    until("another window sees what was said in the open turn", || {
        text_of(&other.load(&id, &scene.cwd()).0, "agent_message_chunk") == "waiting"
    });
    client.kill();
    let (replay, _) = Client::ready(&launch).load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "agent_message_chunk"), "waiting");
}

#[test]
fn two_windows_share_a_store() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let mut left = Client::ready(&launch);
    let mut right = Client::ready(&launch);
    let in_left = left.new_session(&scene.cwd());
    let in_right = right.new_session(&scene.cwd());
    assert_ne!(in_left, in_right, "both agents call theirs by the same name; the ids that clients see differ");
    left.prompt(&in_left, "from the left");
    right.prompt(&in_right, "from the right");
    for client in [&mut left, &mut right] {
        let mut ids = client.listed();
        ids.sort();
        let mut both = [in_left.clone(), in_right.clone()];
        both.sort();
        assert_eq!(ids, both);
    }

    right.load(&in_left, &scene.cwd());
    left.prompt(&in_left, "once more from the left");
    right.prompt(&in_left, "and from the right");
    left.prompt(&in_left, "and left again");
    let (replay, _) = Client::ready(&launch).load(&in_left, &scene.cwd());
    let said = text_of(&replay, "user_message_chunk");
    assert_eq!(said, "from the leftonce more from the leftand from the rightand left again");

    left.result("session/delete", json!({"sessionId": in_right}));
    assert_eq!(right.listed(), [in_left]);
    let place = json!({"sessionId": in_right, "cwd": scene.cwd(), "mcpServers": []});
    assert_eq!(Client::ready(&launch).error("session/load", place).code, -32002);
}

#[test]
fn many_windows_at_once_lose_nothing() {
    const WINDOWS: usize = 4;
    const SESSIONS: usize = 15;
    const CHUNKS: usize = 5;
    let scene = Scene::new();
    let launch = scene.proxy(&[], &[]);
    let shared = scene.past(&launch, &["start"]);
    let prompts = |window| (0..SESSIONS).map(move |number| tagged(window, number, CHUNKS));
    std::thread::scope(|threads| {
        for window in 0..WINDOWS {
            let (launch, cwd, shared) = (&launch, scene.cwd(), &shared);
            threads.spawn(move || {
                let mut client = Client::ready(launch);
                client.load(shared, &cwd);
                for number in 0..SESSIONS {
                    let id = client.new_session(&cwd);
                    client.prompt(&id, "tool");
                    client.prompt(shared, &tagged(window, number, CHUNKS));
                }
                client.close();
            });
        }
    });
    let mut client = Client::ready(&launch);
    assert_eq!(client.list().len(), 1 + WINDOWS * SESSIONS);
    let (replay, _) = client.load(&shared, &scene.cwd());
    let chunks = chunks_of(&replay);
    for window in 0..WINDOWS {
        for (number, prompt) in prompts(window).enumerate() {
            assert_eq!(chunks.iter().filter(|chunk| **chunk == prompt).count(), 1, "{prompt} was said once");
            let came = chunks.iter().filter_map(|chunk| chunk.strip_prefix(&format!("w{window}.{number}-")));
            assert!(came.eq((0..CHUNKS).map(|at| at.to_string())), "not every chunk, once and in order: {prompt}");
        }
        let places = prompts(window).map(|prompt| chunks.iter().position(|chunk| *chunk == prompt));
        assert!(places.is_sorted(), "each window's words are in their order");
    }
    assert_turns_are_whole(&chunks);
}

/// A prompt whose answer is like no other.
fn tagged(window: usize, number: usize, chunks: usize) -> String {
    format!("tagged w{window}.{number} {chunks}")
}

/// What was said, prompts as they are and answers word by word, in the order in which it comes.
fn chunks_of(replay: &[Value]) -> Vec<String> {
    let chunk = |update: &Value| {
        let text = update["content"]["text"].as_str().unwrap_or_default().to_owned();
        match kind(update) {
            "user_message_chunk" => vec![text],
            "agent_message_chunk" => text.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    replay.iter().flat_map(chunk).collect()
}

/// Behind each tagged prompt comes its own answer and nothing of another turn's.
fn assert_turns_are_whole(chunks: &[String]) {
    let mut turn = "";
    for chunk in chunks {
        let tag = chunk.strip_prefix("tagged ").and_then(|rest| rest.split(' ').next());
        turn = tag.unwrap_or(turn);
        let of = chunk.split_once('-').map(|(tag, _)| tag);
        assert!(tag.is_some() || of.is_none_or(|of| of == turn), "{chunk} within the turn {turn}: {chunks:#?}");
    }
}
