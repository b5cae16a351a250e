//! The engine that the build script compiles ahead of time. A crate that was packed has it in a file, and another of these.

pub(crate) use acp_sessions_component::ENGINE;
