//! Lists that are followed by several programs while others change what is in them. In the end each is what is listed, and
//! no row came that was older than one that had come before.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::chance::Chance;
use super::{Report, command, panicked};
use crate::client::Client;
use crate::followed::{Followed, NUMBERED};
use crate::scene::Scene;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What chance begins with.
    pub seed: u64,
    /// How many programs change things.
    pub writers: usize,
    /// How many follow lists.
    pub followers: usize,
    /// How much each of the former does.
    pub deeds: usize,
}

/// How long somebody who follows waits for a line before he looks whether the others are still at work.
const MOMENT: Duration = Duration::from_millis(20);
/// One time of so many he ends his subscription and begins another.
const BEGIN_ANEW: usize = 60;

/// Runs it.
pub fn run(options: Options) -> Report {
    let mut chance = Chance::new(options.seed);
    let began = Instant::now();
    let scene = Scene::new();
    let writing = AtomicUsize::new(options.writers);
    let seeds: Vec<u64> = (0..options.writers + options.followers).map(|_| chance.number()).collect();
    let (of_writers, of_followers) = seeds.split_at(options.writers);
    let mut report = Report::default();
    let (mut done, mut heard) = (Vec::new(), Heard::default());
    thread::scope(|scope| {
        let (scene, writing) = (&scene, &writing);
        let followers: Vec<_> = of_followers
            .iter()
            .enumerate()
            .map(|(nth, seed)| scope.spawn(move || follow(scene, writing, scope_of(scene, nth), Chance::new(*seed))))
            .collect();
        let writers: Vec<_> = of_writers
            .iter()
            .enumerate()
            .map(|(nth, seed)| {
                scope.spawn(move || {
                    let at_work = AtWork(writing);
                    let done = Writer::new(scene, nth, Chance::new(*seed)).work(options.deeds);
                    drop(at_work);
                    done
                })
            })
            .collect();
        for writer in writers {
            match writer.join() {
                Ok(deeds) => done.extend(deeds),
                Err(panic) => report.findings.push(format!("a writer: {}", panicked(panic.as_ref()))),
            }
        }
        for follower in followers {
            match follower.join() {
                Ok(of_one) => heard.add(of_one),
                Err(panic) => report.findings.push(format!("a follower: {}", panicked(panic.as_ref()))),
            }
        }
    });
    let Options { seed, writers, followers, .. } = options;
    let took = began.elapsed();
    report.lines.push(format!("seed {seed}, {writers} writers, {followers} followers, {took:.0?} in all"));
    let count = |deed: Deed| format!("{deed:?} {}", done.iter().filter(|other| **other == deed).count());
    report.lines.push(DEEDS.map(count).join(", "));
    let Heard { lines, resyncs, begun, rows, findings } = heard;
    report.lines.push(format!(
        "{lines} lines of changes, {resyncs} times to be read anew, {begun} subscriptions, {rows} rows in the end"
    ));
    report.findings.extend(findings);
    report
}

/// A writer at work; over when it is dropped, be it by a failure.
struct AtWork<'w>(&'w AtomicUsize);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a follower was told.
#[derive(Debug, Default)]
struct Heard {
    lines: usize,
    resyncs: usize,
    begun: usize,
    rows: usize,
    findings: Vec<String>,
}

impl Heard {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.resyncs += other.resyncs;
        self.begun += other.begun;
        self.rows += other.rows;
        self.findings.extend(other.findings);
    }

    /// What a subscription has told, which is over.
    fn note(&mut self, list: &mut Followed) {
        let told = list.take_told();
        self.lines += told.lines;
        self.resyncs += told.resyncs;
        self.begun += 1;
        self.findings.append(&mut list.findings);
    }
}

/// The two directories that a writer has its sessions in, in turn.
fn places(scene: &Scene, writer: usize) -> [String; 2] {
    ["old", "new"].map(|name| path(&scene.file(&format!("{name}-{writer}"))))
}

fn path(path: &Path) -> String {
    path.to_str().expect("a path that is text").to_owned()
}

/// The list that this one of the followers follows.
fn scope_of(scene: &Scene, nth: usize) -> Value {
    match nth % 3 {
        0 => json!({"archived": "all", "limit": 7}),
        1 => json!({"archived": "all", "cwd": places(scene, 0)[0]}),
        _ => json!({"archived": "all"}),
    }
}

