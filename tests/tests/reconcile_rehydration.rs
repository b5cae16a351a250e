//! What an agent has not heard of a session is told it with the first prompt that succeeds, not with the first that is
//! sent, and whatever lies between.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use serde_json::{Value, json};

const FLAGS: &[&str] = &["--load", "--resume"];
const ASKING: &[&str] = &["--load", "--resume", "--auth", "prompts"];

/// A session that its agent has lost since.
struct Lost {
    scene: Scene,
    id: String,
}

impl Lost {
    fn new() -> Self {
        let scene = Scene::new();
        let id = scene.past(&scene.proxy(&[], FLAGS), &["first question"]);
        scene.outside().delete(&id);
        scene.forget_heard();
        Self { scene, id }
    }

    fn client(&self, flags: &[&str]) -> Client {
        Client::ready(&self.scene.proxy(&[], flags))
    }

    fn check_load(&self, client: &mut Client, further: &[&str]) {
        let (replay, _) = client.load(&self.id, &self.scene.cwd());
        assert_eq!(spoken(&replay), [&["> first question", "< You said: first question"], further].concat());
    }
}

/// Of each prompt that the agent has heard, whether it told what had been said before.
fn told(scene: &Scene) -> Vec<bool> {
    let prompts = scene.heard_of("session/prompt");
    let tells = |prompt: &Value| {
        let blocks = prompt["prompt"].as_array().expect("blocks");
        let (_, before) = blocks.split_last().expect("a prompt");
        before.iter().any(|block| block["text"].as_str().is_some_and(|text| text.contains("first question")))
    };
    prompts.iter().map(tells).collect()
}

fn prompt(session: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": "second question"}]})
}

#[test]
fn what_is_unheard_survives_that_the_session_is_closed_without_a_prompt() {
    let lost = Lost::new();
    let mut client = lost.client(FLAGS);
    for _ in 0..2 {
        lost.check_load(&mut client, &[]);
        client.result("session/close", json!({"sessionId": lost.id}));
    }
    lost.check_load(&mut client, &[]);
    client.prompt(&lost.id, "second question");
    client.prompt(&lost.id, "third question");
    assert_eq!(told(&lost.scene), [true, false]);
}

#[test]
fn what_is_unheard_survives_the_process() {
    for method in ["session/load", "session/resume"] {
        let lost = Lost::new();
        for _ in 0..2 {
            let mut client = lost.client(FLAGS);
            client.result(method, lost.scene.place(&lost.id));
            client.close();
        }
        let mut client = lost.client(FLAGS);
        client.result(method, lost.scene.place(&lost.id));
        client.prompt(&lost.id, "second question");
        client.prompt(&lost.id, "third question");
        assert_eq!(told(&lost.scene), [true, false], "{method}");
        client.close();
        // What the agent has heard it has heard for good.
        let mut client = lost.client(FLAGS);
        client.result(method, lost.scene.place(&lost.id));
        client.prompt(&lost.id, "fourth question");
        assert_eq!(told(&lost.scene), [true, false, false], "{method}");
    }
}

#[test]
fn what_is_unheard_survives_a_prompt_that_fails() {
    let lost = Lost::new();
    let mut client = lost.client(ASKING);
    lost.check_load(&mut client, &[]);
    for _ in 0..2 {
        assert_eq!(client.error("session/prompt", prompt(&lost.id)).code, -32000);
    }
    client.result("authenticate", json!({"methodId": "sign-in"}));
    client.prompt(&lost.id, "second question");
    client.prompt(&lost.id, "third question");
    assert_eq!(told(&lost.scene), [true, true, true, false]);
}

#[test]
fn what_is_unheard_survives_a_prompt_that_fails_and_the_process() {
    let lost = Lost::new();
    let mut client = lost.client(ASKING);
    lost.check_load(&mut client, &[]);
    assert_eq!(client.error("session/prompt", prompt(&lost.id)).code, -32000);
    client.close();
    let mut client = lost.client(FLAGS);
    client.result("session/resume", lost.scene.place(&lost.id));
    client.prompt(&lost.id, "second question");
    assert_eq!(told(&lost.scene), [true, true]);
}

#[test]
fn what_is_unheard_survives_in_a_fork() {
    let scene = Scene::new();
    let launch = scene.proxy(&[], FLAGS);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.prompt(&id, "first question");
    let fork = client.result("session/fork", scene.place(&id))["sessionId"].as_str().expect("an id").to_owned();
    client.close();
    scene.forget_heard();
    for _ in 0..2 {
        let mut client = Client::ready(&launch);
        client.result("session/resume", scene.place(&fork));
        client.close();
    }
    let mut client = Client::ready(&launch);
    client.result("session/resume", scene.place(&fork));
    client.prompt(&fork, "second question");
    client.prompt(&fork, "third question");
    assert_eq!(told(&scene), [true, false]);
}

#[test]
fn an_agent_finds_its_own_session_again_and_is_told_what_another_one_was_told() {
    let (one, two) = (Scene::new(), Scene::new());
    let of = |scene: &Scene, name| {
        let agent = scene.agent(&["--load", "--resume", "--name", name]);
        Client::ready(&Launch::proxy(&one.store(), &[], &agent))
    };
    let mut client = of(&one, "one");
    let id = client.new_session(&one.cwd());
    client.prompt(&id, "first question");
    client.close();
    let mut client = of(&two, "two");
    client.result("session/resume", one.place(&id));
    client.prompt(&id, "second question");
    assert_eq!(told(&two), [true]);
    client.close();

    one.forget_heard();
    let mut client = of(&one, "one");
    client.result("session/resume", one.place(&id));
    client.prompt(&id, "third question");
    assert_eq!(one.heard_of("session/new").len(), 0, "it had the session, and knows it still");
    let heard = one.heard_of("session/prompt").remove(0)["prompt"].clone();
    let told = heard[0]["text"].as_str().expect("text");
    assert!(told.contains("second question") && !told.contains("first question"), "{told}");
    assert_eq!(heard.as_array().map(Vec::len), Some(2), "{heard}");
    let (replay, _) = client.load(&id, &one.cwd());
    let said = ["first question", "second question", "third question"];
    let said = said.iter().flat_map(|said| [format!("> {said}"), format!("< You said: {said}")]);
    assert_eq!(spoken(&replay), said.collect::<Vec<_>>());
}
