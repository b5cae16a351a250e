//! `acp-sessions doctor`

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;

use crate::run::{on, with_sessions};

#[test]
fn a_healthy_store_is_counted() {
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let printed = on(&scene, &["doctor"]).printed();
    assert!(printed.starts_with(&format!("Store:       {}\n", scene.store().display())), "{printed}");
    for line in ["Logs:        2 with ", "Health:      good"] {
        assert!(printed.lines().any(|found| found.starts_with(line)), "no `{line}` in {printed}");
    }
}

#[test]
fn indexes_are_made_anew_and_say_the_same() {
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let lists = [&["list", "--json"][..], &["list", "--json", "--search", "roof"]];
    let before = lists.map(|words| on(&scene, words).printed());
    assert_eq!(before.each_ref().map(|list| list.lines().count()), [2, 1]);
    let printed = on(&scene, &["doctor", "--rebuild"]).printed();
    assert!(printed.ends_with("Health:      good\nRebuilt the indexes of 2 sessions.\n"), "{printed}");
    assert_eq!(lists.map(|words| on(&scene, words).printed()), before);
}

#[test]
fn a_record_that_cannot_be_read_is_named_and_the_others_are_indexed() {
    let (scene, ids) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let mut bytes = fs::read(scene.store()).expect("the store");
    let record = format!("{{\"id\":\"{}\",\"cwd\":", ids[0]);
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(record.as_bytes())).collect();
    assert!(!places.is_empty(), "there is a record");
    for at in places {
        bytes[at] = b'?';
    }
    fs::write(scene.store(), bytes).expect("written");
    let ran = on(&scene, &["doctor", "--rebuild"]);
    assert_eq!((ran.code, ran.complaint.as_str()), (Some(1), ""), "{ran:?}");
    let rest = "Rebuilt the indexes of 1 sessions.\nRecords that cannot be read, and were left as they are:\n";
    assert!(ran.out.ends_with(&format!("{rest}  s/{}\n", ids[0])), "{ran:?}");
    let found = on(&scene, &["list", "--json", "--search", "fence"]).printed();
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn a_damaged_store_is_not_touched() {
    const PAGE: u64 = 4096;
    let (scene, _) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let file = OpenOptions::new().write(true).open(scene.store()).expect("the store");
    let pages = file.metadata().expect("its size").len() / PAGE;
    // The first page says what the others are.
    for page in 1..pages {
        file.write_all_at(&[0x5a; 64], page * PAGE).expect("written");
    }
    for words in [&["doctor"][..], &["doctor", "--rebuild"]] {
        let ran = on(&scene, words);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.out.contains("Damaged:\n") && !ran.out.contains("Rebuilt"), "{ran:?}");
        assert!(ran.out.ends_with("Make a copy of the file before anything else uses it.\n"), "{ran:?}");
        assert_eq!(ran.complaint, "");
    }
}
