//! The one module that knows the WIT types: the component's exports onto the engine, its imports as traits.

// The generated glue of wit-bindgen is unsafe at the ABI's edge.
#![allow(unsafe_code, missing_docs, clippy::pedantic, clippy::all)]

use std::cell::{Cell, RefCell};

use crate::sessions::filter::Request;
use crate::sessions::rebuild::RebuildError;
use crate::sessions::rename::RenameError;
use crate::sessions::retention::Prune;
use crate::sessions::transcript::{TranscriptError, TranscriptPage};
use crate::sessions::{archive, delete, list, rebuild, rename, retention, transcript};
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

/// How many random numbers are asked for at a time: calls out of the component are dear in some runtimes.
const RANDOM_AT_ONCE: usize = 16;

thread_local! {
    /// The time of the call that is being served: to the engine all that happens in one call happens at once.
    static NOW: Cell<Option<i64>> = const { Cell::new(None) };
    static RANDOM: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
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
        let now = NOW.get().unwrap_or_else(|| {
            let now = wasi::clocks::wall_clock::now();
            i64::try_from(now.seconds).unwrap_or(i64::MAX / 2000) * 1000 + i64::from(now.nanoseconds / 1_000_000)
        });
        NOW.set(Some(now));
        now
    }

    fn random(&self) -> u64 {
        RANDOM.with_borrow_mut(|left| {
            if left.is_empty() {
                let bytes = wasi::random::random::get_random_bytes((RANDOM_AT_ONCE * size_of::<u64>()) as u64);
                left.extend(
                    bytes
                        .chunks_exact(8)
                        .map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
                );
            }
            left.pop().unwrap_or_else(wasi::random::random::get_random_u64)
        })
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

    fn scan(
        &self,
        start: &str,
        end: &str,
        descending: bool,
        bounds: native::Bounds,
    ) -> native::Result<native::RecordPage> {
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
    NOW.set(None);
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

fn step(engine: &mut engine::Engine<HostStorage, HostEnvironment>, client_room: u32) -> connection::Step {
    let outputs = engine.pull(client_room).into_iter().map(to_output).collect();
    connection::Step { outputs, more: engine.has_more(), held: engine.has_held() }
}

impl connection::Guest for Component {
    fn open(
        settings: Vec<connection::Setting>,
        kept: Vec<connection::Memo>,
        lost: Vec<connection::Arrival>,
    ) -> Result<(), connection::OpenError> {
        NOW.set(None);
        let settings = settings.into_iter().map(|setting| (setting.name, setting.value));
        let kept = kept.into_iter().filter_map(|memo| memo.value.map(|value| (memo.key, value)));
        let lost = lost.into_iter().map(from_arrival).collect();
        let engine =
            engine::Engine::open(HostStorage, HostEnvironment, settings, kept.collect(), lost).map_err(|error| {
                match error {
                    engine::OpenError::BadSetting(what) => connection::OpenError::BadSetting(what),
                    engine::OpenError::Storage(error) => connection::OpenError::Storage(error.to_string()),
                }
            })?;
        ENGINE.set(Some(engine));
        Ok(())
    }

    fn receive(arrivals: Vec<connection::Arrival>, client_room: u32) -> connection::Step {
        with_engine(|engine| {
            engine.receive(arrivals.into_iter().map(from_arrival));
            step(engine, client_room)
        })
    }

    fn pull(client_room: u32) -> connection::Step {
        with_engine(|engine| step(engine, client_room))
    }

    fn closed(peer: connection::Peer) {
        with_engine(|engine| engine.closed(from_peer(peer)));
    }

    fn idle() -> Option<u32> {
        with_engine(engine::Engine::idle)
    }
}

/// The store for the operations that need no connection.
fn store() -> crate::store::Store<HostStorage> {
    NOW.set(None);
    crate::store::Store::new(HostStorage)
}

fn storage_error(error: native::StorageError) -> sessions::Error {
    sessions::Error::Storage(error.to_string())
}

fn to_page(page: list::Page) -> sessions::Page {
    let sessions = page.rows.iter().map(|row| to_session(row)).collect();
    sessions::Page { sessions, next_cursor: page.next_cursor }
}

/// A list row, member by member.
fn to_session(row: &str) -> sessions::Session {
    let row: serde_json::Value = serde_json::from_str(row).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let mut meta = row["_meta"].as_object().cloned().unwrap_or_default();
    let own = meta.remove("acp-sessions").unwrap_or_default();
    sessions::Session {
        id: text(&row["sessionId"]).unwrap_or_default(),
        cwd: text(&row["cwd"]).unwrap_or_default(),
        title: text(&row["title"]),
        created_at: text(&own["createdAt"]).unwrap_or_default(),
        updated_at: text(&row["updatedAt"]).unwrap_or_default(),
        archived: row["archived"].as_bool().unwrap_or_default(),
        agent: text(&own["agent"]),
        meta: (!meta.is_empty()).then(|| serde_json::Value::Object(meta).to_string()),
        snippet: text(&own["match"]["snippet"]),
        matched_in: text(&own["match"]["in"]),
        set_aside: own["setAside"].as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or_default(),
    }
}

fn to_transcript(
    id: &str,
    page: Result<TranscriptPage, TranscriptError>,
) -> Result<sessions::TranscriptPage, sessions::Error> {
    let page = page.map_err(|error| match error {
        TranscriptError::NotFound => sessions::Error::NotFound(id.to_owned()),
        TranscriptError::Place => sessions::Error::Invalid(error.to_string()),
        TranscriptError::Storage(error) => storage_error(error),
    })?;
    let update = |(cursor, update): (String, String)| sessions::Update { cursor, update };
    Ok(sessions::TranscriptPage { updates: page.updates.into_iter().map(update).collect(), more: page.more })
}

fn read_directory(cwd: Option<String>) -> Result<Option<String>, sessions::Error> {
    let normalise = |cwd: String| {
        let invalid = || sessions::Error::Invalid("`cwd` must be an absolute path".to_owned());
        crate::store::directory::normalise(&cwd).ok_or_else(invalid)
    };
    cwd.map(normalise).transpose()
}

impl sessions::Guest for Component {
    fn list(filter: sessions::Filter, limit: u32, cursor: Option<String>) -> Result<sessions::Page, sessions::Error> {
        let archived = match filter.archived {
            sessions::Archived::Exclude => "exclude",
            sessions::Archived::Include => "include",
            sessions::Archived::Only => "only",
        };
        // The one reader of requests serves here too, so that both ways in mean the same.
        let params = serde_json::json!({
            "cwd": filter.cwd,
            "cursor": cursor,
            "archived": archived,
            "_meta": { "acp-sessions": {
                "createdAfter": filter.created_after,
                "createdBefore": filter.created_before,
                "updatedAfter": filter.updated_after,
                "search": filter.search,
                "subagents": filter.subagents,
                "limit": limit,
            } },
        });
        let to_error = |error| match error {
            list::ListError::Storage(error) => storage_error(error),
            error @ list::ListError::Invalid { .. } => sessions::Error::Invalid(error.to_string()),
        };
        let request = Request::read(Some(&params.to_string()), limit).map_err(to_error)?;
        list::page(&store(), &request).map(to_page).map_err(to_error)
    }

    fn get(id: String) -> Result<sessions::Session, sessions::Error> {
        let session = store().session(&id).map_err(storage_error)?;
        let session = session.ok_or_else(|| sessions::Error::NotFound(id))?;
        Ok(to_session(&crate::store::whole_info(&session)))
    }

    fn transcript(id: String, after: Option<String>, limit: u32) -> Result<sessions::TranscriptPage, sessions::Error> {
        to_transcript(&id, transcript::transcript(&store(), &id, after.as_deref(), limit))
    }

    fn set_aside(id: String, after: Option<String>, limit: u32) -> Result<sessions::TranscriptPage, sessions::Error> {
        to_transcript(&id, transcript::set_aside(&store(), &id, after.as_deref(), limit))
    }

    fn rename(id: String, title: String) -> Result<String, sessions::Error> {
        rename::rename(&store(), &id, &title).map_err(|error| match error {
            RenameError::NotFound => sessions::Error::NotFound(id.clone()),
            RenameError::Invalid(_) => sessions::Error::Invalid(error.to_string()),
            RenameError::Storage(error) => storage_error(error),
        })
    }

    fn archive(id: String, archived: bool) -> Result<(), sessions::Error> {
        match archive::set_archived(&store(), &id, archived).map_err(storage_error)? {
            true => Ok(()),
            false => Err(sessions::Error::NotFound(id)),
        }
    }

    fn delete(id: String) -> Result<(), sessions::Error> {
        delete::delete(&store(), &id, HostEnvironment.now()).map(drop).map_err(storage_error)
    }

    fn prune(
        idle_since: String,
        cwd: Option<String>,
        limit: u32,
        cursor: Option<String>,
        dry_run: bool,
    ) -> Result<sessions::Page, sessions::Error> {
        let idle_since = crate::time::parse(&idle_since)
            .ok_or_else(|| sessions::Error::Invalid("`idle-since` must be an RFC 3339 time".to_owned()))?;
        let prune = Prune { idle_since, cwd: read_directory(cwd)?, limit, dry_run, after: cursor };
        retention::prune(&store(), &prune, HostEnvironment.now()).map(to_page).map_err(storage_error)
    }

    fn rebuild(cursor: Option<String>, limit: u32) -> Result<sessions::Rebuilt, sessions::Error> {
        let rebuilt = rebuild::rebuild(&store(), cursor.as_deref(), limit).map_err(|error| match error {
            RebuildError::Cursor => sessions::Error::Invalid(error.to_string()),
            RebuildError::Storage(error) => storage_error(error),
        })?;
        Ok(sessions::Rebuilt { done: rebuilt.done, broken: rebuilt.broken, next_cursor: rebuilt.next })
    }
}
