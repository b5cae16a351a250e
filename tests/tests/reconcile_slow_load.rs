//! Agents that take long to load a session. The limit is for silence, and nothing but an error comes of it.

use std::fs;
use std::path::PathBuf;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::spoken;
use acp_sessions_tests::until;
use serde_json::json;

/// In seconds; no agent is silent for so long that only waits for its turn on a busy machine.
const LIMIT: &str = "3";
/// How much the agent says while it loads: for longer than the limit, at twenty a second.
const SAYS: usize = 80;

/// A session of an earlier process, and an agent that loads it when its gate is open.
struct Slow {
    scene: Scene,
    id: String,
    gate: PathBuf,
    tap: PathBuf,
}

impl Slow {
    fn new() -> Self {
        let scene = Scene::new();
        let id = scene.past(&scene.proxy(&[], &["--load"]), &["one"]);
        scene.forget_heard();
        let (gate, tap) = (scene.file("gate"), scene.file("tap"));
        Self { scene, id, gate, tap }
    }

    fn launch(&self, flags: &[&str]) -> Launch {
        let gate = self.gate.to_str().expect("text");
        let flags = [&["--load", "--load-gate", gate], flags].concat();
        let agent = self.scene.agent(&flags).tapped(&self.tap);
        Launch::proxy(&self.scene.store(), &["--agent-timeout", LIMIT], &agent)
    }

    fn open_gate(&self) {
        fs::write(&self.gate, "").expect("the scene's folder is writable");
    }

    /// How many lines the agent has said with this in them.
    fn said(&self, what: &str) -> usize {
        // The last line may not be whole yet.
        let tapped = fs::read_to_string(&self.tap).expect("the agent is tapped");
        tapped.lines().filter(|line| line.starts_with('<') && line.contains(what)).count()
    }

    fn said_meanwhile(&self) -> usize {
        self.said("usage_update")
    }

    /// How many requests of the program's own it has answered.
    fn answered(&self) -> usize {
        self.said("\"id\":\"acp-sessions:")
    }

    /// The session is the one that the agent had, and the only one.
    fn check_same_session(&self, client: &mut Client) {
        client.prompt(&self.id, "two");
        assert_eq!(self.scene.heard_of("session/new").len(), 0, "it got a new one in its place");
        assert_eq!(self.scene.heard_of("session/prompt")[0]["sessionId"], json!(self.id));
        assert_eq!(self.scene.outside().all(), [self.id.as_str()]);
        let (replay, _) = client.load(&self.id, &self.scene.cwd());
        assert_eq!(spoken(&replay), ["> one", "< You said: one", "> two", "< You said: two"]);
    }
}

#[test]
fn an_agent_that_streams_while_it_loads_has_all_the_time() {
    let slow = Slow::new();
    let mut client = Client::ready(&slow.launch(&[]));
    let load = client.send_request("session/load", slow.scene.place(&slow.id));
    until("the agent has streamed for longer than the limit", || slow.said_meanwhile() > SAYS);
    slow.open_gate();
    let result = client.finish(&load).expect("it is loaded");
    assert_eq!(result["_meta"]["acp-sessions"]["attached"], "load");
    assert_eq!(spoken(&client.take_updates(&slow.id)), ["> one", "< You said: one"]);
    slow.check_same_session(&mut client);
}

#[test]
fn an_agent_that_is_silent_for_too_long_keeps_its_session_for_later() {
    let slow = Slow::new();
    let mut client = Client::ready(&slow.launch(&["--silent-load"]));
    let error = client.error("session/load", slow.scene.place(&slow.id));
    assert_eq!(error.code, -32603, "{error:?}");
    assert!(error.names("did not answer"), "{error:?}");
    slow.open_gate();
    let (replay, _) = client.load(&slow.id, &slow.scene.cwd());
    assert_eq!(spoken(&replay), ["> one", "< You said: one"]);
    // The agent tells it twice, in an order of its own: for the load that was given up as well.
    until("both loads are answered", || slow.answered() == 2);
    // What it said of that comes before its answer to anything later.
    client.error("_test/nothing", json!({}));
    slow.check_same_session(&mut client);
}
