//! Deletes beside busy processes: of what was deleted no file of the store holds a word in the end, and what was not is found.
//!
//! Each process creates sessions that say words nobody else says, in prompts, messages, tools' results, titles and metadata;
//! works on, searches and deletes those of all; and is killed at times, mostly when it has just deleted something. Somebody
//! else reads the store and keeps a snapshot for a while, and somebody asks all the time how long it takes to be allowed to
//! write.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use super::Report;
use super::chance::Chance;
use crate::client::Client;
use crate::scene::Scene;

/// How many sessions are left, at least.
const LIVING: usize = 30;
/// How many letters at a word's end are looked for: words that begin alike share their beginnings in an index.
const TAIL: usize = 9;
/// How long the last of it may take.
const PATIENCE: Duration = Duration::from_mins(10);

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What chance begins with.
    pub seed: u64,
    /// How many sessions are deleted.
    pub deletes: usize,
    /// How many processes there are.
    pub processes: usize,
    /// One time of so many a process is killed after it has deleted something; 0: never.
    pub kill_one_in: usize,
}

/// A session and the words that were said in it.
struct Session {
    id: String,
    words: Vec<String>,
}

/// What all processes know.
#[derive(Default)]
struct World {
    living: Vec<Session>,
    dead: Vec<String>,
}

/// What they do, counted and measured.
#[derive(Default)]
struct Tally {
    world: Mutex<World>,
    deletes: AtomicUsize,
    created: AtomicUsize,
    prompts: AtomicUsize,
    searches: AtomicUsize,
    kills: AtomicUsize,
    snapshots: AtomicUsize,
    is_over: AtomicBool,
    deleted_in: Mutex<Vec<Duration>>,
    waited: Mutex<Vec<Duration>>,
    findings: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it in hand")
}

/// Runs the trial.
pub fn run(options: Options) -> Report {
    let scene = Scene::new();
    let tally = Tally::default();
    // The first makes the store.
    start(&scene).close();
    let begun = Instant::now();
    let mut clean_after = None;
    let mut left_at_first = 0;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.processes)
            .map(|number| {
                let (scene, tally) = (&scene, &tally);
                scope.spawn(move || work(scene, tally, options, number))
            })
            .collect();
        let others =
            [scope.spawn(|| read(&scene.store(), &tally)), scope.spawn(|| ask_to_write(&scene.store(), &tally))];
        // Those that have done their part stay, and do what there is to do when nobody asks for anything.
        let idle: Vec<Client> = workers.into_iter().map(|worker| worker.join().expect("it goes well")).collect();
        tally.is_over.store(true, Ordering::SeqCst);
        let ended = Instant::now();
        left_at_first = left(&scene, &lock(&tally.world).dead).len();
        while ended.elapsed() < PATIENCE && clean_after.is_none() {
            clean_after = is_clean(&scene.store()).then(|| ended.elapsed());
            thread::sleep(Duration::from_millis(20));
        }
        for other in others {
            other.join().expect("it goes well");
        }
        let mut findings = lock(&tally.findings);
        if clean_after.is_none() {
            findings.push(format!("{PATIENCE:?} after the last delete not all has been removed"));
        }
        let world = lock(&tally.world);
        findings
            .extend(left(&scene, &world.dead).into_iter().map(|word| format!("a deleted word is in a file: {word}")));
        drop(idle);
        findings.extend(missing(&scene, &world.living));
    });
    report(options, &tally, begun.elapsed(), left_at_first, clean_after)
}

fn report(
    options: Options,
    tally: &Tally,
    took: Duration,
    left_at_first: usize,
    clean_after: Option<Duration>,
) -> Report {
    let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
    let spread = |times: &Mutex<Vec<Duration>>| {
        let mut times = lock(times).clone();
        times.sort_unstable();
        let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 1000).copied().unwrap_or_default();
        format!(
            "half within {:.1?}, all but one of a thousand within {:.1?}, all within {:.1?}",
            at(500),
            at(999),
            at(1000)
        )
    };
    let world = lock(&tally.world);
    let lines = vec![
        format!("seed {}, {} processes, {took:.0?} in all", options.seed, options.processes),
        format!(
            "{} deletes, {} sessions created, {} prompts, {} searches, {} kills, {} snapshots held",
            count(&tally.deletes),
            count(&tally.created),
            count(&tally.prompts),
            count(&tally.searches),
            count(&tally.kills),
            count(&tally.snapshots)
        ),
        format!("{} deleted words looked for, {} of living sessions", world.dead.len(), words(&world.living).count()),
        format!("right after the last delete {left_at_first} of them were still in a file"),
        format!("nothing was left to do {:.1?} after the last delete", clean_after.unwrap_or_default()),
        format!("deletes were answered: {}", spread(&tally.deleted_in)),
        format!("who asked to write waited: {}", spread(&tally.waited)),
    ];
    Report { lines, findings: std::mem::take(&mut *lock(&tally.findings)) }
}

