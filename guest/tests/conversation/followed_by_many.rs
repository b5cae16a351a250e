//! A client that follows as many lists as it may, while much changes in all of them.

use std::collections::{BTreeMap, BTreeSet};

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, update};
use crate::follower::{SOON, subscribe, window};
use crate::scenes::CWD;

const FOLLOWERS: usize = 128;
const SESSIONS: usize = 40;
/// What a client has room for, in bytes.
const ROOM: u32 = 1 << 20;
/// More than waits for a client at any time, in bytes.
const MUCH: usize = 12 << 20;

/// A window that follows, of whose lists all sessions have changed since; and its subscriptions.
fn followed<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Vec<String>) {
    let mut following = window(store, world);
    let subscriptions = (0..FOLLOWERS).map(|_| subscribe(&mut following, json!({"limit": 1})).0).collect();
    let mut other = window(store, world);
    for nth in 0..SESSIONS {
        let id = format!("s{nth}");
        other.new_session(&id, CWD);
        let info = json!({"sessionUpdate": "session_info_update", "title": id, "_meta": {"large": "x".repeat(30_000)}});
        other.agent(update(&id, info));
    }
    world.now.set(world.now.get() + SOON);
    following.engine.idle();
    (following, subscriptions)
}

/// What subscriptions were told: the sessions, and whether they are to be read again.
#[derive(Default)]
struct Told {
    rows: BTreeMap<String, BTreeSet<String>>,
    read_again: BTreeSet<String>,
    /// The most bytes that were told at once.
    most: usize,
}

impl Told {
    /// Pulls once; says whether there may be more.
    fn pull(&mut self, desk: &mut Desk<'_>) -> bool {
        let outputs = desk.engine.pull(ROOM);
        let (mut bytes, is_any) = (0, !outputs.is_empty());
        for output in outputs {
            let Output::ToClient(line) = output else { continue };
            bytes += line.len();
            let line: Value = serde_json::from_str(&line).unwrap();
            let of = line["params"]["subscriptionId"].as_str().unwrap_or_default().to_owned();
            match line["method"].as_str().unwrap_or_default() {
                "session/list/changes" => {
                    let ids = line["params"]["sessions"].as_array().unwrap().iter();
                    let ids = ids.map(|row| row["title"].as_str().unwrap_or_default().to_owned());
                    self.rows.entry(of).or_default().extend(ids);
                }
                "session/list/resync" => drop(self.read_again.insert(of)),
                _ => {}
            }
        }
        self.most = self.most.max(bytes);
        is_any || desk.engine.has_more()
    }

    fn has_all(&self, subscription: &str) -> bool {
        self.rows.get(subscription).is_some_and(|rows| rows.len() == SESSIONS)
    }
}

#[test]
fn all_are_told_all_of_it_and_little_at_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, subscriptions) = followed(&store, &world);
    let mut told = Told::default();
    while told.pull(&mut desk) {}
    assert!(subscriptions.iter().all(|subscription| told.has_all(subscription)));
    assert!(told.read_again.is_empty());
    assert!(told.most < MUCH, "{} bytes at once", told.most);
}

#[test]
fn who_is_given_a_newer_page_meanwhile_is_told_no_older_row() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, subscriptions) = followed(&store, &world);
    let mut told = Told::default();
    assert!(told.pull(&mut desk));
    let before: Vec<bool> = subscriptions.iter().map(|subscription| told.has_all(subscription)).collect();
    assert!(before.contains(&false), "some are told later");
    let list = json!({"jsonrpc": "2.0", "id": "list", "method": "session/list", "params": {"limit": 1}});
    desk.engine.receive([Arrival { peer: Peer::Client, content: Content::Line(list.to_string()) }]);
    while told.pull(&mut desk) {}
    for subscription in &subscriptions {
        let is_read_again = told.read_again.contains(subscription);
        assert!(told.has_all(subscription) || is_read_again, "{subscription}");
    }
    assert!(!told.read_again.is_empty());
    // And it goes on as before.
    world.now.set(world.now.get() + SOON);
    let mut other = window(&store, &world);
    other.new_session("later", CWD);
    let out = desk.wait(SOON);
    let told = out.client.iter().filter(|line| line["method"] == "session/list/changes");
    assert_eq!(told.count(), FOLLOWERS);
}
