//! The life of a session as the official Rust SDK sees it, with every kind of agent behind the program.

use acp_sessions_tests::clients::{Cast, Sdk, tell, tell_in_a_chain};

#[test]
fn in_front_of_the_builtin_agent() {
    tell(Sdk::Rust, Cast::Builtin);
}

#[test]
fn in_front_of_an_agent_that_keeps_nothing() {
    tell(Sdk::Rust, Cast::KeepsNothing);
}

#[test]
fn in_front_of_an_agent_with_load_only() {
    tell(Sdk::Rust, Cast::Loads);
}

#[test]
fn in_front_of_an_agent_with_load_and_resume() {
    tell(Sdk::Rust, Cast::LoadsAndResumes);
}

#[test]
fn in_front_of_an_agent_that_has_everything_itself() {
    tell(Sdk::Rust, Cast::HasEverything);
}

#[test]
fn in_the_chain_of_a_conductor() {
    for cast in [Cast::KeepsNothing, Cast::LoadsAndResumes, Cast::HasEverything] {
        tell_in_a_chain(Sdk::Rust, cast);
    }
}