fn words(sessions: &[Session]) -> impl Iterator<Item = &String> {
    sessions.iter().flat_map(|session| &session.words)
}

/// A process that shows all sessions of the store.
fn start(scene: &Scene) -> Client {
    let mut client = Client::start(&scene.proxy(&["--list", "all"], &[])).unchecked();
    client.initialize();
    client
}

/// One process after another, until enough has been deleted; returns the last.
fn work(scene: &Scene, tally: &Tally, options: Options, number: usize) -> Client {
    let mut chance = Chance::new(options.seed.wrapping_add(number as u64));
    let mut client = start(scene);
    while tally.deletes.load(Ordering::SeqCst) < options.deletes {
        let others = lock(&tally.world).living.len();
        match chance.below(10) {
            _ if others < LIVING => create(&mut client, scene, tally, &mut chance),
            0..3 => create(&mut client, scene, tally, &mut chance),
            3 => go_on(&mut client, scene, tally, &mut chance),
            4 => search(&mut client, tally, &mut chance),
            _ => {
                delete(&mut client, tally, &mut chance);
                if options.kill_one_in > 0 && chance.one_in(options.kill_one_in) {
                    tally.kills.fetch_add(1, Ordering::SeqCst);
                    std::mem::replace(&mut client, start(scene)).kill();
                }
            }
        }
    }
    client
}

/// Says words that nobody else says.
fn say(client: &mut Client, tally: &Tally, session: &mut Session, chance: &mut Chance) {
    let words: Vec<String> = (0..5).map(|_| chance.word()).collect();
    // What comes before the last block is in the prompt alone.
    let (alone, everywhere) = (&words[0], words[1..].join(" "));
    let prompt = json!([{"type": "text", "text": format!("Remember {alone}, and say no more of it.")},
        {"type": "text", "text": format!("everywhere {everywhere}")}]);
    session.words.extend(words);
    let answer = client.request("session/prompt", json!({"sessionId": session.id, "prompt": prompt}));
    answer.expect("the turn ends well");
    if chance.one_in(15) {
        // Many entries, which are removed little by little.
        client.prompt(&session.id, "many 700");
    }
    client.take_updates(&session.id);
    tally.prompts.fetch_add(1, Ordering::SeqCst);
}

fn create(client: &mut Client, scene: &Scene, tally: &Tally, chance: &mut Chance) {
    let mut session = Session { id: client.new_session(&scene.cwd()), words: Vec::new() };
    say(client, tally, &mut session, chance);
    tally.created.fetch_add(1, Ordering::SeqCst);
    lock(&tally.world).living.push(session);
}

/// One of the sessions, which nobody else is at until it is given back.
fn take(tally: &Tally, chance: &mut Chance) -> Option<Session> {
    let living = &mut lock(&tally.world).living;
    (!living.is_empty()).then(|| chance.below(living.len())).map(|at| living.swap_remove(at))
}

fn go_on(client: &mut Client, scene: &Scene, tally: &Tally, chance: &mut Chance) {
    let Some(mut session) = take(tally, chance) else { return };
    client.load(&session.id, &scene.cwd());
    say(client, tally, &mut session, chance);
    lock(&tally.world).living.push(session);
}

fn delete(client: &mut Client, tally: &Tally, chance: &mut Chance) {
    let Some(session) = take(tally, chance) else { return };
    let begun = Instant::now();
    let answer = client.request("session/delete", json!({"sessionId": session.id}));
    lock(&tally.deleted_in).push(begun.elapsed());
    answer.expect("it is deleted");
    if !found(client, &session.words[0]).is_empty() {
        lock(&tally.findings).push(format!("a deleted session is found: {}", session.id));
    }
    lock(&tally.world).dead.extend(session.words);
    tally.deletes.fetch_add(1, Ordering::SeqCst);
}

