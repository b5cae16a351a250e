//! A few lists written out, so that not everything hangs on the model.

use acp_sessions_guest::sessions::cursor::{Cursor, Place};
use acp_sessions_guest::sessions::filter::Request;
use acp_sessions_guest::sessions::list::{self, Agents, ListError, Options};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Decision, Session, Store, Title};
use serde_json::{Value, json};

fn store() -> Store<Memory> {
    let store = Store::new(Memory::new());
    for (id, cwd, created, updated, title) in [
        ("a", "/x", 1_000, 5_000, "First"),
        ("b", "/x/", 2_000, 5_000, "Second"),
        ("c", "/x/y", 3_000, 4_000, "第三"),
        ("d", "/X", 4_000, 9_000, "Fourth"),
    ] {
        let mut session = Session::new(id.to_owned(), cwd.to_owned(), created);
        session.touch(updated);
        session.title = Title::Set(title.to_owned());
        store.change(id).commit(|_, _, _| Ok(Decision::put(session.clone()))).expect("a new session");
    }
    store
}

fn ids(store: &Store<Memory>, params: &Value) -> (String, Option<String>) {
    let options = Options { page_size: 100, agents: Agents::All, agent: None, draft: false, extended: true, now: 0 };
    ids_for(store, &options, params).expect("a page")
}

fn ids_for(store: &Store<Memory>, options: &Options, params: &Value) -> Result<(String, Option<String>), ListError> {
    let page = list::list(store, options, Some(&params.to_string()))?;
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let rows = page["sessions"].as_array().expect("rows");
    let ids = rows.iter().filter_map(|row| row["sessionId"].as_str()).collect();
    Ok((ids, page["nextCursor"].as_str().map(str::to_owned)))
}

#[test]
fn each_filter_leaves_out_what_it_should() {
    let store = store();
    for (params, expected) in [
        (json!({}), "dbac"),
        (json!({"cwd": "/x"}), "ba"),
        (json!({"cwd": "/x/./y/.."}), "ba"),
        (json!({"cwd": "/"}), ""),
        (json!({"createdAfter": "1970-01-01T00:00:02Z"}), "dc"),
        (json!({"createdBefore": "1970-01-01T01:00:02+01:00"}), "a"),
        (json!({"updatedAfter": "1970-01-01T00:00:04Z"}), "dba"),
        (json!({"createdAfter": "1970-01-01T02:00:02+0200"}), "dc"),
        (json!({"createdAfter": "1970-01-01"}), "dbac"),
        (json!({"createdBefore": "1970-01-01"}), ""),
        // A program that has no time says so.
        (json!({"createdBefore": "0001-01-01T00:00:00Z"}), "dbac"),
        (json!({"createdAfter": "0001-01-01T00:00:00Z", "updatedAfter": "0001-01-01T00:00:00Z"}), "dbac"),
        (json!({"search": "second"}), "b"),
        (json!({"search": "三"}), "c"),
        (json!({"_meta": {"acp-sessions": {"search": "f"}}}), "da"),
    ] {
        assert_eq!(ids(&store, &params), (expected.to_owned(), None), "{params}");
    }
}

#[test]
fn a_limit_may_be_written_with_a_fraction() {
    let store = store();
    // A larger one than a page ever has is no error.
    for (limit, expected) in
        [(json!(2), "db"), (json!(2.0), "db"), (json!(1e0), "d"), (json!(1001), "dbac"), (json!(u64::MAX), "dbac")]
    {
        assert_eq!(ids(&store, &json!({ "limit": limit })).0, expected, "{limit}");
    }
}

/// A row of this list, with everything that it shows.
fn row(store: &Store<Memory>, options: &Options, params: &Value, id: &str) -> Value {
    let page = list::list(store, options, Some(&params.to_string())).expect("a page");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    page["sessions"].as_array().expect("rows").iter().find(|row| row["sessionId"] == id).expect("a row").clone()
}

