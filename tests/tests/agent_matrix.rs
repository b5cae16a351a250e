//! Every kind of agent, and every operation on a session that an earlier process has had with it.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{Entry, join, text_of};
use serde_json::{Value, json};

/// A kind of agent and what is to be seen of it.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    flags: &'static [&'static str],
    /// How a session of an earlier process comes back: the mark in `_meta`.
    attached: &'static str,
    /// The requests by which it comes back, in their order.
    requests: &'static [&'static str],
    /// Whether the agent is told by the next prompt what was said before.
    rehydrates: bool,
    /// Whether the agent has lost it, which the mark must say.
    has_reason: bool,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "resume only",
        flags: &["--resume"],
        attached: "resume",
        requests: &["session/resume"],
        rehydrates: false,
        has_reason: false,
    },
    // Without a list of its own only its replay tells whether anything was said without the program.
    Kind {
        name: "load and resume",
        flags: &["--load", "--resume"],
        attached: "load",
        requests: &["session/load"],
        rehydrates: false,
        has_reason: false,
    },
    Kind {
        name: "load only",
        flags: &["--load"],
        attached: "load",
        requests: &["session/load"],
        rehydrates: false,
        has_reason: false,
    },
    Kind {
        name: "neither",
        flags: &[],
        attached: "new",
        requests: &["session/new"],
        rehydrates: true,
        has_reason: false,
    },
    Kind {
        name: "forgets",
        flags: &["--load", "--resume", "--forgets"],
        attached: "new",
        requests: &["session/load", "session/resume", "session/new"],
        rehydrates: true,
        has_reason: true,
    },
    Kind {
        name: "own list",
        flags: &["--load", "--list", "--delete"],
        attached: "load",
        requests: &["session/load"],
        rehydrates: false,
        has_reason: false,
    },
    Kind {
        name: "own fork",
        flags: &["--load", "--resume", "--fork"],
        attached: "load",
        requests: &["session/load"],
        rehydrates: false,
        has_reason: false,
    },
];

/// A session that an earlier process has had.
struct Past {
    scene: Scene,
    launch: Launch,
    id: String,
}

impl Kind {
    fn past(&self) -> Past {
        let scene = Scene::new();
        let launch = scene.proxy(&[], self.flags);
        let mut client = Client::ready(&launch);
        let id = client.new_session(&scene.cwd());
        client.prompt(&id, "first question");
        client.prompt(&id, "tool");
        assert!(client.close().success());
        scene.forget_heard();
        Past { scene, launch, id }
    }

    /// The answer says how the session came back, and it goes on from there, in the next process too.
    fn check_attached(&self, mut client: Client, past: &Past, result: &Value) {
        self.check_mark(result);
        self.check_requests(&past.scene);
        self.check_prompt(&mut client, past);
        client.close();
        let (replay, _) = Client::ready(&past.launch).load(&past.id, &past.scene.cwd());
        assert_eq!(join(&replay), conversation(&["second question"]), "{}: a second time", self.name);
    }

    fn check_mark(&self, result: &Value) {
        let mark = &result["_meta"]["acp-sessions"];
        assert_eq!(mark["attached"], self.attached, "{}: {result}", self.name);
        if self.attached == "new" {
            assert_eq!(mark["rehydrate"], self.rehydrates, "{}: {result}", self.name);
        }
        assert_eq!(mark["reason"].is_string(), self.has_reason, "{}: {result}", self.name);
    }

    fn check_requests(&self, scene: &Scene) {
        let attaching = ["session/new", "session/load", "session/resume", "session/fork"];
        let heard = scene.heard();
        let methods = heard.iter().filter_map(|message| message["method"].as_str());
        let methods: Vec<&str> = methods.filter(|method| attaching.contains(method)).collect();
        assert_eq!(methods, self.requests, "{}", self.name);
    }

    /// A further prompt reaches the agent, with what was said before where it cannot know that.
    fn check_prompt(&self, client: &mut Client, past: &Past) {
        let answer = client.prompt(&past.id, "second question");
        assert_eq!(text_of(&answer, "agent_message_chunk"), "You said: second question", "{}", self.name);
        let prompts = past.scene.heard_of("session/prompt");
        let blocks = prompts.last().expect("a prompt")["prompt"].as_array().expect("blocks").clone();
        let last = &blocks[blocks.len() - 1];
        assert_eq!(last["text"], "second question", "{}", self.name);
        assert_eq!(blocks.len(), if self.rehydrates { 2 } else { 1 }, "{}: {blocks:?}", self.name);
        if self.rehydrates {
            let text = blocks[0]["text"].as_str().expect("text");
            assert!(text.starts_with("[Earlier conversation"), "{text}");
            assert!(text.contains("first question") && text.contains("You said: first question"), "{text}");
            assert_eq!(blocks[0]["_meta"]["acp-sessions"]["rehydrated"], true);
        }
    }
}

