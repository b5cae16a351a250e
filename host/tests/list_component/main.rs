//! Lists against the naive model of `acp-sessions-model`, once more: by the built component, over SQLite.

mod desk;

use acp_sessions::component::{Component, Limits};
use acp_sessions::folders::{Folders, Lookup, Repository};
use acp_sessions_model::{Scale, run, worktrees_of};

use desk::{Desk, library};

/// What the model has of folders.
struct Model;

impl Lookup for Model {
    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        worktrees_of(cwd)
    }

    fn repository(&self, _: &str) -> Option<Repository> {
        None
    }
}

#[test]
fn the_component_lists_as_the_model_does() {
    let component = Component::embedded(Limits::default()).expect("the engine").with_folders(Folders::by(Model));
    run(Scale { cases: 300, sessions: 30 }, || Desk::new(&component));
}

#[test]
fn the_library_over_sqlite_lists_as_the_model_does() {
    run(Scale { cases: 300, sessions: 30 }, library);
}
