//! The command `acp-sessions`.

fn main() {}
