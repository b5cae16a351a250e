//! `acp-sessions doctor`

use std::fs::OpenOptions;
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
