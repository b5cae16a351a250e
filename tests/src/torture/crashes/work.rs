//! What is done while it is recorded: conversations, and everything that can become of them.

use serde_json::{Value, json};

use super::promises::Promise;
use super::recording::{Event, Recorded, command};
use crate::scene::Scene;
use crate::torture::chance::Chance;

/// What happened to the files of a store, and what was promised meanwhile.
pub(super) struct Work {
    pub(super) events: Vec<Event>,
    /// With how many events there were when each was given.
    pub(super) promises: Vec<(usize, Promise)>,
}

/// Somebody at work in a program that is recorded.
struct Worker<'a> {
    recorded: Recorded<'a>,
    /// The request whose answer gives it, and the promise.
    promises: Vec<(Value, Promise)>,
}

impl Work {
    /// Does it.
    pub(super) fn done(chance: &mut Chance) -> Self {
        let scene = Scene::new();
        let mut work = Self { events: Vec::new(), promises: Vec::new() };
        let mut worker = Worker::start(&scene);
        let [kept, titled, archived, deleted, last] = std::array::from_fn(|_| worker.new_session(&scene));
        for session in [&kept, &titled, &archived, &deleted, &last] {
            worker.say(session, chance, 20);
        }
        worker.say(&kept, chance, 30_000);
        let forked = worker.asked("session/fork", scene.place(&kept));
        let fork = forked.1["sessionId"].as_str().expect("an id").to_owned();
        worker.say(&fork, chance, 20);
        worker.promise("session/set_title", json!({"sessionId": titled, "title": "a walrus"}), |session| {
            Promise::Titled { session, title: "a walrus".to_owned() }
        });
        worker.promise("session/archive", json!({"sessionId": archived}), |session| Promise::Archived { session });
        worker.promise("session/delete", json!({"sessionId": deleted}), |session| Promise::Deleted { session });
        worker.say(&kept, chance, 3_000);
        work.add(worker);

        // In another program, which finds what the first one has left.
        let mut worker = Worker::start(&scene);
        worker.asked("session/load", scene.place(&kept));
        worker.say(&kept, chance, 20);
        worker.asked("session/resume", scene.place(&fork));
        // More than the journal holds before it is written back.
        for _ in 0..6 {
            worker.say(&fork, chance, 200_000);
        }
        worker.promise("session/delete", json!({"sessionId": fork}), |session| Promise::Deleted { session });
        worker.say(&kept, chance, 20);
        work.add(worker);

        work.events.extend(command(&scene, &["delete", &last]));
        work.promises.push((work.events.len(), Promise::Deleted { session: last }));
        work.events.extend(command(&scene, &["doctor", "--rebuild"]));
        work.without_what_was_told()
    }

    /// What somebody was told changes no file: a crash behind it is one before it, but for what was promised.
    fn without_what_was_told(mut self) -> Self {
        self.retain(|event| !matches!(event, Event::Told(_)));
        self
    }

    /// As if the program had never waited for the disk.
    pub(super) fn forget_syncs(&mut self) {
        self.retain(|event| !matches!(event, Event::Synced { .. }));
    }

    fn retain(&mut self, is_kept: impl Fn(&Event) -> bool) {
        for (at, _) in &mut self.promises {
            *at = self.events[..*at].iter().filter(|event| is_kept(event)).count();
        }
        self.events.retain(is_kept);
    }

    /// Adds what somebody has done, who is done.
    fn add(&mut self, worker: Worker<'_>) {
        let Worker { recorded, promises } = worker;
        let (mut told, before) = (Vec::new(), self.events.len());
        let mut promises = promises.into_iter().peekable();
        self.events.extend(recorded.end());
        for (nth, event) in self.events.iter().enumerate().skip(before) {
            let Event::Told(bytes) = event else { continue };
            told.extend_from_slice(bytes);
            while let Some(end) = told.iter().position(|byte| *byte == b'\n') {
                let line: Value = serde_json::from_slice(&told[..end]).expect("a line of JSON");
                told.drain(..=end);
                let is_answer = |(id, _): &(Value, Promise)| line["id"] == *id && line.get("result").is_some();
                // A promise that is given by this event holds when it has happened.
                self.promises.extend(promises.next_if(is_answer).map(|(_, promise)| (nth + 1, promise)));
            }
        }
        let left = String::from_utf8_lossy(&told);
        assert!(promises.peek().is_none(), "an answer was not recorded: {:?}; {left}", promises.peek());
    }
}

impl<'a> Worker<'a> {
    fn start(scene: &'a Scene) -> Self {
        Self { recorded: Recorded::start(scene), promises: Vec::new() }
    }

    fn new_session(&mut self, scene: &Scene) -> String {
        self.recorded.client.new_session(&scene.cwd())
    }

    /// Asks for something; gives the request's id and the result.
    fn asked(&mut self, method: &str, params: Value) -> (Value, Value) {
        let id = self.recorded.client.send_request(method, params);
        let result = self.recorded.client.finish(&id).unwrap_or_else(|error| panic!("{method}: {error:?}"));
        (id, result)
    }

    fn promise(&mut self, method: &str, params: Value, promise: impl FnOnce(String) -> Promise) {
        let session = params["sessionId"].as_str().expect("an id").to_owned();
        let (id, _) = self.asked(method, params);
        self.promises.push((id, promise(session)));
    }

    /// Has a turn of at least so many bytes.
    fn say(&mut self, session: &str, chance: &mut Chance, length: usize) {
        let word = chance.word();
        // One long word: the agent says it again in one piece.
        let text = format!("{word} {}", "y".repeat(length));
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        self.promise("session/prompt", prompt, |session| Promise::Said { session, word });
    }
}
