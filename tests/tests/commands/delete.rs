//! `acp-sessions delete`

use crate::run::{on, with_sessions};

#[test]
fn what_is_deleted_is_gone() {
    let (scene, ids) = with_sessions(&["Mend the roof", "Paint the fence", "Water the garden"]);
    let printed = on(&scene, &["delete", &ids[0], &ids[2]]).printed();
    assert_eq!(printed, format!("Deleted {}.\nDeleted {}.\n", ids[0], ids[2]));
    let listed = on(&scene, &["list"]).printed();
    for (id, is_left) in ids.iter().zip([false, true, false]) {
        assert_eq!(listed.contains(id), is_left, "{listed}");
    }
    for id in [&ids[0], &ids[2]] {
        assert_eq!(on(&scene, &["show", id]).complained(), format!("there is no session {id}"));
        assert_eq!(on(&scene, &["delete", id]).complained(), format!("there is no session {id}"));
    }
    assert!(!scene.store_holds("Mend the roof") && !scene.store_holds("Water the garden"), "it is still on disk");
}

#[test]
fn with_one_session_mistyped_nothing_goes() {
    let (scene, ids) = with_sessions(&["Mend the roof"]);
    let mistyped = on(&scene, &["delete", &ids[0], "mistyped"]);
    assert_eq!(mistyped.complained(), "there is no session mistyped");
    assert!(on(&scene, &["show", &ids[0]]).printed().contains("Mend the roof"));
}

#[test]
fn a_session_that_is_named_twice_goes_once() {
    let (scene, ids) = with_sessions(&["Mend the roof", "Paint the fence"]);
    let printed = on(&scene, &["delete", &ids[0], &ids[1], &ids[0]]).printed();
    assert_eq!(printed, format!("Deleted {}.\nDeleted {}.\n", ids[0], ids[1]));
}
