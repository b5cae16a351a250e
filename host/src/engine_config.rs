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
        // Which instruction of the component a trap is of is 1.4 MB that each process would hold in memory twice; its function
        // is told without.
        .generate_address_map(false)
        .max_wasm_stack(1 << 20);
    config
}
