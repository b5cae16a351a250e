//! The params of `session/list`: a page in its bounds, or a refusal that names a field. A page's cursor leads on.

#![no_main]

use acp_sessions_guest::rpc::Object;
use acp_sessions_guest::sessions::list::{self, Agents, ListError, Options};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Decision, Session, Store, Title};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const OPTIONS: Options =
    Options { page_size: 2, agents: Agents::All, agent: None, draft: false, extended: true, now: 0 };

fuzz_target!(|data: &[u8]| {
    thread_local!(static STORE: Store<Memory> = store());
    let Ok(text) = std::str::from_utf8(data) else { return };
    STORE.with(|store| read(store, text));
});

fn store() -> Store<Memory> {
    let store = Store::new(Memory::new());
    let directories = ["/x", "/x/y", "C:\\work", "\\\\server\\share"];
    for (nth, cwd) in (0..).zip(directories.iter().cycle().take(12)) {
        let mut session = Session::new(format!("s{nth}"), (*cwd).to_owned(), nth * 1000);
        session.touch(nth / 3 * 10_000);
        session.title = Title::Set(format!("Fix the Café 東京都 {nth}"));
        session.archived = nth % 4 == 0;
        session.parent = (nth % 5 == 0).then(|| "s1".to_owned());
        let written = store.change(&session.id).commit(|_, _, _| Ok(Decision::put(session.clone())));
        written.expect("the store in memory takes it");
    }
    store
}

fn read(store: &Store<Memory>, params: &str) {
    let first = match list::list(store, &OPTIONS, Some(params)) {
        Ok(page) => page,
        Err(ListError::Invalid { field, message }) => {
            assert!(!field.is_empty() && !message.is_empty());
            return;
        }
        Err(ListError::Storage(error)) => panic!("{error}"),
    };
    let Ok(mut params) = serde_json::from_str::<Value>(params) else {
        // Not every program can read all of it.
        assert!(Object::parse(params).is_some(), "what was accepted is an object");
        return;
    };
    let mut page: Value = serde_json::from_str(&first).expect("a page is JSON");
    // Twelve sessions, at least one a page.
    for _ in 0..12 {
        let rows = page["sessions"].as_array().expect("rows").len();
        assert!(rows <= 12);
        let Some(cursor) = page.get("nextCursor") else { return };
        assert!(rows > 0, "an empty page with a cursor");
        params["cursor"] = json!(cursor);
        let next = list::list(store, &OPTIONS, Some(&params.to_string())).expect("our own cursor");
        page = serde_json::from_str(&next).expect("a page is JSON");
    }
    panic!("the list does not end");
}
