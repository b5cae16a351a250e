//! Logs: dense numbers, whatever is cut.

use acp_sessions_host::component::storage::{Host, LogCut, LogRow, StorageError, Write};

use super::{on_every_store, try_write, write};

fn append(log: &str, seq: u32, value: &str) -> Write {
    Write::Append(LogRow { log: log.into(), seq, value: value.into() })
}

fn amend(log: &str, seq: u32, value: &str) -> Write {
    Write::Amend(LogRow { log: log.into(), seq, value: value.into() })
}

fn cut(log: &str, start: u32) -> Write {
    Write::CutLog(LogCut { log: log.into(), start })
}

fn end(store: &mut dyn Host, log: &str) -> u32 {
    store.log_end(log.into()).expect("no trap").expect("read")
}

fn read(store: &mut dyn Host, log: &str, start: u32, limit: u32, max_bytes: u32) -> (Vec<(u32, String)>, bool) {
    let page = store.read_log(log.into(), start, limit, max_bytes).expect("no trap").expect("read");
    (page.entries.into_iter().map(|entry| (entry.seq, entry.value)).collect(), page.more)
}

fn values(store: &mut dyn Host, log: &str) -> Vec<String> {
    read(store, log, 0, 1000, 1 << 20).0.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn entries_are_read_in_order_and_within_bounds() {
    on_every_store(|store| {
        write(store, (1..=5).map(|seq| append("l", seq, &seq.to_string().repeat(10))).collect());
        write(store, vec![append("k", 1, "before"), append("m", 1, "after")]);
        let cases = [
            (0, 100, 1000, vec![1, 2, 3, 4, 5], false),
            (1, 100, 1000, vec![1, 2, 3, 4, 5], false),
            (3, 100, 1000, vec![3, 4, 5], false),
            (3, 2, 1000, vec![3, 4], true),
            (4, 2, 1000, vec![4, 5], false),
            (1, 100, 25, vec![1, 2], true),
            (1, 100, 5, vec![1], true),
            (2, 0, 1000, vec![2], true),
            (6, 100, 1000, vec![], false),
            (u32::MAX, 100, 1000, vec![], false),
        ];
        for (start, limit, max_bytes, seqs, more) in cases {
            let (entries, is_more) = read(store, "l", start, limit, max_bytes);
            let found: Vec<u32> = entries.iter().map(|(seq, _)| *seq).collect();
            assert_eq!((found, is_more), (seqs, more), "{start} {limit} {max_bytes}");
            assert!(entries.iter().all(|(seq, value)| *value == seq.to_string().repeat(10)));
        }
        assert_eq!(read(store, "none", 1, 10, 10), (vec![], false));
    });
}

#[test]
fn every_entry_has_its_place() {
    on_every_store(|store| {
        assert_eq!(end(store, "l"), 0);
        for misplaced in [append("l", 0, "x"), append("l", 2, "x"), amend("l", 0, "x"), amend("l", 1, "x")] {
            assert_eq!(try_write(store, vec![misplaced.clone()]), Err(StorageError::Conflict), "{misplaced:?}");
        }
        write(store, vec![append("l", 1, "a"), append("l", 2, "b"), amend("l", 2, "B"), append("l", 3, "c")]);
        assert_eq!(end(store, "l"), 3);
        for misplaced in [append("l", 3, "x"), append("l", 5, "x"), amend("l", 2, "x"), amend("l", 4, "x")] {
            assert_eq!(try_write(store, vec![misplaced.clone()]), Err(StorageError::Conflict), "{misplaced:?}");
        }
        assert_eq!(values(store, "l"), ["a", "B", "c"]);
    });
}

#[test]
fn a_log_goes_on_where_it_was_cut() {
    on_every_store(|store| {
        write(store, (1..=5).map(|seq| append("l", seq, &seq.to_string())).collect());
        write(store, vec![append("other", 1, "stays")]);
        write(store, vec![cut("l", 9)]);
        assert_eq!(end(store, "l"), 5);
        write(store, vec![cut("l", 4)]);
        assert_eq!(end(store, "l"), 3);
        write(store, vec![append("l", 4, "four"), cut("l", 4), append("l", 4, "vier")]);
        assert_eq!(values(store, "l"), ["1", "2", "3", "vier"]);
        write(store, vec![cut("l", 1), append("l", 1, "anew")]);
        assert_eq!(values(store, "l"), ["anew"]);
        write(store, vec![cut("l", 0), cut("never", 1)]);
        assert_eq!((end(store, "l"), end(store, "other")), (0, 1));
    });
}

#[test]
fn an_entry_may_be_long() {
    on_every_store(|store| {
        let long = "0123456789abcdef".repeat(1 << 17);
        write(store, vec![append("l", 1, "short"), append("l", 2, &long), append("l", 3, "short")]);
        assert_eq!(read(store, "l", 2, 10, 1000), (vec![(2, long)], true));
    });
}
