//! The library in another program: the examples that embed it, and what the library promises to those who do.

use acp_sessions::component::sessions::ListCriteria;
use acp_sessions::component::{Cache, Component, Limits};
use acp_sessions::sessions::{Sessions, SessionsError};
use acp_sessions::store::Sqlite;
use acp_sessions_tests::client::Client;
use acp_sessions_tests::engines::{cache, hostile};
use acp_sessions_tests::launch::{Launch, built};
use acp_sessions_tests::scene::Scene;
use acp_sessions_tests::transcript::{spoken, with_prompt};

/// An example in front of the tests' agent.
fn embedded(example: &str, scene: &Scene) -> Launch {
    Launch::new(&built(&format!("examples/{example}"))).arg(scene.store()).under(&scene.agent(&[]))
}

fn criteria(search: Option<&str>) -> ListCriteria {
    ListCriteria { search: search.map(str::to_owned), ..ListCriteria::default() }
}

#[test]
fn the_examples_serve_a_client_and_keep_what_was_said() {
    for example in ["embed", "lines"] {
        let scene = Scene::new();
        let mut client = Client::ready(&embedded(example, &scene));
        let id = client.new_session(&scene.cwd());
        let said = client.prompt(&id, "Where is the walrus?");
        assert!(client.close().success(), "{example}");

        let mut client = Client::ready(&embedded(example, &scene));
        assert_eq!(client.listed(), [id.as_str()], "{example}");
        let (replayed, _) = client.load(&id, &scene.cwd());
        assert_eq!(spoken(&replayed), spoken(&with_prompt("Where is the walrus?", &said)), "{example}");
        assert!(client.close().success(), "{example}");
    }
}

#[test]
fn sessions_are_listed_read_renamed_archived_and_deleted_without_a_connection() {
    let scene = Scene::new();
    let id = scene.past(&scene.proxy(&[], &[]), &["Where is the walrus?"]);
    let component = Component::embedded(Limits::default()).expect("the engine");
    let store = Sqlite::builder().file(scene.store()).build().expect("the store");
    let mut sessions = Sessions::of(&component, store).expect("an instance");
    let listed = |sessions: &mut Sessions<'_, Sqlite>, search| {
        let page = sessions.list(&criteria(search), 10, None).expect("a list");
        page.sessions.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(&mut sessions, Some("walrus")), [id.as_str()]);
    assert!(!sessions.transcript(&id, None, 100).expect("a transcript").updates.is_empty());
    assert!(sessions.set_aside(&id, None, 100).expect("nothing").updates.is_empty());
    assert!(sessions.usage(10, None).expect("nothing").usages.is_empty());
    assert!(sessions.turn_usage(&id, None, 10).expect("nothing").turns.is_empty());
    assert!(sessions.permissions(&id, None, 10).expect("nothing").permissions.is_empty());
    assert_eq!(sessions.rename(&id, "  The walrus  ").expect("a title"), "The walrus");
    assert_eq!(sessions.get(&id).expect("a session").title.as_deref(), Some("The walrus"));
    sessions.archive(&id, true).expect("archived");
    assert!(listed(&mut sessions, None).is_empty());
    sessions.archive(&id, false).expect("taken out");
    assert_eq!(listed(&mut sessions, None), [id.as_str()]);
    sessions.delete(&id).expect("deleted");
    while sessions.finish_deletes().expect("removed") {}
    assert!(matches!(sessions.get(&id), Err(SessionsError::NotFound(unknown)) if unknown == id));
    assert!(matches!(sessions.list(&criteria(None), 0, None), Err(SessionsError::Invalid(_))));
    sessions.into_storage().expect("the store");
}

#[test]
fn a_call_that_brings_the_engine_down_is_an_error_and_the_next_is_answered() {
    let scene = Scene::new();
    let kept = Cache::in_folder(cache(&scene));
    let component = Component::from_file(&hostile(), &kept, Limits::default()).expect("an engine");
    let store = Sqlite::builder().in_memory().build().expect("a store");
    let mut sessions = Sessions::of(&component, store).expect("an instance");
    for _ in 0..5 {
        let lost = sessions.list(&criteria(Some("trap")), 10, None);
        assert!(matches!(lost, Err(SessionsError::Engine(_))), "{lost:?}");
        let next = sessions.list(&criteria(None), 10, None);
        assert!(matches!(next, Err(SessionsError::NotFound(_))), "this engine knows no sessions: {next:?}");
    }
    sessions.into_storage().expect("the store is not lost with it");
}
