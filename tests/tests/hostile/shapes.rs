//! Files that are no engine.

use std::fs::{self, File};
use std::path::Path;

use acp_sessions_tests::engines::{hostile, with_cache};
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;

/// What the command complains of that is given this file for an engine.
fn complaint(scene: &Scene, command: &str, file: &Path) -> String {
    let launch = Launch::new(&built("acp-sessions")).arg(command).arg("--store").arg(scene.store());
    Ran::of(&with_cache(launch.arg("--component").arg(file), scene)).complained()
}

/// A component that has what it exports of nothing but the types of others.
const OF_ANOTHER_TYPE: &str = r#"
    (component
        (component $inner
            (core module $m (func (export "f")))
            (core instance $i (instantiate $m))
            (func (export "connect") (canon lift (core func $i "f"))))
        (instance $inner (instantiate $inner))
        (export "acp:sessions/connection@0.1.0" (instance $inner)))"#;

#[test]
fn what_is_no_engine_is_refused_with_a_sentence() {
    let scene = Scene::new();
    scene.past(&scene.builtin(&[]), &["Hello"]);
    let engine = fs::read(hostile()).expect("the tests have built it");
    let text = |text: &str| wat::parse_str(text).expect("a text that is right");
    let files = [
        ("empty", Vec::new(), "it is empty"),
        ("text", b"(component)".to_vec(), "it does not begin as one"),
        ("program", fs::read("/bin/sh").expect("a shell"), "it does not begin as one"),
        ("core", text("(module)"), "it is a core module"),
        ("cut", engine[..engine.len() / 2].to_vec(), "cannot be compiled"),
        ("header", engine[..8].to_vec(), "is no session engine"),
        ("noise", [&engine[..8], &[0xaa; 4096]].concat(), "cannot be compiled"),
        ("nothing", text("(component)"), "acp:sessions/connection@0.1.0"),
        (
            "files",
            text(r#"(component (import "wasi:filesystem/preopens@0.2.0" (instance (export "f" (func)))))"#),
            "wasi:filesystem/preopens@0.2.0",
        ),
        (
            "function",
            text(r#"(component (import "acp:sessions/storage@0.1.0" (instance (export "steal" (func)))))"#),
            "steal",
        ),
        ("type", text(OF_ANOTHER_TYPE), "connect"),
        ("sections", text(&format!("(component {})", "(core module (memory 1))".repeat(100))), "is no session engine"),
    ];
    for (name, bytes, why) in files {
        let file = scene.file(name);
        fs::write(&file, bytes).expect("it is ours");
        for command in ["agent", "list"] {
            let complaint = complaint(&scene, command, &file);
            assert!(complaint.contains(why) && complaint.contains(name), "{name}: {complaint}");
        }
    }
    let long = scene.file("long");
    File::create(&long).and_then(|file| file.set_len((32 << 20) + 1)).expect("it is ours");
    for (file, why) in [
        (long.as_path(), "is longer than 32 MiB"),
        (Path::new("/dev/zero"), "is longer than 32 MiB"),
        (scene.folder(), "cannot be read"),
        (&scene.file("missing"), "cannot be read"),
    ] {
        let complaint = complaint(&scene, "agent", file);
        assert!(complaint.contains(why), "{}: {complaint}", file.display());
    }
}