fn tool_call() -> Entry {
    let call = json!({"toolCallId": "call-1", "title": "Look it up", "kind": "read", "status": "completed",
        "rawInput": {"what": "it"}, "content": [{"type": "content", "content": {"type": "text", "text": "the result"}}]});
    Entry::ToolCall(call.as_object().expect("an object").clone())
}

/// The conversation that [`Kind::past`] had, then one turn more for each further question.
fn conversation(further: &[&str]) -> Vec<Entry> {
    let user = |text: &str| Entry::Text("user_message_chunk".into(), text.into());
    let agent = |text: &str| Entry::Text("agent_message_chunk".into(), text.into());
    let mut entries = vec![user("first question"), agent("You said: first question"), user("tool"), tool_call()];
    entries.push(agent("Looked it up."));
    for question in further {
        entries.extend([user(question), agent(&format!("You said: {question}"))]);
    }
    entries
}

#[test]
fn load() {
    for kind in &KINDS {
        let past = kind.past();
        let mut client = Client::ready(&past.launch);
        let (replay, result) = client.load(&past.id, &past.scene.cwd());
        assert_eq!(join(&replay), conversation(&[]), "{}", kind.name);
        kind.check_attached(client, &past, &result);
    }
}

#[test]
fn resume() {
    for kind in &KINDS {
        let past = kind.past();
        let mut client = Client::ready(&past.launch);
        let result = client.result("session/resume", past.scene.place(&past.id));
        assert_eq!(join(&client.take_updates(&past.id)), [], "{}", kind.name);
        kind.check_attached(client, &past, &result);
    }
}

#[test]
fn fork() {
    for kind in &KINDS {
        let past = kind.past();
        let mut client = Client::ready(&past.launch);
        let result = client.result("session/fork", past.scene.place(&past.id));
        let fork = result["sessionId"].as_str().expect("an id").to_owned();
        assert_ne!(fork, past.id);
        let own = kind.flags.contains(&"--fork");
        assert_eq!(past.scene.heard_of("session/fork").len(), usize::from(own), "{}", kind.name);
        client.prompt(&fork, "a question of the fork");
        let prompted = past.scene.heard_of("session/prompt");
        let told = prompted[0]["prompt"][0]["text"].as_str().expect("text").contains("first question");
        assert_eq!(told, !own, "{}: who has not made the fork itself is told what was said: {prompted:?}", kind.name);
        assert_eq!(client.listed(), [fork.clone(), past.id.clone()], "{}", kind.name);
        client.close();

        let mut client = Client::ready(&past.launch);
        let (replay, _) = client.load(&fork, &past.scene.cwd());
        assert_eq!(join(&replay), conversation(&["a question of the fork"]), "{}: the fork", kind.name);
        let (replay, _) = client.load(&past.id, &past.scene.cwd());
        assert_eq!(join(&replay), conversation(&[]), "{}: the parent", kind.name);
        client.result("session/delete", json!({"sessionId": past.id}));
        client.close();
        let (replay, _) = Client::ready(&past.launch).load(&fork, &past.scene.cwd());
        assert_eq!(join(&replay), conversation(&["a question of the fork"]), "{}: an orphan", kind.name);
    }
}

#[test]
fn delete() {
    for kind in &KINDS {
        let past = kind.past();
        let mut client = Client::ready(&past.launch);
        assert_eq!(client.result("session/delete", json!({"sessionId": past.id})), json!({}), "{}", kind.name);
        assert_eq!(client.listed(), [""; 0], "{}", kind.name);
        let error = client.error("session/load", past.scene.place(&past.id));
        assert_eq!((error.code, &error.data["sessionId"]), (-32002, &json!(past.id)), "{}", kind.name);
        assert_eq!(client.result("session/delete", json!({"sessionId": past.id})), json!({}), "{}", kind.name);
        client.close();
        let own = kind.flags.contains(&"--delete");
        assert_eq!(past.scene.heard_of("session/delete").len(), usize::from(own), "{}", kind.name);
        assert_eq!(Client::ready(&past.launch).listed(), [""; 0], "{}: the next day", kind.name);
    }
}

#[test]
fn list() {
    for kind in &KINDS {
        let past = kind.past();
        let mut client = Client::ready(&past.launch);
        let rows = client.list();
        assert_eq!(rows.len(), 1, "{}: {rows:?}", kind.name);
        let row = &rows[0];
        assert_eq!(row["sessionId"], json!(past.id), "{}", kind.name);
        assert_eq!(row["cwd"], json!(past.scene.cwd()), "{}", kind.name);
        assert_eq!(row["title"], "first question", "{}", kind.name);
        let mark = &row["_meta"]["acp-sessions"];
        assert!(mark["createdAt"].is_string(), "{}: {row}", kind.name);
        assert!(mark["origin"].is_null(), "{}: it was made through the program: {row}", kind.name);
    }
}
