//! The one module that knows the WIT types: the component's exports onto the engine, its imports as traits.

// The generated glue of wit-bindgen is unsafe at the ABI's edge.
#![allow(unsafe_code, missing_docs, clippy::pedantic, clippy::all)]

use std::cell::RefCell;

use crate::{engine, environment::Environment, storage as native};

wit_bindgen::generate!({
    path: "../wit",
    world: "session-engine",
    generate_all,
});

use acp::sessions::storage as wit;
use exports::acp::sessions::{connection, sessions};

struct Component;

export!(Component);

thread_local! {
    static ENGINE: RefCell<Option<engine::Engine<HostStorage, HostEnvironment>>> = const { RefCell::new(None) };
}

/// The storage import.
#[derive(Debug, Clone, Copy)]
struct HostStorage;

/// The clock and randomness imports.
#[derive(Debug, Clone, Copy)]
struct HostEnvironment;

impl Environment for HostEnvironment {
    fn now(&self) -> i64 {
        let now = wasi::clocks::wall_clock::now();
        i64::try_from(now.seconds).unwrap_or(i64::MAX / 2000) * 1000 + i64::from(now.nanoseconds / 1_000_000)
    }

    fn random(&self) -> u64 {
        wasi::random::random::get_random_u64()
    }
}

fn from_error(error: wit::Error) -> native::StorageError {
    match error {
        wit::Error::Conflict => native::StorageError::Conflict,
        wit::Error::TooLarge => native::StorageError::TooLarge,
        wit::Error::Full => native::StorageError::Full,
        wit::Error::ReadOnly => native::StorageError::ReadOnly,
        wit::Error::Corrupt(what) => native::StorageError::Corrupt(what),
        wit::Error::Unavailable(what) => native::StorageError::Unavailable(what),
        wit::Error::Unsupported => native::StorageError::Unsupported,
    }
}

fn to_term(term: &native::TextTerm) -> wit::TextTerm {
    wit::TextTerm { tokens: term.tokens.clone(), prefix: term.prefix }
}

fn to_write(write: native::Write) -> wit::Write {
    match write {
        native::Write::Put { key, value } => wit::Write::Put(wit::Entry { key, value }),
        native::Write::Delete { key } => wit::Write::Delete(key),
        native::Write::Append { log, seq, value } => wit::Write::Append(wit::LogRow { log, seq, value }),
        native::Write::Amend { log, seq, value } => wit::Write::Amend(wit::LogRow { log, seq, value }),
        native::Write::CutLog { log, from } => wit::Write::CutLog(wit::LogCut { log, from }),
        native::Write::IndexText { owner, part, tokens } => {
            wit::Write::IndexText(wit::TextPart { owner, part, tokens })
        }
        native::Write::DropText { owner, from } => wit::Write::DropText(wit::TextCut { owner, from }),
    }
}

impl native::Storage for HostStorage {
    fn get(&self, keys: &[String]) -> native::Result<Vec<Option<String>>> {
        wit::get(keys).map_err(from_error)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: native::Bounds) -> native::Result<native::RecordPage> {
        let page = wit::scan(start, end, descending, bounds.limit, bounds.max_bytes).map_err(from_error)?;
        let entries = page.entries.into_iter().map(|entry| native::Entry { key: entry.key, value: entry.value });
        Ok(native::RecordPage { entries: entries.collect(), more: page.more })
    }

    fn log_end(&self, log: &str) -> native::Result<u64> {
        wit::log_end(log).map_err(from_error)
    }

    fn read_log(&self, log: &str, start: u64, bounds: native::Bounds) -> native::Result<native::LogPage> {
        let page = wit::read_log(log, start, bounds.limit, bounds.max_bytes).map_err(from_error)?;
        let entries = page.entries.into_iter().map(|entry| native::LogEntry { seq: entry.seq, value: entry.value });
        Ok(native::LogPage { entries: entries.collect(), more: page.more })
    }

    fn search_text(
        &self,
        term: &native::TextTerm,
        after: Option<&native::TextHit>,
        limit: u32,
    ) -> native::Result<Vec<native::TextHit>> {
        let after = after.map(|hit| wit::TextHit { owner: hit.owner.clone(), part: hit.part });
        let hits = wit::search_text(&to_term(term), after.as_ref(), limit).map_err(from_error)?;
        Ok(hits.into_iter().map(|hit| native::TextHit { owner: hit.owner, part: hit.part }).collect())
    }

