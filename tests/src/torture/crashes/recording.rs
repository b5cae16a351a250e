//! Running the program so that what it does to its store's files is recorded.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::strace::{self, CALLS, Call};
use crate::client::Client;
use crate::launch::{Launch, built};
use crate::scene::Scene;

/// Something that happened to the files of a store, or that somebody was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Written {
        file: String,
        at: usize,
        bytes: Vec<u8>,
    },
    Cut {
        file: String,
        length: usize,
    },
    /// All that was written to it is on disk.
    Synced {
        file: String,
    },
    Removed {
        file: String,
    },
    /// The client was sent these bytes.
    Told(Vec<u8>),
}

/// What is appended to: the program's writes to files other than the store's are none of it, nor is the table that SQLite's
/// processes share, which is made anew after a crash.
fn is_of_store(path: &str, folder: &Path) -> Option<String> {
    let name = Path::new(path).strip_prefix(folder).ok()?.to_str()?;
    (!name.is_empty() && !name.ends_with("-shm")).then(|| name.to_owned())
}

/// A client of a recorded program, and where the record is.
pub(super) struct Recorded<'a> {
    pub(super) client: Client,
    scene: &'a Scene,
    /// What strace calls the pipe to the client.
    pipe: String,
}

impl<'a> Recorded<'a> {
    /// The program with its own agent.
    pub(super) fn start(scene: &'a Scene) -> Self {
        let client = Client::start(&traced(scene, &scene.builtin(&[])));
        // Where strace's own output goes is no sign of it: strace lets go of that when the program runs.
        let pipe = client.output_pipe().expect("where its output goes").to_owned();
        let mut recorded = Self { client, scene, pipe };
        recorded.client.initialize();
        recorded
    }

    /// Ends the program, and gives all that happened.
    pub(super) fn end(mut self) -> Vec<Event> {
        assert!(self.client.close().success());
        events(self.scene, Some(&self.pipe))
    }
}

/// Runs a command on the store to its end; gives what happened.
pub(super) fn command(scene: &Scene, words: &[&str]) -> Vec<Event> {
    let program = Launch::new(&built("acp-sessions")).args(words).arg("--store").arg(scene.store());
    let output = traced(scene, &program).command().stdin(Stdio::null()).output().expect("the command starts");
    assert!(output.status.success(), "{words:?}: {output:?}");
    events(scene, None)
}

fn traced(scene: &Scene, program: &Launch) -> Launch {
    let options =
        ["-f", "-y", "-xx", "-qq", "-s", "100000000", "-e", CALLS, "-e", "signal=none", "--seccomp-bpf", "-o"];
    Launch::new(Path::new("strace")).args(&options).arg(scene.file("trace")).arg("--").under(program)
}

fn events(scene: &Scene, pipe: Option<&str>) -> Vec<Event> {
    let trace = fs::read_to_string(scene.file("trace")).expect("what strace has printed");
    let calls = strace::read(&trace).unwrap_or_else(|error| panic!("{error}"));
    let store = scene.store();
    let folder = store.parent().expect("a folder");
    calls.into_iter().filter_map(|call| event(call, folder, pipe)).collect()
}

/// What a call did, if it matters.
fn event(call: Call, folder: &Path, pipe: Option<&str>) -> Option<Event> {
    let Call { name, file, texts, numbers, words, result } = call;
    let told = file.is_some() && file.as_deref() == pipe;
    let of_store = file.as_deref().and_then(|path| is_of_store(path, folder));
    // Of a call on a path the path is its text.
    let path = || texts.first().and_then(|path| is_of_store(std::str::from_utf8(path).ok()?, folder));
    match name.as_str() {
        "write" | "writev" | "pwritev2" if told => {
            let mut bytes = texts.concat();
            bytes.truncate(result);
            Some(Event::Told(bytes))
        }
        "pwrite64" => {
            let at = usize::try_from(*numbers.last()?).ok()?;
            let mut bytes = texts.concat();
            bytes.truncate(result);
            Some(Event::Written { file: of_store?, at, bytes })
        }
        "ftruncate" => Some(Event::Cut { file: of_store?, length: usize::try_from(*numbers.last()?).ok()? }),
        "fsync" | "fdatasync" => Some(Event::Synced { file: of_store? }),
        "unlink" | "unlinkat" => Some(Event::Removed { file: path()? }),
        "open" | "openat" => {
            assert!(path().is_none() || !words.contains("O_TRUNC"), "a file of the store is opened and emptied");
            None
        }
        _ => {
            let file = of_store.or_else(path);
            assert!(file.is_none(), "{name} of {file:?} is not understood");
            None
        }
    }
}
