//! The Rust SDK's conductor, as its own program is: it keeps a chain of proxies in front of an agent.

use agent_client_protocol_conductor::ConductorArgs;
use clap::Parser as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(ConductorArgs::parse().main())?)
}