#[test]
fn lists_stand_in_the_order_of_prompts_and_of_activity_where_none_is_known() {
    let store = store();
    let change = |id: &str, change: &dyn Fn(&mut Session)| {
        let changed = store.change(id).commit(|before, _, _| {
            let mut session = before.cloned().expect("a session");
            change(&mut session);
            Ok(Decision::put(session))
        });
        changed.expect("a change");
    };
    change("c", &|session| session.prompt(7_000));
    assert_eq!(ids(&store, &json!({})).0, "dcba");
    // What its agent does by itself moves nothing.
    change("c", &|session| session.touch(8_000));
    change("c", &|session| session.touch(20_000_000));
    assert_eq!(ids(&store, &json!({})).0, "dcba");
    // It was active then all the same, long after its prompt.
    assert_eq!(ids(&store, &json!({"updatedAfter": "1970-01-01T00:00:09Z"})).0, "c");
    assert_eq!(ids(&store, &json!({"updatedAfter": "1970-01-01T00:00:04Z"})).0, "dcba");
    assert_eq!(ids(&store, &json!({"updatedAfter": "1970-01-01T00:00:04Z", "cwd": "/x/y"})).0, "c");
    assert_eq!(ids(&store, &json!({"updatedAfter": "1970-01-01T05:33:19Z", "search": "三"})).0, "c");
    change("b", &|session| session.prompt(9_500));
    assert_eq!(ids(&store, &json!({})).0, "bdca");
}

#[test]
fn rows_show_what_the_protocol_has_and_more_only_to_who_asks_for_it() {
    let store = store();
    let changed = store.change("a").commit(|before, _, _| {
        let mut session = before.cloned().expect("a session");
        session.title = Title::Set("\",\"archived\":true,\"_meta\":{".to_owned());
        session.prompt(6_000);
        session.turn_ended = Some(7_000);
        session.model = Some("a \"model\"".to_owned());
        session.forked_from = Some("b".to_owned());
        Ok(Decision::put(session))
    });
    changed.expect("a change");
    let stable = ["sessionId", "cwd", "title", "updatedAt", "archived", "_meta"];
    let extended = ["lastPromptAt", "model", "forkedFrom", "lastTurnEndedAt"];
    let options =
        |extended| Options { page_size: 100, agents: Agents::All, agent: None, draft: false, extended, now: 0 };
    for (options, params, is_extended) in [
        (options(false), json!({}), false),
        (options(false), json!({"cwd": "/x"}), false),
        (options(false), json!({"_meta": {"acp-sessions": {"subagents": true}}}), false),
        (options(false), json!({"limit": 100}), true),
        (options(false), json!({"archived": "all"}), true),
        (options(false), json!({"archived": false}), true),
        (options(true), json!({}), true),
    ] {
        let mut row = row(&store, &options, &params, "a");
        // Whoever offers to archive has to say so in every row.
        assert_eq!(row["archived"], false);
        assert_eq!(row["title"], "\",\"archived\":true,\"_meta\":{");
        if is_extended {
            let shown = extended.map(|member| row[member].take());
            let (prompted, ended) = ("1970-01-01T00:00:06.000Z", "1970-01-01T00:00:07.000Z");
            assert_eq!(json!(shown), json!([prompted, "a \"model\"", "b", ended]), "{params}");
        }
        let members: Vec<&String> = row.as_object().expect("a row").keys().collect();
        let expected: Vec<&str> = stable.into_iter().chain(extended.into_iter().filter(|_| is_extended)).collect();
        assert!(expected.iter().all(|member| members.iter().any(|has| has == member)), "{params}: {members:?}");
        assert!(members.len() <= expected.len() + 1, "{params}: {members:?}");
    }
}

