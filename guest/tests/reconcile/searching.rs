//! A search finds exactly what the conversation shows, and what was taken out of it, whatever else its logs hold; and says
//! which of them it is.

use std::collections::BTreeSet;

use acp_sessions_guest::search::find::{self, Hit};
use acp_sessions_guest::search::lookup::{Few, Lookup};
use acp_sessions_guest::search::query::Query;
use acp_sessions_guest::sessions::fork::{self, Fork};
use acp_sessions_guest::storage::{Bounds, Storage};
use acp_sessions_guest::store::Session;
use acp_sessions_guest::transcript::text;
use proptest::prelude::*;

use crate::adopting::Counting;
use crate::scene::{Ended, ID, Said, Scene};

fn turn(number: usize) -> Said {
    Said { user: format!("ask u{number}x"), agent: format!("common a{number}x answer"), ended: Ended::Well }
}

/// The entries that a session's transcript is made of, each with what is said in it.
fn shown(scene: &Scene, session: &Session) -> Vec<((String, u32), String)> {
    let parts = session.segments.iter().map(|segment| (segment.log.as_str(), segment.from, segment.until));
    entries(scene, parts.chain([(session.id.as_str(), session.tail, u32::MAX)]))
}

/// The same of what was taken out of it.
fn set_aside(scene: &Scene, session: &Session) -> Vec<((String, u32), String)> {
    entries(scene, session.aside.iter().map(|segment| (segment.log.as_str(), segment.from, segment.until)))
}

fn entries<'a>(scene: &Scene, parts: impl Iterator<Item = (&'a str, u32, u32)>) -> Vec<((String, u32), String)> {
    let bounds = Bounds { limit: u32::MAX, max_bytes: u32::MAX };
    let entries = parts.flat_map(|(log, from, until)| {
        let page = scene.store.storage().read_log(log, from, bounds).unwrap();
        let entries = page.entries.into_iter().filter(move |entry| entry.seq <= until);
        entries.map(|entry| ((log.to_owned(), entry.seq), text::of_entry(&entry.value))).collect::<Vec<_>>()
    });
    entries.collect()
}

/// Where a word was found.
struct Found {
    /// What the row says.
    place: &'static str,
    entry: (String, u32),
    snippet: String,
}

/// Where a word is found in each of these sessions.
fn found(scene: &Scene, word: &str, sessions: &[Session]) -> Vec<Option<Found>> {
    let query = Query::parse(word).unwrap().unwrap();
    let mut lookup = Lookup::new(&scene.store, &query.terms);
    let few = lookup.few(0..query.terms.len(), 2000).unwrap();
    if let Few::Sessions(ids) = few {
        for session in sessions {
            let mut all = shown(scene, session).into_iter().chain(set_aside(scene, session));
            let shows = all.any(|(_, text)| text.contains(word.trim_matches('"')));
            assert!(!shows || ids.position(&session.id).is_some(), "{word} may be in {}", session.id);
        }
    }
    let tried: Vec<find::Tried<'_>> = sessions.iter().map(find::Tried::Session).collect();
    let hits = find::hits(&scene.store, &query, &tried, None).unwrap();
    assert_eq!(
        find::hits(&scene.store, &query, &tried, Some(&lookup)).unwrap(),
        hits,
        "what is known is what is found"
    );
    let described = hits.into_iter().zip(sessions).map(|(hit, session)| match hit? {
        Hit::Heading => panic!("there are no titles"),
        Hit::Entry { log, seq } => {
            let hit = Hit::Entry { log: log.clone(), seq };
            let found = find::describe(&scene.store, &query, session, &hit).unwrap();
            Some(Found { place: found.place, entry: (log, seq), snippet: found.snippet })
        }
    });
    described.collect()
}

fn fork(scene: &Scene, environment: &Counting) -> Session {
    let (agent, agent_id, heard, directories) = (None, None, 0, Vec::new());
    let (wanted_id, cwd) = (String::new(), "/work".to_owned());
    let fork = Fork {
        parent: ID,
        wanted_id,
        cwd,
        agent,
        agent_id,
        heard,
        lineage: Vec::new(),
        asked_at: None,
        told: None,
        open: Vec::new(),
        directories,
        now: 1,
    };
    fork::fork(&scene.store, environment, &fork).unwrap().unwrap()
}

