//! The WIT types.

// The generated glue of wit-bindgen is unsafe at the ABI's edge.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::pedantic, clippy::all)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "session-engine",
    generate_all,
});

pub(crate) struct Component;

export!(Component);