/// Follows a list until nobody is at work any more, and then until it is what is listed.
fn follow(scene: &Scene, writing: &AtomicUsize, params: Value, mut chance: Chance) -> Heard {
    let mut client = Client::ready(&scene.builtin(&[]));
    let mut heard = Heard::default();
    let mut list = Followed::begin(&mut client, params.clone());
    while writing.load(Ordering::SeqCst) > 0 {
        list.listen(&mut client, MOMENT);
        if chance.one_in(BEGIN_ANEW) {
            heard.note(&mut list);
            list.end(&mut client);
            list = Followed::begin(&mut client, params.clone());
        }
    }
    let differences = list.settled(&mut client);
    heard.findings.extend(differences.into_iter().map(|difference| format!("{params}: {difference}")));
    heard.rows = list.len();
    heard.note(&mut list);
    heard
}

/// What is done to sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Create,
    Prompt,
    Rename,
    Archive,
    Unarchive,
    Fork,
    Delete,
    Move,
}

const DEEDS: [Deed; 8] =
    [Deed::Create, Deed::Prompt, Deed::Rename, Deed::Archive, Deed::Unarchive, Deed::Fork, Deed::Delete, Deed::Move];

/// A program that changes sessions, and none but its own: what comes later is known by the numbers of its titles.
struct Writer<'s> {
    scene: &'s Scene,
    client: Client,
    chance: Chance,
    /// Where its sessions are, and where they go when they are moved.
    places: [String; 2],
    own: Vec<Own>,
    titles: u64,
}

/// A session and what must be done before it can be prompted.
struct Own {
    id: String,
    is_open: bool,
    is_archived: bool,
}

impl Own {
    fn open(id: String) -> Self {
        Self { id, is_open: true, is_archived: false }
    }
}

impl<'s> Writer<'s> {
    fn new(scene: &'s Scene, nth: usize, chance: Chance) -> Self {
        let client = Client::ready(&scene.builtin(&[]));
        Self { scene, client, chance, places: places(scene, nth), own: Vec::new(), titles: 0 }
    }

    /// Does so much, and ends. Returns what it was.
    fn work(mut self, deeds: usize) -> Vec<Deed> {
        let mut done = Vec::new();
        while done.len() < deeds {
            done.extend(self.act());
        }
        assert!(self.client.close().success());
        done
    }

    /// Does something, if it can be done.
    fn act(&mut self) -> Option<Deed> {
        let deed = match self.chance.below(40) {
            _ if self.own.is_empty() => Deed::Create,
            0..8 => Deed::Create,
            8..18 => Deed::Prompt,
            18..25 => Deed::Rename,
            25..28 => Deed::Archive,
            28..30 => Deed::Unarchive,
            30..34 => Deed::Fork,
            34..39 => Deed::Delete,
            _ => Deed::Move,
        };
        let at = self.chance.below(self.own.len().max(1));
        match deed {
            Deed::Create => {
                let id = self.client.new_session(&self.places[0]);
                self.own.push(Own::open(id));
            }
            Deed::Prompt => self.prompt(at)?,
            Deed::Rename => {
                self.titles += 1;
                let params = json!({"sessionId": self.own[at].id, "title": format!("{NUMBERED}{}", self.titles)});
                self.client.result("session/set_title", params);
            }
            Deed::Archive => {
                self.client.result("session/archive", json!({"sessionId": self.own[at].id}));
                (self.own[at].is_archived, self.own[at].is_open) = (true, false);
            }
            Deed::Unarchive => {
                let own = self.own.iter_mut().find(|own| own.is_archived)?;
                self.client.result("session/unarchive", json!({"sessionId": own.id}));
                own.is_archived = false;
            }
            Deed::Fork => {
                let place = self.place(&self.own[at].id);
                let fork = self.client.result("session/fork", place)["sessionId"].take();
                self.own.push(Own::open(fork.as_str().expect("an id").to_owned()));
            }
            Deed::Delete => {
                let own = self.own.swap_remove(at);
                self.client.result("session/delete", json!({"sessionId": own.id}));
            }
            Deed::Move => {
                let [from, to] = &self.places;
                command::run(self.scene, &["move", from, to]).expect("it is done");
                self.places.swap(0, 1);
            }
        }
        Some(deed)
    }

    fn prompt(&mut self, at: usize) -> Option<()> {
        if self.own[at].is_archived {
            return None;
        }
        let id = self.own[at].id.clone();
        if !self.own[at].is_open {
            self.client.load(&id, &self.places[0]);
            self.own[at].is_open = true;
        }
        let word = self.chance.word();
        self.client.prompt(&id, &word);
        Some(())
    }

    fn place(&self, session: &str) -> Value {
        json!({"sessionId": session, "cwd": self.places[0], "mcpServers": []})
    }
}
