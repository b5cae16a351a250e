//! `cargo xtask build`.

use anyhow::Result;

use crate::{imports, style, workspace};

/// Builds the program and says where it and the component are.
pub(crate) fn run() -> Result<()> {
    super::wasm_target::ensure()?;
    workspace::build(&["acp-sessions"])?;
    let component = workspace::component()?;
    println!("program    {}", style::good(workspace::program("acp-sessions")?.display()));
    println!("component  {}", style::good(component.display()));
    for import in imports::check(&component)? {
        println!("{}", style::dim(format_args!("           imports {import}")));
    }
    Ok(())
}