#[test]
fn what_is_archived_is_asked_for_by_the_names_of_each_draft() {
    let store = store();
    let changed = store.change("b").commit(|before, _, _| {
        let mut session = before.cloned().expect("a session");
        session.archived = true;
        Ok(Decision::put(session))
    });
    changed.expect("a change");
    for (archived, expected) in [
        (json!(null), "dac"),
        (json!("unarchived"), "dac"),
        (json!("exclude"), "dac"),
        (json!(false), "dac"),
        (json!("archived"), "b"),
        (json!("only"), "b"),
        (json!("all"), "dbac"),
        (json!("include"), "dbac"),
        (json!(true), "dbac"),
    ] {
        assert_eq!(ids(&store, &json!({ "archived": archived })).0, expected, "{archived}");
    }
}

#[test]
fn in_the_draft_dialect_every_list_is_a_drafts() {
    let store = store();
    for serial in 0..60 {
        let session = Session::new(format!("{serial}"), "/x".to_owned(), 5);
        store.change(&session.id).commit(|_, _, _| Ok(Decision::put(session.clone()))).expect("a new session");
    }
    for (draft, params, rows, has_created) in [
        (true, json!({}), 50, true),
        (true, json!({"cwd": "/x"}), 50, true),
        (true, json!({"limit": 60}), 60, true),
        (true, json!({"_meta": {"acp-sessions": {"limit": 7}}}), 7, true),
        (false, json!({}), 64, false),
        (false, json!({"createdAfter": "1970-01-01T00:00:00.001Z"}), 50, true),
    ] {
        let options = Options { page_size: 100, agents: Agents::All, agent: None, draft, extended: true, now: 0 };
        let page = list::list(&store, &options, Some(&params.to_string())).expect("a page");
        let page: Value = serde_json::from_str(&page).expect("JSON");
        let sessions = page["sessions"].as_array().expect("rows");
        assert_eq!(sessions.len(), rows, "{draft} {params}");
        assert!(sessions.iter().all(|row| row["createdAt"].is_string() == has_created), "{draft} {params}");
    }
}

#[test]
fn every_time_in_a_row_has_three_decimals() {
    let store = store();
    let options = Options { page_size: 100, agents: Agents::All, agent: None, draft: true, extended: true, now: 0 };
    let page: Value = serde_json::from_str(&list::list(&store, &options, None).expect("a page")).expect("JSON");
    for row in page["sessions"].as_array().expect("rows") {
        for time in [&row["createdAt"], &row["updatedAt"], &row["_meta"]["acp-sessions"]["createdAt"]] {
            let decimals =
                time.as_str().and_then(|time| time.strip_suffix('Z')?.rsplit_once('.')).map(|(_, last)| last);
            assert_eq!(decimals.map(str::len), Some(3), "{row}");
        }
    }
}

