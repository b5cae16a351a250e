//! Two processes create, prompt, rename and delete sessions while a third pages through the list.

mod journal;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use acp_sessions_tests::client::Client;
use acp_sessions_tests::scene::Scene;
use serde_json::{Value, json};

use journal::{Deed, Journal};

/// How many sessions each writer begins with.
const AT_FIRST: usize = 25;
/// How much each of them does.
const DEEDS: u64 = 150;
/// The rows in a page.
const LIMIT: usize = 3;

/// What all of them share.
#[derive(Debug, Default)]
struct World {
    journal: Journal,
    /// Sessions that are, or were until just now, in the store.
    known: Mutex<Vec<String>>,
    writing: AtomicUsize,
}

/// A process that changes things. It prompts and deletes its own sessions, and renames anybody's.
struct Writer<'w> {
    world: &'w World,
    client: Client,
    own: Vec<String>,
    cwd: String,
    random: u64,
}

impl Writer<'_> {
    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.random >> 33).expect("31 bits") % below
    }

    fn create(&mut self) {
        let id = self.client.new_session(&self.cwd);
        self.world.journal.note_created(&id);
        self.world.known.lock().expect("nobody failed").push(id.clone());
        self.own.push(id);
    }

    fn prompt(&mut self) {
        let at = self.random(self.own.len());
        let (id, client) = (&self.own[at], &mut self.client);
        self.world.journal.note(id, Deed::Changed, || client.prompt(id, "more of it"));
    }

    fn rename(&mut self, nth: u64) {
        let count = self.world.known.lock().expect("nobody failed").len();
        let at = self.random(count);
        let id = self.world.known.lock().expect("nobody failed")[at].clone();
        let params = json!({"sessionId": id, "title": format!("Title {nth}")});
        let renamed = self.world.journal.note(&id, Deed::Changed, || self.client.request("session/set_title", params));
        match renamed {
            Ok(answer) => assert_eq!(answer["title"], json!(format!("Title {nth}"))),
            Err(error) => {
                assert_eq!(error.code, -32002, "{error:?}");
                assert!(self.world.journal.is_to_go(&id), "{id} is not to be found, and nobody has deleted it");
            }
        }
    }

    fn delete(&mut self) {
        let at = self.random(self.own.len());
        let id = self.own.swap_remove(at);
        let params = json!({ "sessionId": id });
        self.world.journal.note(&id, Deed::Deleted, || self.client.result("session/delete", params));
    }

    fn work(&mut self) {
        for nth in 0..DEEDS {
            match self.random(10) {
                0..3 => self.create(),
                3..6 => self.prompt(),
                6..8 => self.rename(nth),
                _ if self.own.len() > AT_FIRST / 2 => self.delete(),
                _ => self.create(),
            }
        }
    }
}

/// Reads the whole list once and judges it. Returns how many rows came.
fn read_and_judge(client: &mut Client, journal: &Journal) -> usize {
    let begun = journal.now();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut pages: Vec<(u64, Vec<String>)> = Vec::new();
    let mut params = json!({"_meta": {"acp-sessions": {"limit": LIMIT}}});
    loop {
        let asked = journal.now();
        let page = client.result("session/list", params.clone());
        let rows = page["sessions"].as_array().expect("rows");
        let ids: Vec<String> = rows.iter().filter_map(|row| row["sessionId"].as_str().map(str::to_owned)).collect();
        assert!(ids.len() <= LIMIT);
        for id in &ids {
            *times.entry(id.clone()).or_default() += 1;
        }
        let cursor = &page["nextCursor"];
        assert!(cursor.is_null() || !ids.is_empty(), "an empty page with a cursor");
        pages.push((asked, ids));
        if *cursor == Value::Null {
            break;
        }
        params["cursor"] = cursor.clone();
    }
    let expected = journal.expectations(begun, journal.now());
    for id in &expected.once {
        assert_eq!(times.get(id).copied().unwrap_or(0), 1, "how often {id} came, to which nothing happened");
    }
    for id in &expected.at_least_once {
        assert!(times.contains_key(id), "{id} changed and never came");
    }
    for (asked, ids) in &pages {
        for id in ids {
            let gone = expected.gone_since.get(id);
            assert!(gone.is_none_or(|gone| gone > asked), "{id} came after its delete was answered");
        }
    }
    times.values().sum()
}

/// A writer at work; over when it is dropped, be it by a failure.
struct AtWork<'w>(&'w AtomicUsize);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn a_list_is_right_while_others_write() {
    let scene = Scene::new();
    let world = World::default();
    world.writing.store(2, Ordering::SeqCst);
    let (ready, others) = mpsc::channel();
    thread::scope(|threads| {
        let begin = [1, 2].map(|random| {
            let (begin, signal) = mpsc::channel::<()>();
            let (world, scene, ready) = (&world, &scene, ready.clone());
            threads.spawn(move || {
                let at_work = AtWork(&world.writing);
                let client = Client::ready(&scene.builtin(&[]));
                let mut writer = Writer { world, client, own: Vec::new(), cwd: scene.cwd(), random };
                for _ in 0..AT_FIRST {
                    writer.create();
                    writer.prompt();
                }
                ready.send(()).expect("the reader is there");
                drop(ready);
                // The end of the channel is the signal.
                signal.recv().unwrap_or_default();
                writer.work();
                drop(at_work);
            });
            begin
        });
        drop(ready);
        let mut reader = Client::ready(&scene.builtin(&[]));
        assert_eq!(others.iter().count(), 2, "a writer failed");
        drop(begin);
        let mut lists = 0;
        while world.writing.load(Ordering::SeqCst) > 0 {
            read_and_judge(&mut reader, &world.journal);
            lists += 1;
        }
        assert!(lists > 0);
        // Nothing happens any more: exactly what is left.
        let rows = read_and_judge(&mut reader, &world.journal);
        let end = world.journal.now();
        assert_eq!(rows, world.journal.expectations(end, end).once.len());
    });
}
