//! Starts and ends: of the program, of the agent behind it, of the machine under it.

use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;

use acp_sessions_tests::PATIENCE;
use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::process::{is_running, signal};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::until;

fn only_agent(scene: &Scene) -> u32 {
    let pids = scene.agent_pids();
    assert_eq!(pids.len(), 1, "one agent was started: {pids:?}");
    pids[0]
}

#[test]
fn closing_the_input_ends_the_program_and_the_agent() {
    for flags in [&[][..], &["--stubborn"]] {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&["--agent-grace", "1"], flags));
        client.new_session(&scene.cwd());
        assert!(client.close().success(), "{flags:?}");
        assert!(!is_running(only_agent(&scene)), "{flags:?}: the agent is an orphan");
    }
}

#[test]
fn a_request_to_terminate_ends_the_program_and_the_agent() {
    for flags in [&[][..], &["--stubborn"]] {
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&[], flags));
        client.new_session(&scene.cwd());
        signal("TERM", client.pid());
        client.wait();
        assert!(!is_running(only_agent(&scene)), "{flags:?}: the agent is an orphan");
    }
}

/// A client that has hung up on an agent that takes its time to end: until what comes with it is dropped.
fn left_with_a_lingering_agent(scene: &Scene) -> (Client, UnixStream) {
    let socket = scene.file("gate");
    let gate = UnixListener::bind(&socket).expect("a socket");
    let lingers = ["--lingers", socket.to_str().expect("a path that is text")];
    let mut client = Client::ready(&scene.proxy(&["--agent-grace", "3600"], &lingers));
    let (held, _) = gate.accept().expect("the agent has connected");
    client.new_session(&scene.cwd());
    client.hang_up();
    (client, held)
}

#[test]
fn the_agent_ends_in_its_own_time_and_the_client_does_not_wait_for_it() {
    let scene = Scene::new();
    let (mut client, held) = left_with_a_lingering_agent(&scene);
    // The output has ended while the agent is still at it.
    assert!(is_running(client.pid()));
    assert!(is_running(only_agent(&scene)));
    assert!(scene.ended_agents().is_empty());
    drop(held);
    assert!(client.wait().success());
    assert_eq!(scene.ended_agents(), [only_agent(&scene)], "it was not left to end by itself");
}

#[test]
fn a_program_killed_meanwhile_leaves_the_agent_its_time() {
    let scene = Scene::new();
    let (client, held) = left_with_a_lingering_agent(&scene);
    client.kill();
    drop(held);
    until("the agent has come to its end", || !scene.ended_agents().is_empty());
    assert_eq!(scene.ended_agents(), [only_agent(&scene)]);
}

#[test]
fn a_request_to_terminate_cuts_the_agents_time_short() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&["--agent-grace", "3600"], &["--stubborn"]));
    client.new_session(&scene.cwd());
    client.hang_up();
    signal("TERM", client.pid());
    client.wait();
    assert!(!is_running(only_agent(&scene)), "the agent is an orphan");
}

#[test]
fn closing_the_input_in_mid_turn_keeps_what_was_said() {
    let scene = Scene::new();
    let launch = scene.proxy(&["--agent-grace", "1"], &["--stubborn"]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    client.start_endless(&id, "wait");
    client.close();
    assert!(!is_running(only_agent(&scene)));
    let mut client = Client::ready(&launch);
    let (replay, _) = client.load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "user_message_chunk"), "wait");
    assert_eq!(text_of(&replay, "agent_message_chunk"), "waiting");
    // Killed, the program could not end an agent that does not end by itself.
    client.close();
}

#[test]
fn an_agent_that_dies_in_mid_turn_fails_the_turn_and_keeps_the_session() {
    let scene = Scene::new();
    let launch = scene.proxy(&["--restart", "off"], &[]);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let turn = client.start_endless(&id, "wait");
    signal("KILL", only_agent(&scene));
    let error = client.finish(&turn).expect_err("nobody is left to end the turn");
    assert!(error.message.contains("agent"), "does not say who is gone: {error:?}");
    client.wait();

    let mut client = Client::ready(&launch);
    assert_eq!(client.listed(), std::slice::from_ref(&id));
    let (replay, _) = client.load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "agent_message_chunk"), "waiting");
    client.prompt(&id, "hello");
}

#[test]
fn every_request_that_waits_for_a_dying_agent_is_answered() {
    let scene = Scene::new();
    let mut client = Client::ready(&scene.proxy(&["--restart", "off"], &[]));
    let first = client.new_session(&scene.cwd());
    let second = client.new_session(&scene.cwd());
    let waiting = client.start_endless(&first, "wait");
    let crashing = client.start_prompt(&second, "crash");
    for turn in [waiting, crashing] {
        let error = client.finish(&turn).expect_err("nobody is left to end the turn");
        assert_eq!(error.code, -32603, "{error:?}");
        assert!(error.message.contains("agent"), "does not say who is gone: {error:?}");
    }
}

#[test]
fn an_agent_that_cannot_be_started_is_named() {
    let scene = Scene::new();
    let agent = Launch::new(Path::new("/no/such/agent"));
    let ran = Ran::of(&Launch::proxy(&scene.store(), &[], &agent));
    assert_ne!(ran.code, Some(0));
    assert!(ran.complaint.contains("/no/such/agent"), "{ran:?}");
    assert_eq!(ran.out, "", "nothing but messages goes to the output");
}

#[test]
fn a_store_that_cannot_be_opened_leaves_no_agent() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.store()).expect("a folder in the store's place");
    let stubborn = Launch::new(Path::new("sh")).args(&["-c", "trap '' TERM; while :; do sleep 1000; done"]);
    let mut command = Launch::proxy(&scene.store(), &[], &stubborn).command();
    let mut program = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut errors = program.stderr.take().expect("it is piped");
    let (sender, read) = channel();
    thread::spawn(move || {
        let mut complaint = String::new();
        errors.read_to_string(&mut complaint).expect("text");
        sender.send(complaint).expect("the test waits for it");
    });
    // The agent and all that it starts have the program's standard error: it ends when none of them is left.
    let complaint = read.recv_timeout(PATIENCE).expect("something of the agent is left");
    assert!(complaint.contains("is no session store"), "{complaint}");
    assert_eq!(program.wait().expect("its status").code(), Some(1));
}
