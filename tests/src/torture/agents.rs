//! Agents that are killed, at rest and while they speak, as often as they are started again within a minute. What was said
//! must be there once, and the conversation goes on.

use std::time::Instant;

use serde_json::Value;

use super::Report;
use super::chance::Chance;
use crate::client::Client;
use crate::process::signal;
use crate::scene::Scene;
use crate::transcript::text_of;
use crate::until;

/// How often the agent of one program is started again within a minute.
const KILLS: usize = 5;

/// What agents can do to open a session again.
const KINDS: [&[&str]; 4] = [&[], &["--resume"], &["--load"], &["--load", "--resume", "--list", "--dates"]];

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What chance begins with.
    pub seed: u64,
    /// How many programs there are, one after the other.
    pub rounds: usize,
}

/// A turn: its word, how many pieces its answer has, and how many of them the client has seen.
struct Turn {
    word: String,
    pieces: usize,
    seen: usize,
    has_succeeded: bool,
}

/// Runs it.
pub fn run(options: Options) -> Report {
    let mut chance = Chance::new(options.seed);
    let mut findings = Vec::new();
    let (began, mut kills, mut failed) = (Instant::now(), 0, 0);
    for round in 0..options.rounds {
        let flags = KINDS[chance.below(KINDS.len())];
        let scene = Scene::new();
        let mut client = Client::ready(&scene.proxy(&[], flags));
        let id = client.new_session(&scene.cwd());
        let mut turns = vec![turn(&scene, &mut client, &id, &mut chance, false)];
        for _ in 0..KILLS {
            let is_busy = !chance.one_in(3);
            turns.push(turn(&scene, &mut client, &id, &mut chance, is_busy));
            if !is_busy {
                kill(&scene);
            }
        }
        turns.push(turn(&scene, &mut client, &id, &mut chance, false));
        kills += scene.agent_pids().len() - 1;
        failed += turns.iter().filter(|turn| !turn.has_succeeded).count();
        client.close();
        let (replay, _) = Client::ready(&scene.builtin(&[])).load(&id, &scene.cwd());
        let found = turns.iter().filter_map(|turn| missing(turn, &replay));
        findings.extend(found.map(|found| format!("round {round}, an agent with {flags:?}: {found}")));
    }
    let took = began.elapsed();
    let lines = vec![
        format!("seed {}, {} programs, {took:.0?} in all", options.seed, options.rounds),
        format!("{kills} kills, {failed} turns cut off"),
    ];
    Report { lines, findings }
}

/// Kills the agent, and waits for the one in its place.
fn kill(scene: &Scene) {
    let before = scene.agent_pids();
    signal("KILL", *before.last().expect("one runs"));
    until("another is started", || scene.agent_pids().len() > before.len());
}

/// A turn in which the agent is killed when it has said something, if at all.
fn turn(scene: &Scene, client: &mut Client, id: &str, chance: &mut Chance, is_killed: bool) -> Turn {
    let (word, pieces) = (chance.word(), 1 + chance.below(300));
    client.take_updates(id);
    let request = client.start_prompt(id, &format!("tagged {word} {pieces}"));
    if is_killed {
        let heard = format!("{word}-{} ", chance.below(pieces));
        client.wait_for_update(id, |update| update["content"]["text"] == heard.as_str());
        kill(scene);
    }
    let has_succeeded = client.finish(&request).is_ok();
    let seen = text_of(&client.take_updates(id), "agent_message_chunk").matches(&word).count();
    Turn { word, pieces, seen, has_succeeded }
}

/// What is not as it should be of a turn in what is replayed.
fn missing(turn: &Turn, replay: &[Value]) -> Option<String> {
    let Turn { word, pieces, seen, has_succeeded } = turn;
    let (asked, said) = (text_of(replay, "user_message_chunk"), text_of(replay, "agent_message_chunk"));
    let prompts = asked.matches(word.as_str()).count();
    let told = said.matches(word.as_str()).count();
    let once = (0..told).all(|piece| said.matches(&format!("{word}-{piece} ")).count() == 1);
    let is_whole = if *has_succeeded { told == *pieces } else { (*seen..=*pieces).contains(&told) };
    let is_right = prompts == 1 && once && is_whole;
    let ended = if *has_succeeded { "whole" } else { "cut off" };
    (!is_right).then(|| {
        format!("a turn that was {ended}, of {pieces} pieces, {seen} of them seen, is there with {told}, its prompt {prompts} times")
    })
}
