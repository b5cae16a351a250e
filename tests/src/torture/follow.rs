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
/// What is refused with these words says nothing against anybody: many are at one store.
const TOO_BUSY: &str = "another process kept it locked for too long";
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
    let (mut done, mut refused, mut heard) = (Vec::new(), 0, Heard::default());
    thread::scope(|scope| {
        let (scene, writing) = (&scene, &writing);
        let followers: Vec<_> = of_followers
            .iter()
            .enumerate()
            .map(|(nth, seed)| scope.spawn(move || follow(scene, writing, &scope_of(scene, nth), Chance::new(*seed))))
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
                Ok((deeds, times)) => {
                    done.extend(deeds);
                    refused += times;
                }
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
    report.lines.push(format!("{}; {refused} refused", DEEDS.map(count).join(", ")));
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
fn follow(scene: &Scene, writing: &AtomicUsize, params: &Value, mut chance: Chance) -> Heard {
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
    refused: usize,
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
        Self { scene, client, chance, places: places(scene, nth), own: Vec::new(), titles: 0, refused: 0 }
    }

    /// Does so much, and ends. Returns what it was, and how often it was refused.
    fn work(mut self, deeds: usize) -> (Vec<Deed>, usize) {
        let mut done = Vec::new();
        while done.len() < deeds {
            done.extend(self.act());
        }
        assert!(self.client.close().success());
        (done, self.refused)
    }

    /// Does something, if it can be done. What was refused may have been done or not: nobody has it in hand any more.
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
        match deed {
            Deed::Create => {
                let made = self.ask("session/new", json!({"cwd": self.places[0], "mcpServers": []}))?;
                self.own.push(Own::open(made));
            }
            Deed::Move => {
                let [from, to] = self.places.clone();
                // Where others were at the store for too long, some of it may have been done.
                while let Err(complaint) = command::run(self.scene, &["move", &from, &to]) {
                    assert!(complaint.contains(TOO_BUSY), "{complaint}");
                }
                self.places.swap(0, 1);
            }
            _ => {
                let at = self.chance.below(self.own.len());
                let own = self.own.swap_remove(at);
                let kept = self.change(deed, own)?;
                self.own.extend(kept);
            }
        }
        Some(deed)
    }

    /// Does something to a session; returns what there is of it then.
    fn change(&mut self, deed: Deed, mut own: Own) -> Option<Vec<Own>> {
        let this = json!({"sessionId": own.id});
        match deed {
            Deed::Prompt if !own.is_archived => {
                if !own.is_open {
                    self.ask("session/load", self.place(&own.id))?;
                    own.is_open = true;
                }
                let prompt = json!([{"type": "text", "text": self.chance.word()}]);
                self.ask("session/prompt", json!({"sessionId": own.id, "prompt": prompt}))?;
            }
            Deed::Rename => {
                self.titles += 1;
                let title = format!("{NUMBERED}{}", self.titles);
                self.ask("session/set_title", json!({"sessionId": own.id, "title": title}))?;
            }
            Deed::Archive => {
                self.ask("session/archive", this)?;
                (own.is_archived, own.is_open) = (true, false);
            }
            Deed::Unarchive => {
                self.ask("session/unarchive", this)?;
                own.is_archived = false;
            }
            Deed::Fork => {
                let fork = self.ask("session/fork", self.place(&own.id))?;
                return Some(vec![own, Own::open(fork)]);
            }
            Deed::Delete => {
                self.ask("session/delete", this)?;
                return Some(Vec::new());
            }
            Deed::Create | Deed::Move | Deed::Prompt => {}
        }
        Some(vec![own])
    }

    /// Asks for something and waits for its answer; returns the id of the session that was made, if one was. None where
    /// others were at the store for too long.
    fn ask(&mut self, method: &str, params: Value) -> Option<String> {
        match self.client.request(method, params) {
            Ok(result) => Some(result["sessionId"].as_str().unwrap_or_default().to_owned()),
            Err(error) => {
                assert!(error.names(TOO_BUSY), "{method}: {error:?}");
                self.refused += 1;
                None
            }
        }
    }

    fn place(&self, session: &str) -> Value {
        json!({"sessionId": session, "cwd": self.places[0], "mcpServers": []})
    }
}
