//! What wasmtime generates from `wit/`.

#![allow(missing_docs, unreachable_pub, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: "wit",
    world: "session-engine",
    imports: { default: trappable },
    additional_derives: [PartialEq],
});
