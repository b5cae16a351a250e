//! Lists against the naive model of `acp-sessions-model`, over the store in memory.

mod bytes;
mod cost;
mod many;
mod plain;

use acp_sessions_guest::storage::Memory;
use acp_sessions_model::{Native, Scale, run};

#[test]
fn lists_are_as_the_model_has_them() {
    run(Scale { cases: 1000, sessions: 40 }, || Native::new(Memory::new()));
}

#[test]
fn so_are_those_that_show_all_agents_sessions() {
    run(Scale { cases: 300, sessions: 40 }, || Native::new(Memory::new()).of_all_agents());
}

#[test]
fn so_are_those_of_a_store_without_text_search() {
    run(Scale { cases: 500, sessions: 40 }, || Native::without_text_search(Memory::without_text_search()));
}