fn search(client: &mut Client, tally: &Tally, chance: &mut Chance) {
    let Some(session) = take(tally, chance) else { return };
    let word = &session.words[chance.below(session.words.len())];
    let found = found(client, word);
    if found != [session.id.as_str()] {
        lock(&tally.findings).push(format!("of a living session {word} is found in {found:?}"));
    }
    tally.searches.fetch_add(1, Ordering::SeqCst);
    lock(&tally.world).living.push(session);
}

/// The sessions in which a search finds this word.
fn found(client: &mut Client, word: &str) -> Vec<String> {
    let page = client.result("session/list", json!({"_meta": {"acp-sessions": {"search": word}}}));
    let ids = page["sessions"].as_array().into_iter().flatten();
    ids.filter_map(|row| row["sessionId"].as_str().map(str::to_owned)).collect()
}

/// What is not found of what was not deleted.
fn missing(scene: &Scene, living: &[Session]) -> Vec<String> {
    let mut client = start(scene);
    // A title and metadata are given anew with each prompt.
    let said = living
        .iter()
        .flat_map(|session| session.words.chunks(5).flat_map(|words| &words[..3]).map(move |word| (&session.id, word)));
    said.filter(|(id, word)| found(&mut client, word) != [id.as_str()])
        .map(|(id, word)| format!("{word} is not found in {id}"))
        .collect()
}

/// Those of these words that are in a file of the store.
fn left<'w>(scene: &Scene, words: &'w [String]) -> Vec<&'w str> {
    let folder = scene.store().parent().expect("a folder").to_owned();
    let read = |file: fs::DirEntry| fs::read(file.path()).unwrap_or_default();
    let files: Vec<Vec<u8>> = fs::read_dir(folder).expect("it is there").filter_map(Result::ok).map(read).collect();
    // All tails that there are in the files, of those that could be one.
    let mut tails: std::collections::HashMap<&[u8], &str> =
        words.iter().map(|word| (&word.as_bytes()[word.len() - TAIL..], word.as_str())).collect();
    let windows = files.iter().flat_map(|file| file.windows(TAIL));
    windows.filter_map(|window| tails.remove(window)).collect()
}

/// Whether nothing is left to be removed, as the store says. One of before that removes at once says nothing.
fn is_clean(store: &Path) -> bool {
    let Ok(connection) = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_WRITE) else { return false };
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if count("SELECT count(*) FROM sqlite_master WHERE name = 'cleaning'") == Ok(0) {
        return true;
    }
    let is_noted = count("SELECT count(*) FROM records WHERE key > 'q/' AND key < 'q0'");
    let is_cleaning = count("SELECT stage != 0 OR removed != covered FROM cleaning");
    (is_noted, is_cleaning) == (Ok(0), Ok(0))
}

/// Reads, and keeps its snapshot until some more has been deleted.
fn read(store: &Path, tally: &Tally) {
    let reader = Connection::open(store).expect("the store");
    while !tally.is_over.load(Ordering::SeqCst) {
        reader.execute_batch("BEGIN; SELECT count(*) FROM records").expect("a snapshot");
        let until = tally.deletes.load(Ordering::SeqCst) + 15;
        while !tally.is_over.load(Ordering::SeqCst) && tally.deletes.load(Ordering::SeqCst) < until {
            thread::sleep(Duration::from_millis(5));
        }
        reader.execute_batch("COMMIT").expect("over");
        tally.snapshots.fetch_add(1, Ordering::SeqCst);
    }
}

/// Asks again and again to be allowed to write.
fn ask_to_write(store: &Path, tally: &Tally) {
    let writer = Connection::open(store).expect("the store");
    writer.busy_timeout(Duration::from_mins(1)).expect("set");
    while !tally.is_over.load(Ordering::SeqCst) {
        let begun = Instant::now();
        writer.execute_batch("BEGIN IMMEDIATE; ROLLBACK").expect("allowed");
        lock(&tally.waited).push(begun.elapsed());
        thread::sleep(Duration::from_millis(3));
    }
}
