//! Much that changes at once is told whole, and on few lines.

use acp_sessions_tests::client::Client;
use acp_sessions_tests::followed::Followed;
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use serde_json::json;

use crate::on;

/// How many sessions there are, in forty folders below `/bench`, and one in a folder of its own there.
pub(crate) const MANY: usize = 10_000;

/// Has the sessions of an agent that has many kept in the store.
pub(crate) fn keep_many(scene: &Scene) {
    let agent = Launch::new(&built("fast_agent")).args(&[&MANY.to_string(), "1000"]);
    let mut keeper = Client::ready(&Launch::proxy(&scene.store(), &[], &agent));
    let mut list = Followed::begin(&mut keeper, json!({"archived": "all"}));
    list.wait(&mut keeper, "all are kept", |list| list.len() == MANY);
    assert!(keeper.close().success());
}

/// Somebody who follows all sessions, whoever's they are, or all of this directory.
pub(crate) fn follower(scene: &Scene, cwd: Option<&str>) -> (Client, Followed) {
    let mut client = Client::ready(&scene.builtin(&["--list", "all"]));
    let mut params = json!({"archived": "all", "limit": 1000});
    if let Some(cwd) = cwd {
        params["cwd"] = cwd.into();
    }
    let list = Followed::begin(&mut client, params);
    (client, list)
}

#[test]
fn thousands_of_changes_are_told_on_few_lines_and_none_is_lost() {
    let scene = Scene::new();
    let (mut client, mut list) = follower(&scene, None);
    keep_many(&scene);
    list.wait(&mut client, "all are there", |list| list.len() == MANY);
    list.settle(&mut client);
    let told = list.take_told();
    assert_eq!((told.changed.len(), told.resyncs), (MANY, 0));
    assert!(told.lines * 10 < MANY, "{} lines", told.lines);

    let (mut neighbour, mut folder) = follower(&scene, Some("/bench/project-7"));
    assert_eq!(folder.len(), MANY / 40);
    assert!(on(&scene, &["move", "/bench", "/elsewhere"]).ends_with(&format!("{MANY} sessions moved.\n")));
    list.wait(&mut client, "all have changed", |list| list.told.changed.len() == MANY);
    list.settle(&mut client);
    let told = list.take_told();
    assert_eq!((told.removed.len(), told.resyncs), (0, 0));
    assert!(told.lines * 10 < MANY, "{} lines", told.lines);

    folder.wait(&mut neighbour, "all have left", Followed::is_empty);
    folder.settle(&mut neighbour);

    let gone: Vec<&String> = told.changed.iter().step_by(40).collect();
    on(&scene, &[&["delete"][..], &gone.iter().map(|id| id.as_str()).collect::<Vec<_>>()].concat());
    list.wait(&mut client, "these are gone", |list| list.told.removed.len() == gone.len());
    list.settle(&mut client);
    assert_eq!((list.len(), list.told.resyncs), (MANY - gone.len(), 0));
    assert!(gone.iter().all(|id| list.told.removed.contains(*id)));
    assert_eq!(list.findings, [""; 0]);
}
