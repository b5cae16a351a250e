//! Lists against the naive model of `acp-sessions-model`, over the store in memory.

mod bytes;
mod cost;
mod following;
mod many;
mod plain;

use acp_sessions_guest::sessions::list::Effort;
use acp_sessions_guest::storage::Memory;
use acp_sessions_model::{Native, Scale, run};

#[test]
fn lists_are_as_the_model_has_them() {
    run(Scale { cases: 1000, sessions: 40 }, || Native::new(Memory::new()));
}

#[test]
fn lists_of_all_agents_are_as_the_model_has_them() {
    run(Scale { cases: 300, sessions: 40 }, || Native::new(Memory::new()).of_all_agents());
}

#[test]
fn searches_are_as_the_model_has_them_whichever_way_they_go_about_it() {
    // Only sessions that are tried; some tried before words are looked up; hardly any word looked up.
    for (rare, glanced, tried_first, near, few) in
        [(0, 1, 1, usize::MAX, 0), (0, 1, 3, 0, 2000), (1, 2, 2, 4, 5), (0, 2, 4, 4, 5)]
    {
        let effort = Effort {
            rare,
            glanced,
            tried_first,
            near,
            few,
            sampled: 2,
            most_tried: usize::MAX,
            most_in_vain: usize::MAX,
        };
        run(Scale { cases: 300, sessions: 40 }, || Native::new(Memory::new()).with(effort));
    }
}

#[test]
fn searches_of_a_store_without_text_search_are_as_the_model_has_them() {
    run(Scale { cases: 500, sessions: 40 }, || Native::without_text_search(Memory::without_text_search()));
}
