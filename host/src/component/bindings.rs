//! What wasmtime generates from `wit/`.

#![allow(missing_docs, unreachable_pub, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: "wit",
    world: "session-engine",
    imports: { default: trappable },
    with: {
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:random": wasmtime_wasi::p2::bindings::random,
    },
    additional_derives: [PartialEq],
});