fn sessions(scene: &Scene, forks: &[Session]) -> Vec<Session> {
    let forks = forks.iter().map(|fork| scene.store.session(&fork.id).unwrap().unwrap());
    [scene.session()].into_iter().chain(forks).collect()
}

#[test]
fn what_was_taken_back_is_found_as_such_and_what_came_in_its_place_is_found() {
    let mut scene = Scene::new();
    (0..3).map(turn).for_each(|turn| scene.say(&turn));
    scene.tell("agent", usize::MAX);
    scene.load("agent", &[turn(7), turn(2)], true);
    for (word, entry) in [
        ("u9x", None),
        ("u0x", Some(("setAside", ID, 1))),
        ("a1", Some(("setAside", ID, 5))),
        ("a7x", Some(("conversation", "staging-1", 2))),
        ("u7x", Some(("conversation", "staging-1", 1))),
        ("a2x", Some(("conversation", ID, 8))),
        ("\"common a2x\"", Some(("conversation", ID, 8))),
        ("\"common a1x\"", Some(("setAside", ID, 5))),
        // The conversation comes first, and of that the own log, from where it counts.
        ("common", Some(("conversation", ID, 8))),
        ("comm", Some(("conversation", ID, 8))),
    ] {
        let found = found(&scene, word, &[scene.session()]);
        let found = found.iter().flatten();
        let places: Vec<_> = found.clone().map(|found| (found.place, found.entry.0.as_str(), found.entry.1)).collect();
        assert_eq!(places, entry.into_iter().collect::<Vec<_>>(), "{word}");
        for Found { snippet, .. } in found {
            assert!(snippet.contains(word.trim_matches('"')), "{word}: {snippet}");
        }
    }
}

#[test]
fn a_part_far_behind_in_a_long_log_is_found() {
    let mut scene = Scene::new();
    (0..700).map(turn).for_each(|turn| scene.say(&turn));
    scene.tell("agent", 690);
    scene.load("agent", &[turn(1000)], true);
    let first = found(&scene, "common", &[scene.session()]);
    assert_eq!(first[0].as_ref().map(|found| (found.entry.0.as_str(), found.entry.1)), Some((ID, 690 * 3 + 2)));
    let (conversation, aside) = (Some("conversation"), Some("setAside"));
    for (word, place) in [("common", conversation), ("a699x", conversation), ("a5x", aside), ("a5000x", None)] {
        let found = found(&scene, word, &[scene.session()]);
        assert_eq!(found[0].as_ref().map(|found| found.place), place, "{word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_is_shown_or_set_aside(
        said in 0_usize..5,
        loads in proptest::collection::vec(
            (proptest::collection::vec(0_usize..9, 0..6), any::<bool>(), any::<bool>(), any::<bool>()), 1..4,
        ),
    ) {
        let mut scene = Scene::new();
        let environment = Counting::default();
        let mut forks = Vec::new();
        (0..said).map(turn).for_each(|turn| scene.say(&turn));
        for (at, (replay, moved_on, forked, goes_on)) in loads.into_iter().enumerate() {
            scene.tell("agent", usize::MAX);
            scene.load("agent", &replay.into_iter().map(turn).collect::<Vec<_>>(), moved_on);
            if forked {
                forks.push(fork(&scene, &environment));
            }
            if goes_on {
                scene.say(&turn(20 + at));
            }
        }
        let sessions = sessions(&scene, &forks);
        let words = (0..9).chain(20..23).flat_map(|number| [format!("u{number}x"), format!("\"common a{number}x\"")]);
        for word in words.chain(["common".to_owned(), "ans".to_owned()]) {
            let bare = word.trim_matches('"');
            for (found, session) in found(&scene, &word, &sessions).into_iter().zip(&sessions) {
                let holding = |entries: Vec<((String, u32), String)>| -> BTreeSet<_> {
                    entries.into_iter().filter(|(_, text)| text.contains(bare)).map(|(place, _)| place).collect()
                };
                let (shown, aside) = (holding(shown(&scene, session)), holding(set_aside(&scene, session)));
                let is_there = !(shown.is_empty() && aside.is_empty());
                prop_assert_eq!(found.is_some(), is_there, "{} in {}", word, session.to_text());
                if let Some(found) = found {
                    let expected = if shown.is_empty() { ("setAside", &aside) } else { ("conversation", &shown) };
                    prop_assert_eq!(found.place, expected.0);
                    prop_assert!(expected.1.contains(&found.entry));
                    prop_assert!(found.snippet.contains(bare));
                }
            }
        }
    }
}
