//! What it does.

use std::hint::black_box;

use crate::bindings::acp::sessions::storage::{self, Durability, Entry, Write};
use crate::bindings::exports::acp::sessions::connection::{Memo, Output};

const MIB: usize = 1 << 20;

/// Takes more memory for good than the host leaves an instance that is at rest.
pub(crate) fn grow() {
    std::mem::forget(black_box(vec![1_u8; 36 * MIB]));
}

/// Does it; what is to be said and kept comes of it, if anything does.
pub(crate) fn commit(what: &str) -> Vec<Output> {
    match what {
        "trap" => core::arch::wasm32::unreachable(),
        "loop" => loop {
            black_box(());
        },
        "memory" => loop {
            std::mem::forget(black_box(vec![1_u8; MIB]));
        },
        "recursion" => {
            black_box(descend(black_box(1)));
            Vec::new()
        }
        "calls" => loop {
            black_box(storage::log_end("nothing")).ok();
        },
        // More than a call may hand over, as one value and as many.
        "value" => {
            storage::get(&["k".repeat(48 * MIB)]).ok();
            Vec::new()
        }
        "values" => {
            storage::get(&vec!["k".repeat(MIB); 48]).ok();
            Vec::new()
        }
        // More from the store than anybody can hold.
        "answers" => {
            let entry = Entry { key: "large".to_owned(), value: "v".repeat(MIB) };
            storage::commit(&[], &[Write::Put(entry)], Durability::Relaxed).ok();
            let got = storage::get(&vec!["large".to_owned(); 4096]);
            assert!(got.is_ok(), "the store gives so much to nobody");
            Vec::new()
        }
        "hits" => {
            let term = storage::TextTerm { tokens: vec!["word".to_owned()], prefix: false };
            storage::search_text(&term, None, u32::MAX).ok();
            Vec::new()
        }
        "output" => (0..32).map(|_| Output::ToClient("o".repeat(MIB))).collect(),
        "agent-output" => (0..32).map(|_| Output::ToAgent("o".repeat(MIB))).collect(),
        // Little at a time, without end.
        "agent-drip" => vec![Output::ToAgent("o".repeat(MIB))],
        "warnings" => (0..32).map(|_| Output::Warn("w".repeat(MIB))).collect(),
        "memos" => {
            let memo = |n| Output::Keep(Memo { key: format!("much/{n}"), value: Some("m".repeat(MIB)) });
            (0..32).map(memo).collect()
        }
        _ => Vec::new(),
    }
}

/// Without end, as far as a stack goes.
fn descend(depth: u64) -> u64 {
    if black_box(depth) == 0 { 0 } else { black_box(descend(depth + 1)) + 1 }
}
