//! What checkups find in damaged stores, and what they make of it.

mod altered;
mod gap;

use serde_json::json;

use super::{Fault, Mending, check};
use crate::storage::{Bounds, Durability, Memory, Storage, Write};
use crate::store::{Decision, Session, Store, keys};
use crate::transcript::{Entry, Kind, text};

const NOW: i64 = 1_000_000;

fn entry(text: &str) -> String {
    let update = json!({"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}});
    Entry::text(Kind::Update, NOW, &update.to_string())
}

fn put(store: &Store<Memory>, id: &str, change: impl Fn(&mut Session)) {
    let mut session = Session::new(id.to_owned(), "/x".to_owned(), NOW);
    session.prompts = 1;
    change(&mut session);
    store.change(id).commit(|_, _, _| Ok(Decision::put(session.clone()))).unwrap();
}

/// What a checkup finds, and whether it put it right. It may not fill the store, nor go on for ever.
fn checked(store: &Store<Memory>, mending: Mending) -> Vec<(Fault, bool)> {
    let (mut cursor, mut found) = (None, Vec::new());
    loop {
        let checkup = check(store, mending, cursor.as_deref(), 100, NOW).unwrap();
        assert!(store.storage().counts().1 < 1000 && found.len() < 1000, "no end of it");
        found.extend(checkup.findings.iter().map(|finding| (finding.fault, finding.is_mended)));
        cursor = checkup.next;
        if cursor.is_none() {
            return found;
        }
    }
}

/// The texts of a log; nothing for a mark.
fn said(store: &Store<Memory>, log: &str) -> Vec<(u32, String)> {
    let page = store.storage().read_log(log, 1, Bounds { limit: 10_000, max_bytes: u32::MAX }).unwrap();
    page.entries.iter().map(|entry| (entry.seq, text::of_entry(&entry.value).trim().to_owned())).collect()
}

#[test]
fn a_lost_session_is_made_anew_of_its_list_row_whatever_others_have_put_there() {
    for beside in ["1", "1e400", r#""\ud800""#] {
        let store = Store::new(Memory::new());
        let meta = || ("n".to_owned(), serde_json::from_str(beside).unwrap());
        put(&store, "x", |session| session.meta = [meta()].into());
        let remove = Write::Remove { key: keys::session("x") };
        store.commit(&[], vec![remove], Durability::Relaxed).unwrap();
        assert!(checked(&store, Mending::Everything).contains(&(Fault::Lost, true)), "{beside}");
        let session = store.session("x").unwrap().unwrap();
        assert_eq!(session.meta["n"].get(), beside);
    }
}

#[test]
fn how_an_agent_tells_histories_is_a_note_that_can_be_read() {
    for key in [keys::told_behind("a/b"), keys::one_sum("a/b")] {
        for (value, found) in [("1", vec![]), ("x", vec![(Fault::Note, true)])] {
            let store = Store::new(Memory::new());
            let noted = Write::Put { key: key.clone(), value: value.to_owned() };
            store.commit(&[], vec![noted], Durability::Relaxed).unwrap();
            assert_eq!(checked(&store, Mending::Everything), found, "{key} {value}");
        }
    }
    let store = Store::new(Memory::new());
    store.note_told_behind("a/b").unwrap();
    assert_eq!([store.is_told_behind("a/b").unwrap(), store.is_told_behind("a").unwrap()], [true, false]);
    assert_eq!(checked(&store, Mending::Nothing), []);
}
