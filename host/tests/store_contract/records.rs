//! Records: what is read, in which order, and what a commit makes sure of.

use acp_sessions_host::component::storage::{Durability, Host, LogRow, StorageError, Write};

use super::{expect, on_every_store, put, try_write, write};

fn scan(
    store: &mut dyn Host,
    range: (&str, &str),
    descending: bool,
    limit: u32,
    max_bytes: u32,
) -> (Vec<String>, bool) {
    let page =
        store.scan(range.0.into(), range.1.into(), descending, limit, max_bytes).expect("no trap").expect("read");
    (page.entries.into_iter().map(|entry| format!("{}={}", entry.key, entry.value)).collect(), page.more)
}

fn get(store: &mut dyn Host, key: &str) -> Option<String> {
    store.get(vec![key.into()]).expect("no trap").expect("read").remove(0)
}

#[test]
fn values_come_in_the_order_asked() {
    on_every_store(|store| {
        write(store, vec![put("a", "1"), put("b", ""), put("c", "日本語 \u{0} 𝄞")]);
        let keys = ["c", "x", "a", "b", "a"].map(String::from).to_vec();
        let values = ["日本語 \u{0} 𝄞", "", "1", "", "1"].map(|value| Some(value.to_owned()));
        let mut values = values.to_vec();
        values[1] = None;
        assert_eq!(store.get(keys).expect("no trap"), Ok(values));
        assert_eq!(store.get(vec![]).expect("no trap"), Ok(vec![]));
    });
}

/// Range, descending, limit, bytes; what is found, and whether there is more.
type Case = ((&'static str, &'static str), bool, u32, u32, &'static [&'static str], bool);

#[test]
fn a_scan_is_ordered_and_bounded() {
    on_every_store(|store| {
        write(store, ["d", "b", "a", "c", "B", "aa", "a/"].map(|key| put(key, "v")).to_vec());
        let cases: [Case; 11] = [
            (("A", "z"), false, 100, 1000, &["B=v", "a=v", "a/=v", "aa=v", "b=v", "c=v", "d=v"], false),
            (("A", "z"), true, 3, 1000, &["d=v", "c=v", "b=v"], true),
            (("a", "c"), false, 100, 1000, &["a=v", "a/=v", "aa=v", "b=v"], false),
            (("a", "c"), false, 4, 1000, &["a=v", "a/=v", "aa=v", "b=v"], false),
            (("a", "c"), false, 3, 1000, &["a=v", "a/=v", "aa=v"], true),
            (("a", "z"), false, 100, 7, &["a=v", "a/=v"], true),
            (("a", "z"), false, 100, 0, &["a=v"], true),
            (("a", "z"), true, 0, 1000, &["d=v"], true),
            (("d", "z"), false, 1, 0, &["d=v"], false),
            (("c", "a"), false, 100, 1000, &[], false),
            (("x", "z"), false, 100, 1000, &[], false),
        ];
        for (range, descending, limit, max_bytes, keys, more) in cases {
            let found = scan(store, range, descending, limit, max_bytes);
            let expected = (keys.iter().map(ToString::to_string).collect::<Vec<_>>(), more);
            assert_eq!(found, expected, "{range:?} {descending} {limit} {max_bytes}");
        }
    });
}

#[test]
fn a_commit_depends_on_what_was_read() {
    on_every_store(|store| {
        write(store, vec![put("a", "1")]);
        let cases = [
            (vec![expect("a", Some("1")), expect("b", None)], Ok(())),
            (vec![expect("a", Some("2"))], Err(StorageError::Conflict)),
            (vec![expect("a", None)], Err(StorageError::Conflict)),
            (vec![expect("b", Some("1"))], Err(StorageError::Conflict)),
            (vec![expect("a", Some("1")), expect("a", Some("1 "))], Err(StorageError::Conflict)),
        ];
        for (expected, outcome) in cases {
            let before = get(store, "n");
            let said = format!("{expected:?}");
            let committed = store.commit(expected, vec![put("n", &said)], Durability::Durable).expect("no trap");
            assert_eq!(committed, outcome, "{said}");
            let after = if outcome.is_ok() { Some(said) } else { before };
            assert_eq!(get(store, "n"), after);
        }
    });
}

#[test]
fn writes_act_in_order_and_all_or_none() {
    on_every_store(|store| {
        write(store, vec![put("a", "1"), put("a", "2"), Write::Remove("b".into()), put("b", "3")]);
        write(store, vec![put("c", "4"), Write::Remove("c".into())]);
        let values = ["a", "b", "c"].map(|key| get(store, key));
        assert_eq!(values, [Some("2".into()), Some("3".into()), None]);

        let misplaced = Write::Append(LogRow { log: "l".into(), seq: 7, value: "x".into() });
        let refused = try_write(store, vec![put("a", "5"), Write::Remove("b".into()), misplaced, put("d", "6")]);
        assert_eq!(refused, Err(StorageError::Conflict));
        let values = ["a", "b", "d"].map(|key| get(store, key));
        assert_eq!(values, [Some("2".into()), Some("3".into()), None]);
    });
}
