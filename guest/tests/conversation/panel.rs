//! The typed interface, as a history panel uses it: no connection, and beside connections that are open.

use acp_sessions_corpus::Call;
use acp_sessions_guest::sessions::panel::{ArchivedSessions, ListCriteria};
use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World};
use crate::scenes::{CWD, leave};

/// A panel over a store.
struct Panel<'a, S> {
    store: &'a S,
    world: &'a World,
}

impl<S: Storage> Panel<'_, S> {
    fn ask(&self, call: Call) -> Value {
        self.world.recorder.typed(self.store, self.world.time(), call)
    }

    fn list(&self, criteria: ListCriteria, limit: u32, cursor: Option<&str>) -> Value {
        self.ask(Call::ListSessions { criteria, limit, cursor: cursor.map(str::to_owned) })
    }

    /// The titles that a list shows, page by page.
    fn titles(&self, criteria: &ListCriteria, limit: u32) -> Vec<Vec<String>> {
        let (mut pages, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.list(criteria.clone(), limit, cursor.as_deref());
            let rows = page["ok"]["sessions"].as_array().unwrap();
            pages.push(rows.iter().map(|row| row["title"].as_str().unwrap_or("-").to_owned()).collect());
            cursor = page["ok"]["next-cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return pages;
            }
        }
    }

    fn read(&self, id: &str, after: Option<&str>, limit: u32) -> Value {
        self.ask(Call::ReadTranscript { session_id: id.to_owned(), after: after.map(str::to_owned), limit })
    }

    fn delete(&self, id: &str) -> Value {
        self.ask(Call::DeleteSession { session_id: id.to_owned() })
    }

    /// How many sessions a whole checkup has done, and what it has found.
    fn check(&self, mending: &str) -> (u64, Vec<Value>) {
        let (mut done, mut findings, mut cursor) = (0, Vec::new(), None);
        loop {
            let checked = self.ask(Call::CheckStore { mending: mending.to_owned(), cursor, limit: 256 });
            done += checked["ok"]["done"].as_u64().unwrap();
            findings.extend(checked["ok"]["findings"].as_array().unwrap().iter().cloned());
            cursor = checked["ok"]["next-cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return (done, findings);
            }
        }
    }
}

