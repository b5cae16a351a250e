//! The program as a proxy in the chain that the Rust SDK's conductor keeps.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;

#[test]
fn a_conversation_in_a_chain_is_listed_and_loaded_by_the_next_one() {
    let scene = Scene::new();
    let launch = Launch::chain(&scene.store(), &[], &scene.agent(&[]));
    let id = scene.past(&launch, &["hello"]);
    let mut client = Client::ready(&launch);
    assert_eq!(client.listed(), std::slice::from_ref(&id));
    let (replay, _) = client.load(&id, &scene.cwd());
    assert_eq!(text_of(&replay, "user_message_chunk"), "hello");
    assert!(!text_of(&replay, "agent_message_chunk").is_empty());
    client.prompt(&id, "and again");
    client.close();
}

#[test]
fn a_session_begun_in_a_chain_goes_on_without_one_and_back() {
    let scene = Scene::new();
    let agent = scene.agent(&["--load"]);
    let (chain, proxy) = (Launch::chain(&scene.store(), &[], &agent), Launch::proxy(&scene.store(), &[], &agent));
    let id = scene.past(&chain, &["one"]);
    for (launch, said, next) in [(&proxy, "one", "two"), (&chain, "onetwo", "three"), (&proxy, "onetwothree", "four")] {
        let mut client = Client::ready(launch);
        let (replay, _) = client.load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), said);
        client.prompt(&id, next);
        client.close();
    }
}

#[test]
fn a_client_that_is_no_conductor_is_told_that_there_is_no_agent() {
    let scene = Scene::new();
    let mut client = Client::start(&Launch::unchained(&scene.store()));
    let params = serde_json::json!({"protocolVersion": 1, "clientCapabilities": {}});
    let error = client.error("initialize", params);
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("proxy/initialize") && error.message.contains("command"), "{error:?}");
    assert!(client.close().success());
}

#[test]
fn a_conductor_is_told_that_a_layer_with_an_agent_of_its_own_is_no_proxy() {
    let scene = Scene::new();
    let mut client = Client::start(&Launch::proxy(&scene.store(), &[], &scene.agent(&[])));
    let params = serde_json::json!({"protocolVersion": 1, "clientCapabilities": {}});
    let error = client.error("proxy/initialize", params);
    assert_eq!(error.code, -32600);
    assert!(error.message.contains("no proxy in a chain"), "{error:?}");
    assert!(client.close().success());
}
