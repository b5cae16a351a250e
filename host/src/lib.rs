//! Runs the session engine: a sandboxed component between a client and an agent of the Agent Client Protocol.

pub mod engine_config;