    fn find_text(&self, term: &native::TextTerm, scopes: &[native::TextScope]) -> native::Result<Vec<Option<u64>>> {
        let scopes: Vec<_> =
            scopes.iter().map(|scope| wit::TextScope { owner: scope.owner.clone(), until: scope.until }).collect();
        wit::find_text(&to_term(term), &scopes).map_err(from_error)
    }

    fn commit(
        &self,
        expected: &[native::Expectation],
        writes: Vec<native::Write>,
        durability: native::Durability,
    ) -> native::Result<()> {
        let expected: Vec<_> = expected
            .iter()
            .map(|expectation| wit::Expectation { key: expectation.key.clone(), value: expectation.value.clone() })
            .collect();
        let writes: Vec<_> = writes.into_iter().map(to_write).collect();
        let durability = match durability {
            native::Durability::Relaxed => wit::Durability::Relaxed,
            native::Durability::Durable => wit::Durability::Durable,
        };
        wit::commit(&expected, &writes, durability).map_err(from_error)
    }
}

/// Runs with the open engine. Without one the host broke the contract, and a trap says so.
fn with_engine<T>(run: impl FnOnce(&mut engine::Engine<HostStorage, HostEnvironment>) -> T) -> T {
    ENGINE.with_borrow_mut(|engine| run(engine.as_mut().expect("`open` was not called")))
}

fn from_peer(peer: connection::Peer) -> engine::Peer {
    match peer {
        connection::Peer::Client => engine::Peer::Client,
        connection::Peer::Agent => engine::Peer::Agent,
    }
}

fn from_arrival(arrival: connection::Arrival) -> engine::Arrival {
    let content = match arrival.content {
        connection::Content::Line(line) => engine::Content::Line(line),
        connection::Content::TooLong(head) => engine::Content::TooLong(head),
        connection::Content::NotText => engine::Content::NotText,
    };
    engine::Arrival { from: from_peer(arrival.from), content }
}

fn to_output(output: engine::Output) -> connection::Output {
    match output {
        engine::Output::ToClient(line) => connection::Output::ToClient(line),
        engine::Output::ToAgent(line) => connection::Output::ToAgent(line),
        engine::Output::Keep { key, value } => connection::Output::Keep(connection::Memo { key, value }),
        engine::Output::Warn(text) => connection::Output::Warn(text),
    }
}

impl connection::Guest for Component {
    fn open(
        settings: Vec<connection::Setting>,
        kept: Vec<connection::Memo>,
        lost: Vec<connection::Arrival>,
    ) -> Result<(), connection::OpenError> {
        let settings = settings.into_iter().map(|setting| (setting.name, setting.value));
        let kept = kept.into_iter().filter_map(|memo| memo.value.map(|value| (memo.key, value)));
        let lost = lost.into_iter().map(from_arrival).collect();
        let engine = engine::Engine::open(HostStorage, HostEnvironment, settings, kept.collect(), lost).map_err(
            |error| match error {
                engine::OpenError::BadSetting(what) => connection::OpenError::BadSetting(what),
                engine::OpenError::Storage(error) => connection::OpenError::Storage(error.to_string()),
            },
        )?;
        ENGINE.set(Some(engine));
        Ok(())
    }

    fn receive(arrivals: Vec<connection::Arrival>) {
        with_engine(|engine| engine.receive(arrivals.into_iter().map(from_arrival)));
    }

    fn pull(client_room: u32) -> Vec<connection::Output> {
        with_engine(|engine| engine.pull(client_room).into_iter().map(to_output).collect())
    }

    fn closed(peer: connection::Peer) {
        with_engine(|engine| engine.closed(from_peer(peer)));
    }

    fn idle() -> Option<u32> {
        with_engine(engine::Engine::idle)
    }
}

impl sessions::Guest for Component {
    fn list(_: sessions::Filter, _: u32, _: Option<String>) -> Result<sessions::Page, sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn get(_: String) -> Result<sessions::Session, sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn transcript(_: String, _: Option<String>, _: u32) -> Result<sessions::TranscriptPage, sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn rename(_: String, _: String) -> Result<String, sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn archive(_: String, _: bool) -> Result<(), sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn delete(_: String) -> Result<(), sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn prune(_: String, _: Option<String>, _: u32, _: Option<String>, _: bool) -> Result<sessions::Page, sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
    fn rebuild(_: Option<String>, _: u32) -> Result<(u32, Option<String>), sessions::Error> {
        Err(sessions::Error::Invalid("TEMPORARY".to_owned()))
    }
}
