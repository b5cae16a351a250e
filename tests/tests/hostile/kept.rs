//! What is compiled is kept, for those to use who could have compiled it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use acp_sessions_tests::client::Client;
use acp_sessions_tests::engines::{cache, hostile, real, with_cache};
use acp_sessions_tests::launch::Launch;
use acp_sessions_tests::ran::Ran;
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::text_of;
use acp_sessions_tests::unprivileged::{mode, set_mode};

fn launch(scene: &Scene, component: &Path) -> Launch {
    let component = component.to_str().expect("a path that is text");
    with_cache(scene.builtin(&["--component", component]), scene)
}

/// What is in the cache.
fn kept(scene: &Scene) -> Vec<PathBuf> {
    let files = fs::read_dir(cache(scene)).expect("the cache was made");
    files.map(|file| file.expect("a file").path()).collect()
}

fn only(scene: &Scene) -> PathBuf {
    let [file] = &kept(scene)[..] else { panic!("{:?}", kept(scene)) };
    file.clone()
}

/// What tells a file from one that was put in its place.
fn identity(file: &Path) -> u64 {
    fs::metadata(file).expect("it is there").ino()
}

/// Runs it, and returns what it complains of.
fn run(launch: &Launch) -> String {
    Ran::of(launch).warned()
}

/// A scene with a compiled engine in its cache, what it was compiled for, and its file.
fn compiled() -> (Scene, Launch, PathBuf) {
    let scene = Scene::new();
    let launch = launch(&scene, &hostile());
    run(&launch);
    let file = only(&scene);
    (scene, launch, file)
}

#[test]
fn the_real_engine_in_a_file_is_as_good_as_the_one_built_in() {
    let scene = Scene::new();
    let id = scene.past(&launch(&scene, &real()), &["Mend the roof"]);
    // The one that was built in, the one compiled before, in another's place.
    for launch in [scene.builtin(&[]), launch(&scene, &real())] {
        let mut client = Client::ready(&launch);
        let (replay, _) = client.load(&id, &scene.cwd());
        assert_eq!(text_of(&replay, "user_message_chunk"), "Mend the roof");
        client.close();
    }
    assert_eq!(kept(&scene).len(), 1);
}

#[test]
fn an_engine_is_compiled_once_and_kept_for_its_owner_alone() {
    let scene = Scene::new();
    let launch = launch(&scene, &hostile());
    assert_eq!(run(&launch), "");
    let file = only(&scene);
    assert_eq!((mode(&cache(&scene)), mode(&file)), (0o700, 0o600));
    let first = identity(&file);
    assert_eq!(run(&launch), "");
    assert_eq!(identity(&only(&scene)), first, "it was taken as it is");
    // It goes by what is in the file, not by its name.
    let copy = scene.file("copy.wasm");
    fs::copy(hostile(), &copy).expect("a copy");
    assert_eq!(run(&self::launch(&scene, &copy)), "");
    assert_eq!(identity(&only(&scene)), first);
    // One with a section more is another.
    let mut bytes = fs::read(&copy).expect("a copy");
    bytes.extend([0, 2, 1, b'x']);
    fs::write(&copy, bytes).expect("it is ours");
    assert_eq!(run(&self::launch(&scene, &copy)), "");
    assert_eq!(kept(&scene).len(), 2);
}

#[test]
fn what_others_could_have_written_is_compiled_anew() {
    let (scene, launch, file) = compiled();
    let whole = fs::read(&file).expect("it is ours");
    let damage = |at: usize| {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        fs::write(&file, damaged).expect("it is ours");
    };
    let spoil: [(&str, &dyn Fn()); 5] = [
        ("for others to write", &|| set_mode(&file, 0o666)),
        ("damaged", &|| damage(whole.len() / 2)),
        ("with another digest", &|| damage(0)),
        ("cut off", &|| fs::write(&file, &whole[..whole.len() / 2]).expect("it is ours")),
        ("empty", &|| fs::write(&file, "").expect("it is ours")),
    ];
    for (how, spoil) in spoil {
        spoil();
        let spoilt = identity(&file);
        run(&launch);
        assert_ne!(identity(&only(&scene)), spoilt, "{how}");
        assert_eq!((mode(&file), fs::read(&file).expect("it is ours") == whole), (0o600, true), "{how}");
    }
}

#[test]
fn where_nothing_can_be_kept_safely_nothing_is() {
    let (scene, launch, file) = compiled();
    for (folder, rights) in [(cache(&scene), 0o777), (scene.file("cache"), 0o770)] {
        let before = mode(&folder);
        set_mode(&folder, rights);
        let complaint = run(&launch);
        assert!(complaint.contains("others than its owner could write to its folder"), "{complaint}");
        fs::remove_file(&file).expect("it was left as it was");
        run(&launch);
        assert!(!file.exists(), "{}", folder.display());
        set_mode(&folder, before);
        run(&launch);
        assert!(file.exists(), "{}", folder.display());
    }
}

#[test]
fn without_a_cache_it_runs_all_the_same() {
    let scene = Scene::new();
    let file = scene.file("cache");
    fs::write(&file, "in its way").expect("it is ours");
    let complaint = run(&launch(&scene, &hostile()));
    assert!(complaint.contains("the compiled engine is not kept"), "{complaint}");
}
