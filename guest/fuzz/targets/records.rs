//! A store in which one record, or one entry of a log, is anything: whoever reads it back says so, and nothing panics.

#![no_main]

use acp_sessions_fuzz::bytes::Bytes;
use acp_sessions_fuzz::talk::{Talk, World, check, past};
use acp_sessions_guest::sessions::checkup::Mending;
use acp_sessions_guest::storage::{Bounds, Durability, Memory, Storage, Write};
use libfuzzer_sys::fuzz_target;

const ALL: Bounds = Bounds { limit: 10_000, max_bytes: u32::MAX };

thread_local! {
    /// What every input begins with, made once.
    static PAST: (Memory, World) = {
        let (memory, world) = (Memory::default(), World::default());
        past(&memory, &world);
        (memory, world)
    };
}

fuzz_target!(|data: &[u8]| {
    let (memory, world) = PAST.with(Clone::clone);
    let mut bytes = Bytes::new(data);
    for write in change(&memory, &mut bytes) {
        memory.commit(&[], vec![write], Durability::Relaxed).expect("memory takes everything");
    }
    let mut talk = Talk::new(&memory, &world);
    while !bytes.is_empty() {
        talk.step(&mut bytes);
    }
    talk.end();
    for mending in [Mending::Nothing, Mending::Derived, Mending::Everything] {
        check(&memory, mending);
    }
    let findings = check(&memory, Mending::Nothing);
    assert!(findings.is_empty(), "what can be read of a store is not whole: {findings:?}");
});

/// Something else in the place of what is stored: text, or a part of what it was.
fn change(memory: &Memory, bytes: &mut Bytes<'_>) -> Vec<Write> {
    let place = usize::from(bytes.next());
    let records = memory.scan("", "\u{10ffff}", false, ALL).expect("memory fails never").entries;
    if bytes.next() % 3 > 0 {
        let record = &records[place % records.len()];
        return vec![Write::Put { key: record.key.clone(), value: other(&record.value, bytes) }];
    }
    let logs = memory.log_names(None, 100).expect("memory fails never");
    let log = &logs[usize::from(bytes.next()) % logs.len()];
    let mut entries = memory.read_log(log, 1, ALL).expect("memory fails never").entries;
    let place = place % entries.len();
    entries[place].value = other(&entries[place].value, bytes);
    // Only the last entry of a log can be amended: the others are written again behind it.
    let cut = Write::CutLog { log: log.clone(), start: entries[place].seq };
    let rest =
        entries.drain(place..).map(|entry| Write::Append { log: log.clone(), seq: entry.seq, value: entry.value });
    std::iter::once(cut).chain(rest).collect()
}

fn other(value: &str, bytes: &mut Bytes<'_>) -> String {
    let end = value.floor_char_boundary(usize::from(bytes.next()) * value.len() / 255);
    match bytes.next() % 3 {
        0 => bytes.text(),
        1 => value[..end].to_owned(),
        _ => format!("{}{}{}", &value[..end], bytes.text(), &value[value.floor_char_boundary(end + 1)..]),
    }
}
