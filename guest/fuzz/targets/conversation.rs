//! Whole conversations, both sides: nothing that is said makes the engine panic, no request is answered twice, and what is
//! stored in the end agrees with itself.

#![no_main]

use acp_sessions_fuzz::bytes::Bytes;
use acp_sessions_fuzz::talk::{Talk, World, check};
use acp_sessions_guest::sessions::checkup::Mending;
use acp_sessions_guest::storage::Memory;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (memory, world) = (Memory::default(), World::default());
    let mut bytes = Bytes::new(data);
    let mut talk = Talk::new(&memory, &world);
    while !bytes.is_empty() {
        talk.step(&mut bytes);
    }
    talk.end();
    let findings = check(&memory, Mending::Nothing);
    assert!(findings.is_empty(), "{findings:?}");
});