#[test]
fn a_list_is_of_one_agents_sessions_or_of_all() {
    let store = store();
    for (id, agents) in [("a", vec!["x"]), ("b", vec!["x", "y"]), ("c", vec!["y"]), ("d", vec![])] {
        let changed = store.change(id).commit(|before, _, _| {
            let mut session = before.expect("a session").clone();
            for agent in &agents {
                session.give_to(agent, id, 0);
            }
            Ok(Decision::put(session))
        });
        changed.expect("a change");
    }
    let own = |agent: &str| Agents::Own(agent.to_owned());
    let asked = |agents: &str| json!({"_meta": {"acp-sessions": {"agents": agents}}});
    for (agents, agent, params, expected) in [
        (own("x"), None, json!({}), "ba"),
        (own("y"), None, json!({"cwd": "/x"}), "b"),
        (own("y"), None, json!({"search": "s"}), "b"),
        (own("z"), None, json!({}), ""),
        (own("-"), None, json!({}), ""),
        (own("x"), None, asked("own"), "ba"),
        (own("x"), None, asked("all"), "dbac"),
        (Agents::All, None, json!({}), "dbac"),
        (Agents::All, None, json!({"cwd": "/x"}), "ba"),
        (Agents::All, Some("y"), json!({}), "dbac"),
        (Agents::All, Some("y"), asked("own"), "bc"),
    ] {
        let options =
            Options { page_size: 100, agents, agent: agent.map(str::to_owned), draft: false, extended: true, now: 0 };
        assert_eq!(ids_for(&store, &options, &params), Ok((expected.to_owned(), None)), "{options:?} {params}");
    }
    let nobodys = Options { page_size: 1, agents: Agents::All, agent: None, draft: false, extended: true, now: 0 };
    let refusal = ids_for(&store, &nobodys, &asked("own")).expect_err("nobody's own list");
    assert!(matches!(refusal, ListError::Invalid { field, .. } if field == "agents"));
    // A cursor goes on in the list it came from, and in no other agent's.
    let of = |agents: Agents| Options { agents, ..nobodys.clone() };
    let (_, cursor) = ids_for(&store, &of(own("x")), &json!({})).expect("a page");
    let next = json!({ "cursor": cursor });
    assert_eq!(ids_for(&store, &of(own("x")), &next), Ok(("a".to_owned(), None)));
    for other in [own("y"), Agents::All] {
        let refusal = ids_for(&store, &of(other), &next).expect_err("another list's cursor");
        assert!(matches!(refusal, ListError::Invalid { field, .. } if field == "cursor"));
    }
}

#[test]
fn a_session_without_a_date_is_updated_after_nothing() {
    let store = store();
    let undate = |id: &str| {
        let changed = store.change(id).commit(|before, _, _| {
            let mut session = before.expect("a session").clone();
            session.undated = true;
            Ok(Decision::put(session))
        });
        changed.expect("a change");
    };
    let first = json!({"updatedAfter": "1970-01-01T00:00:00Z", "limit": 1});
    let (shown, cursor) = ids(&store, &first);
    assert_eq!(shown, "d");
    undate("b");
    for (params, expected) in [
        (json!({}), "dacb"),
        (json!({"createdAfter": "1970-01-01T00:00:01Z"}), "dcb"),
        (json!({"updatedAfter": "1970-01-01T00:00:00Z"}), "dac"),
        (json!({"updatedAfter": "1970-01-01T00:00:00Z", "search": "second"}), ""),
        (json!({"updatedAfter": "1970-01-01T00:00:00Z", "search": "f"}), "da"),
        // It lost its date while the list was read, and is no row of its end either.
        (json!({"updatedAfter": "1970-01-01T00:00:00Z", "cursor": cursor}), "ac"),
    ] {
        assert_eq!(ids(&store, &params), (expected.to_owned(), None), "{params}");
    }
}

#[test]
fn what_moves_ahead_of_the_reader_is_given_at_the_end() {
    let store = store();
    let (first, cursor) = ids(&store, &json!({"limit": 1}));
    let touch = |id: &str, at: i64| {
        let changed = store.change(id).commit(|before, _, _| {
            let mut session = before.expect("a session").clone();
            session.touch(at);
            Ok(Decision::put(session))
        });
        changed.expect("activity");
    };
    touch("c", 20_000);
    touch("b", 30_000);
    let (rest, none) = ids(&store, &json!({"limit": 10, "cursor": cursor}));
    assert_eq!((first.as_str(), rest.as_str(), none), ("d", "acb", None));
}

#[test]
fn a_search_without_a_letter_finds_nothing_whatever_changes() {
    let store = store();
    assert_eq!(ids(&store, &json!({"search": "!!"})), (String::new(), None));
    // As if another process had changed a session since the list's first page.
    let request = Request::read(Some(r#"{"search":"!!"}"#), 100, 0).expect("a request");
    let place = Place::Changed { revision: 0 };
    let cursor = Cursor { filter: request.filter.fingerprint(), started: u64::MAX, place, fields: request.fields };
    assert_eq!(ids(&store, &json!({"search": "!!", "cursor": cursor.encode()})), (String::new(), None));
}
