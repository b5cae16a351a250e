//! An agent for the tests; see `acp_sessions_tests::agent`.

use acp_sessions_tests::agent::{Options, serve};
use clap::Parser;

fn main() -> Result<(), agent_client_protocol::Error> {
    futures::executor::block_on(serve(Options::parse()))
}
