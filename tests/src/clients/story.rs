//! The life of a session: made, prompted, listed, loaded by a second process, resumed and forked by a third, with another
//! mode and a turn that is cancelled, and deleted by a fourth. What every official client must see of it is written here.

use chrono::DateTime;
use serde_json::{Value, json};

use super::driver::Driver;
use super::run::Run;
use super::step::Step;
use super::{ENDLESS, Sdk};

const QUESTION: &str = "What is the answer?\nI have been wondering for a while.";
const TITLE: &str = "What is the answer?";
const FOLLOW_UP: &str = "And what was the question?";
const USER: &str = "user_message_chunk";
const AGENT: &str = "agent_message_chunk";

/// What is known of the session once it is made.
struct Made {
    id: String,
    answer: String,
    mode: Value,
    other_mode: String,
}

/// Plays the story. Every run is a process of its own.
pub(super) fn play(sdk: Sdk, driver: &mut Driver, cwd: &str) {
    let made = make(Run::start(sdk, driver, cwd), cwd);
    look_again(Run::start(sdk, driver, cwd), &made);
    let fork = branch_off(Run::start(sdk, driver, cwd), &made);
    put_away(Run::start(sdk, driver, cwd), &made, &fork);
}

/// A new session, its first turn, and its row in the list.
fn make(mut run: Run<'_>, cwd: &str) -> Made {
    let abilities = &run.hello()["agentCapabilities"];
    assert_eq!(abilities["loadSession"], true);
    // Not every SDK shows what stands in it.
    assert!(abilities["sessionCapabilities"]["list"].is_object());
    for ability in ["delete", "resume", "close", "fork"] {
        assert_eq!(abilities["sessionCapabilities"][ability], json!({}), "{ability}");
    }

    let new = run.new_session();
    let id = new["sessionId"].as_str().expect("an id").to_owned();
    assert_eq!(run.prompt(&id, QUESTION), "end_turn");
    let answer = run.said(&id, AGENT);
    assert_ne!(answer, "");

    let rows = run.list();
    let row = rows.iter().find(|row| row["sessionId"] == id).expect("the session is listed");
    assert_eq!(row["cwd"], cwd);
    assert_eq!(row["title"], TITLE);
    let updated = row["updatedAt"].as_str().map(DateTime::parse_from_rfc3339).expect("a time");
    assert!(updated.expect("a time of RFC 3339").timestamp() > 0, "{row}");
    run.end();

    let mode = new["modes"]["currentModeId"].clone();
    let modes = new["modes"]["availableModes"].as_array().expect("modes").iter();
    let other_mode = modes.map(|mode| &mode["id"]).find(|id| **id != mode).expect("a second mode");
    Made { id, answer, other_mode: other_mode.as_str().expect("an id").to_owned(), mode }
}

/// By the time that a load is answered, everything that was said has come.
fn look_again(mut run: Run<'_>, made: &Made) {
    let loaded = run.load(&made.id);
    assert_eq!(run.said(&made.id, USER), QUESTION);
    assert_eq!(run.said(&made.id, AGENT), made.answer);
    assert_eq!(loaded["modes"]["currentModeId"], made.mode);
    run.end();
}

/// A fork with another mode and a turn of its own, and a turn of the session that is cancelled.
fn branch_off(mut run: Run<'_>, made: &Made) -> String {
    run.resume(&made.id);
    assert_eq!(run.said(&made.id, AGENT), "", "resume replays nothing");

    let fork = run.fork(&made.id)["sessionId"].as_str().expect("an id").to_owned();
    assert_ne!(fork, made.id);
    run.result(&Step::SetMode { session_id: fork.clone(), mode_id: made.other_mode.clone() });
    assert_eq!(run.prompt(&fork, FOLLOW_UP), "end_turn");
    assert_eq!(run.said(&made.id, AGENT), "", "nor does anything else");
    assert!(run.lists(&fork) && run.lists(&made.id));

    run.start_prompt(&made.id, ENDLESS);
    run.hear(&made.id);
    run.result(&Step::Cancel { session_id: made.id.clone() });
    assert_eq!(run.finish(), "cancelled");
    run.end();
    fork
}

/// Both with what was said in them and with their modes; then they are gone.
fn put_away(mut run: Run<'_>, made: &Made, fork: &str) {
    let loaded = run.load(fork);
    assert_eq!(loaded["modes"]["currentModeId"], made.other_mode);
    assert_eq!(run.said(fork, USER), format!("{QUESTION}{FOLLOW_UP}"));
    let loaded = run.load(&made.id);
    assert_eq!(loaded["modes"]["currentModeId"], made.mode);
    assert_eq!(run.said(&made.id, USER), format!("{QUESTION}{ENDLESS}"));

    run.result(&Step::Close { session_id: fork.to_owned() });
    for gone in [fork, &made.id] {
        assert_eq!(run.result(&Step::Delete { session_id: gone.to_owned() }), json!({}));
    }
    assert!(!run.lists(fork) && !run.lists(&made.id));
    let (code, data) = run.load_error(&made.id);
    assert_eq!((code, &data["sessionId"]), (-32002, &json!(made.id)));
    run.end();
}
