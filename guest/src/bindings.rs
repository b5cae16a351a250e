//! The one module that knows the WIT types: the component's exports onto the engine, its imports as traits.

// The generated glue of wit-bindgen is unsafe at the ABI's edge.
#![allow(unsafe_code, missing_docs, clippy::pedantic, clippy::all)]

mod connection;
mod permissions;
mod sessions;
mod storage;
mod usage;

use std::cell::RefCell;

use crate::environment::{Environment, Repository};

wit_bindgen::generate!({
    path: "../wit",
    world: "session-engine",
    generate_all,
});

struct Component;

/// Every line and every value costs allocations. With the standard library's allocator for WebAssembly a line that passes
/// takes a tenth longer.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

export!(Component);

/// How many random numbers are asked for at a time: calls out of the component are dear in some runtimes.
const RANDOM_AT_ONCE: usize = 16;

thread_local! {
    static RANDOM: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The imports besides the storage.
#[derive(Debug, Clone, Copy)]
struct HostEnvironment;

impl Environment for HostEnvironment {
    fn now(&self) -> i64 {
        let now = wasi::clocks::wall_clock::now();
        i64::try_from(now.seconds).unwrap_or(i64::MAX / 2000) * 1000 + i64::from(now.nanoseconds / 1_000_000)
    }

    fn random(&self) -> u64 {
        RANDOM.with_borrow_mut(|left| {
            if left.is_empty() {
                let bytes = wasi::random::random::get_random_bytes((RANDOM_AT_ONCE * size_of::<u64>()) as u64);
                // They are taken from the end; so they are used in the order in which they came.
                left.extend(
                    bytes
                        .chunks_exact(8)
                        .rev()
                        .map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
                );
            }
            left.pop().unwrap_or_else(wasi::random::random::get_random_u64)
        })
    }

    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        acp::sessions::folders::worktrees(cwd)
    }

    fn repository(&self, cwd: &str) -> Option<Repository> {
        let acp::sessions::folders::Repository { first_commit, depth } = acp::sessions::folders::repository_of(cwd)?;
        Some(Repository { first_commit, depth })
    }
}
