//! The wasmtime settings under which the engine is compiled and run.
//!
//! The build script includes this file too: code compiled ahead of time loads only under the settings that it was
//! compiled with.

/// Settings for the compiler and for the host.
pub fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config
        .wasm_component_model(true)
        // A call that does not end is stopped by the host's ticker.
        .epoch_interruption(true)
        .max_wasm_stack(1 << 20);
    config
}
