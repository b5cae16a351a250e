//! What a search finds, through whatever storage the engine has.

use acp_sessions_corpus::Call;
use acp_sessions_guest::index::Owner;
use acp_sessions_guest::storage::{Bounds, Memory, Storage};
use serde_json::json;

use crate::desk::{Desk, World};
use crate::scenes::{CWD, TOLD, ask_load, leave, lines, oblige, said, set, told};

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

#[test]
fn a_phrase_that_is_still_being_written_finds_what_it_may_become() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (id, words) in [("s1", "The login page is slow"), ("s2", "A page of the login"), ("s3", "Each login pays off")]
    {
        desk.new_session(id, CWD);
        desk.turn(id, words, &["I see"]);
    }
    for (words, expected) in [
        ("\"login p", vec!["s1", "s3"]),
        ("\"login page", vec!["s1"]),
        ("\"login pa ", vec![]),
        ("\"login pa\"", vec![]),
        ("\"login\" \"is sl", vec!["s1"]),
        ("\"", vec![]),
    ] {
        assert_eq!(found(&mut desk, words), expected, "{words}");
    }
}

#[test]
fn korean_and_japanese_words_are_found_in_either_unicode_form() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    // Each composed, as it is typed, and in pieces, as it stands in the names of files on macOS.
    for (nth, [composed, pieces]) in [
        ["한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"],
        ["バグ", "\u{30cf}\u{3099}\u{30af}\u{3099}"],
        ["ガイド", "\u{30ab}\u{3099}\u{30a4}\u{30c8}\u{3099}"],
    ]
    .into_iter()
    .enumerate()
    {
        let ids = ["typed", "named"].map(|kind| format!("{nth} {kind}"));
        for (id, word) in ids.iter().zip([composed, pieces]) {
            desk.new_session(id, CWD);
            desk.turn(id, "Look", &[&format!("In {word} it is")]);
        }
        for word in [composed, pieces] {
            for words in [word.to_owned(), format!("\"in {word}\"")] {
                let (mut found, mut ids) = (found(&mut desk, &words), ids.to_vec());
                found.sort_unstable();
                ids.sort_unstable();
                assert_eq!(found, ids, "{words:?}");
            }
        }
    }
}

/// Of what an agent tells that is here already nobody needs the words twice.
#[test]
fn of_what_an_agent_replays_the_words_are_indexed_that_are_new() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let agent = json!({"loadSession": true});
    let id = told(&store, &world, &agent);
    let tells = [TOLD[0], ("A question between", "Its answer"), TOLD[1], ("The last question", "The last answer")];
    let mut desk = set(&store, &world, &agent, &[]);
    let out = ask_load(&mut desk, "load", &id);
    let out = oblige(&mut desk, out, &tells, "never");
    assert_eq!(said(&out.client), lines(&[&tells]));
    for (user, agent) in tells {
        assert_eq!(found(&mut desk, &format!("\"{user}\"")), [id.as_str()], "{user}");
        assert_eq!(found(&mut desk, &format!("\"{agent}\"")), [id.as_str()], "{agent}");
    }
    leave(desk);
    let all = Bounds { limit: 100, max_bytes: u32::MAX };
    let logs = store.log_names(None, 10).unwrap();
    let replay = logs.iter().find(|log| log.contains('~')).unwrap();
    let indexed = store.read_texts(&Owner::Log(replay).name(), 0, all).unwrap().texts;
    assert_eq!(indexed.iter().map(|text| text.part).collect::<Vec<_>>(), [3, 4, 7, 8]);
    let check = Call::CheckStore { mending: "nothing".to_owned(), cursor: None, limit: 256 };
    assert_eq!(world.recorder.typed(&store, world.time(), check)["ok"]["findings"], json!([]));
}