/// Four sessions in two directories, a second apart, of which nothing is open any more.
fn filled<S: Storage>(store: &S, world: &World) {
    let mut desk = Desk::ready(store, world, &json!({}));
    for (nth, (cwd, prompt, answer)) in [
        ("/home/x", "Mend the parser", "The parser reads numbers again"),
        ("/home/y", "Water the plants", "They are green"),
        ("/home/x", "Parse dates", "With an offset, too"),
        ("/home/y", "Write a poem", "On numbers, in verse"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = desk.new_session(&format!("s{nth}"), cwd);
        desk.turn(&id, prompt, &[answer]);
        desk.wait(1000);
    }
    leave(desk);
}

#[test]
fn a_panel_pages_and_filters() {
    let (store, world) = (Memory::new(), World::default());
    filled(&store, &world);
    let panel = Panel { store: &store, world: &world };
    let every = ListCriteria::default();
    assert_eq!(
        panel.titles(&every, 3),
        [vec!["Write a poem", "Parse dates", "Water the plants"], vec!["Mend the parser"]]
    );
    let here = ListCriteria { cwds: vec!["/home/x/".to_owned()], ..every.clone() };
    assert_eq!(panel.titles(&here, 10), [["Parse dates", "Mend the parser"]]);
    // A workspace of several folders: one list, in its order, each session once.
    let both = ["/home/x/", "/home/z", "/home/y", "/home/x"].map(str::to_owned).to_vec();
    let both = ListCriteria { cwds: both, ..every.clone() };
    assert_eq!(
        panel.titles(&both, 3),
        [vec!["Write a poem", "Parse dates", "Water the plants"], vec!["Mend the parser"]]
    );
    let late = ListCriteria { updated_after: Some("2025-10-09T10:53:21+0200".to_owned()), ..every.clone() };
    assert_eq!(panel.titles(&late, 10), [["Write a poem", "Parse dates"]]);
    let early = ListCriteria { created_before: Some("2025-10-09T08:53:21.000Z".to_owned()), ..every };
    assert_eq!(panel.titles(&early, 10), [["Mend the parser"]]);
}

#[test]
fn a_panel_searches_words_and_phrases() {
    let (store, world) = (Memory::new(), World::default());
    filled(&store, &world);
    let panel = Panel { store: &store, world: &world };
    let search = |text: &str| {
        let found = panel.list(ListCriteria { search: Some(text.to_owned()), ..ListCriteria::default() }, 10, None);
        let rows = found["ok"]["sessions"].as_array().unwrap();
        rows.iter().map(|row| (row["id"].clone(), row["matched-in"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(search("numbers"), [(json!("s3"), json!("conversation")), (json!("s0"), json!("conversation"))]);
    assert_eq!(search("pars"), [(json!("s2"), json!("title")), (json!("s0"), json!("title"))]);
    assert_eq!(search("\"reads numbers\""), [(json!("s0"), json!("conversation"))]);
    assert_eq!(search("\"numbers reads\""), []);
    assert_eq!(search("!?"), []);
}

#[test]
fn a_panel_searches_titles_where_the_store_has_no_text_search() {
    let (store, world) = (Memory::without_text_search(), World::default());
    filled(&store, &world);
    let panel = Panel { store: &store, world: &world };
    let search = |text: &str| ListCriteria { search: Some(text.to_owned()), ..ListCriteria::default() };
    assert_eq!(panel.titles(&search("par"), 10), [["Parse dates", "Mend the parser"]]);
    assert_eq!(panel.titles(&search("verse"), 10), [[""; 0]]);
}

#[test]
fn a_panel_reads_a_transcript_in_parts() {
    let (store, world) = (Memory::new(), World::default());
    filled(&store, &world);
    let panel = Panel { store: &store, world: &world };
    let first = panel.read("s0", None, 1);
    let updates = first["ok"]["updates"].as_array().unwrap();
    assert_eq!((updates.len(), &first["ok"]["more"]), (1, &json!(true)));
    let rest = panel.read("s0", updates[0]["cursor"].as_str(), 100);
    let update = rest["ok"]["updates"][0]["update"].as_str().unwrap();
    assert!(update.contains("The parser reads numbers again"), "{update}");
    assert_eq!(rest["ok"]["more"], false);
    assert!(panel.read("s0", Some("nonsense"), 1)["error"]["invalid"].is_string());
    assert_eq!(panel.read("s9", None, 1)["error"]["not-found"], "s9");
}

#[test]
fn a_panel_renames_and_archives_beside_an_open_connection() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "A question", &["An answer"]);
    let panel = Panel { store: &store, world: &world };
    let rename = |title: &str| panel.ask(Call::RenameSession { session_id: "s1".to_owned(), title: title.to_owned() });
    assert_eq!(rename("  Our title "), json!({"ok": "Our title"}));
    assert!(rename(" ")["error"]["invalid"].is_string());
    let archive = |id: &str, archived| panel.ask(Call::ArchiveSession { session_id: id.to_owned(), archived });
    assert_eq!(archive("s1", true), json!({"ok": null}));
    assert_eq!(archive("s9", true)["error"]["not-found"], "s9");
    assert_eq!(desk.listed(), [""; 0]);
    assert_eq!(panel.titles(&ListCriteria::default(), 10), [[""; 0]]);
    let only = ListCriteria { archived: ArchivedSessions::Only, ..ListCriteria::default() };
    assert_eq!(panel.titles(&only, 10), [["Our title"]]);
    archive("s1", false);
    desk.turn("s1", "Another question", &["Another answer"]);
    let session = panel.ask(Call::GetSession { session_id: "s1".to_owned() });
    assert_eq!((&session["ok"]["title"], &session["ok"]["archived"]), (&json!("Our title"), &json!(false)));
}

#[test]
fn what_a_panel_deletes_is_gone_and_nothing_is_wrong_with_the_rest() {
    let (store, world) = (Memory::new(), World::default());
    filled(&store, &world);
    let panel = Panel { store: &store, world: &world };
    assert_eq!(panel.delete("s1"), json!({"ok": null}));
    assert_eq!(panel.delete("unknown"), json!({"ok": null}));
    assert_eq!(panel.read("s1", None, 10)["error"]["not-found"], "s1");
    for _ in 0..4 {
        if panel.ask(Call::FinishDeletes) == json!({"ok": false}) {
            break;
        }
    }
    assert_eq!(panel.check("nothing"), (3, Vec::new()));
    let prune = |dry_run| {
        let cwd = Some("/home/x".to_owned());
        let idle_since = "2025-10-09T08:53:21.500Z".to_owned();
        panel.ask(Call::PruneSessions { idle_since, cwd, limit: 10, cursor: None, dry_run })
    };
    for dry_run in [true, false] {
        assert_eq!(prune(dry_run)["ok"]["sessions"][0]["id"], "s0");
    }
    assert_eq!(prune(false)["ok"]["sessions"], json!([]));
    assert_eq!(panel.titles(&ListCriteria::default(), 10), [["Write a poem", "Parse dates"]]);
}

#[test]
fn a_panel_puts_right_what_is_derived() {
    let (store, world) = (Memory::new(), World::default());
    filled(&store, &world);
    let every = ListCriteria::default();
    let panel = Panel { store: &store, world: &world };
    let rows = store.scan("i/", "i0", false, acp_sessions_guest::storage::Bounds { limit: 2, max_bytes: u32::MAX });
    let writes =
        rows.unwrap().entries.into_iter().map(|row| acp_sessions_guest::storage::Write::Remove { key: row.key });
    store.commit(&[], writes.collect(), acp_sessions_guest::storage::Durability::Relaxed).unwrap();
    let told = panel.check("nothing").1;
    assert!(!told.is_empty() && told.iter().all(|finding| finding["mended"] == false), "{told:?}");
    assert!(panel.check("derived").1.iter().all(|finding| finding["mended"] == true));
    assert_eq!(panel.check("nothing"), (4, Vec::new()));
    assert_eq!(panel.titles(&every, 10).concat().len(), 4);
}

#[test]
fn what_the_store_does_not_do_a_panel_is_told() {
    let (store, world) = (Faulty::default(), World::default());
    filled(&store, &world);
    let panel = Panel { store: &store, world: &world };
    store.fail(0, 1, StorageError::Full);
    assert!(panel.delete("s0")["error"]["storage"].as_str().unwrap().contains("full"));
    // Somebody else is faster once.
    store.fail(0, 1, StorageError::Conflict);
    assert_eq!(panel.delete("s0"), json!({"ok": null}));
    store.is_unreadable.set(true);
    assert!(panel.read("s1", None, 1)["error"]["storage"].is_string());
    store.is_unreadable.set(false);
    assert!(panel.list(ListCriteria::default(), 0, None)["error"]["invalid"].is_string());
    let bad = [
        ListCriteria { updated_after: Some("yesterday".to_owned()), ..ListCriteria::default() },
        ListCriteria { cwds: vec!["/home/x".to_owned(), "y".to_owned()], ..ListCriteria::default() },
        ListCriteria { cwds: (0..=128).map(|nth| format!("/home/{nth}")).collect(), ..ListCriteria::default() },
    ];
    for bad in bad {
        assert!(panel.list(bad.clone(), 10, None)["error"]["invalid"].is_string(), "{bad:?}");
    }
}
