//! The command `acp-sessions`.

use std::process::ExitCode;

fn main() -> ExitCode {
    acp_sessions::cli::main()
}
