//! What a search finds, through whatever storage the engine has.

use acp_sessions_guest::storage::Memory;
use serde_json::json;

use crate::desk::{Desk, World};
use crate::scenes::CWD;

/// Ids in several scripts: their characters are of every length in UTF-8.
const IDS: [&str; 2] = ["é/ключ", "🦓会"];

fn found(desk: &mut Desk<'_>, words: &str) -> Vec<String> {
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"search": words}}}));
    let rows = answer["result"]["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<String> = rows.filter_map(|row| row["sessionId"].as_str()).map(str::to_owned).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn sessions_are_found_whatever_script_their_ids_are_in() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (nth, id) in IDS.into_iter().enumerate() {
        desk.new_session(id, CWD);
        // Several texts of each hold the word that all of them hold.
        desk.turn(id, &format!("Zebra and animal{nth}"), &["A zebra, again"]);
    }
    assert_eq!(found(&mut desk, "zebra"), IDS);
    for (nth, id) in IDS.into_iter().enumerate() {
        assert_eq!(found(&mut desk, &format!("animal{nth} zebra")), [id]);
    }
}
