//! The engine put together with a component that is its storage, by the tools that components are composed with: what comes of
//! it needs no storage any more, and is run as any other engine.

use std::fs;
use std::path::Path;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::engines::{memory, real, with_cache};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{spoken, with_prompt};
use serde_json::json;
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};

/// What a component imports.
fn imports(bytes: Vec<u8>) -> Vec<String> {
    let mut graph = CompositionGraph::new();
    let package = Package::from_bytes("a:component", None, bytes, graph.types_mut()).expect("a component");
    let world = package.ty();
    graph.types()[world].imports.keys().cloned().collect()
}

/// The engine with what it imports as `storage` given by the other.
fn composed(engine: &Path, storage: &Path) -> Vec<u8> {
    let mut graph = CompositionGraph::new();
    let [engine, storage] = [("acp:engine", engine), ("acp:memory", storage)].map(|(name, path)| {
        let package = Package::from_file(name, None, path, graph.types_mut()).expect("a component");
        graph.register_package(package).expect("a name of its own")
    });
    plug(&mut graph, vec![storage], engine).expect("the one has what the other wants");
    graph.encode(EncodeOptions::default()).expect("a component")
}

#[test]
fn an_engine_with_a_storage_of_its_own_plays_the_life_of_a_session() {
    let scene = Scene::new();
    let bytes = composed(&real(), &memory());
    let imported = imports(bytes.clone());
    let is_left =
        |name: &String| ["acp:sessions/folders", "wasi:clocks/", "wasi:random/"].iter().any(|of| name.starts_with(of));
    assert!(imported.iter().all(is_left), "{imported:?}");
    assert_eq!(imported.len(), imports(fs::read(real()).expect("the engine")).len() - 1, "{imported:?}");
    let path = scene.file("composed.wasm");
    fs::write(&path, bytes).expect("the scene's folder is writable");

    let launch = with_cache(scene.builtin(&[]).arg("--component").arg(&path), &scene);
    let mut client = Client::ready(&launch);
    let id = client.new_session(&scene.cwd());
    let said = client.prompt(&id, "Where is the walrus?");
    let found = client.result("session/list", json!({"_meta": {"acp-sessions": {"search": "walrus"}}}));
    assert_eq!(found["sessions"][0]["sessionId"], json!(id));
    client.result("session/close", json!({"sessionId": id}));
    let (replayed, _) = client.load(&id, &scene.cwd());
    assert_eq!(spoken(&replayed), spoken(&with_prompt("Where is the walrus?", &said)));
    client.result("session/delete", json!({"sessionId": id}));
    assert!(client.listed().is_empty());
    assert!(client.close().success());
    assert!(!scene.store_holds("walrus"), "the program's own store was not asked");
}
