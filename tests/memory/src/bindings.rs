//! The WIT types, and a world that has the other end of what the engine imports.

// The generated glue of wit-bindgen is unsafe at the ABI's edge.
#![allow(unsafe_code, missing_docs, unreachable_pub, clippy::pedantic, clippy::all)]

wit_bindgen::generate!({
    inline: "
        package acp:memory;

        world memory {
            export acp:sessions/storage@0.1.0;
        }
    ",
    path: "../../wit",
    world: "acp:memory/memory",
    generate_all,
});

pub(crate) struct Component;

export!(Component);
