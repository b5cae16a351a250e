//! The log, on standard error. Whoever has started the program may never read that, and nothing waits for it but the log itself: not
//! the agent either, whose standard error it is too.

mod room;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::printable::{Form, printable};

/// How many bytes wait to be read; what comes then is left out, and that is said once there is room.
const MOST_BYTES: usize = 4 << 20;
/// How long the end of the program waits for all of it to be read.
const PATIENCE: Duration = Duration::from_secs(1);
/// After how long it is first looked whether somebody has read, and after how long at most then.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LAST_LOOK: Duration = Duration::from_millis(500);

static WAITING: Mutex<Waiting> =
    Mutex::new(Waiting { lines: VecDeque::new(), bytes: 0, left_out: 0, writer: Writer::None, is_ending: false });
static CHANGED: Condvar = Condvar::new();

/// Where events are written: each is made printable, and what it has of further lines is set off.
pub(super) struct Log;

/// What is still to be written.
struct Waiting {
    lines: VecDeque<String>,
    bytes: usize,
    /// How many lines found no room.
    left_out: u64,
    writer: Writer,
    /// The program ends, and no agent needs room any more.
    is_ending: bool,
}

/// The thread that writes it.
#[derive(PartialEq, Eq)]
enum Writer {
    /// Nothing was ever logged.
    None,
    Writing,
    /// It has written all that there was.
    Done,
}

impl Log {
    /// Writes a line behind those that wait.
    pub(super) fn line(line: &str) {
        let mut waiting = lock();
        if waiting.bytes + line.len() > MOST_BYTES {
            waiting.left_out += 1;
            return;
        }
        waiting.tell_left_out();
        waiting.push(line);
        if std::mem::replace(&mut waiting.writer, Writer::Writing) != Writer::None {
            CHANGED.notify_all();
        } else if thread::Builder::new().spawn(write_all).is_err() {
            // There is nobody else to be told.
            waiting.writer = Writer::None;
        }
    }

    /// Waits until all of it is written, for a moment.
    pub(super) fn finish() {
        let mut waiting = lock();
        waiting.is_ending = true;
        CHANGED.notify_all();
        let is_writing = |waiting: &mut Waiting| waiting.writer == Writer::Writing;
        // What is not read by then nobody reads.
        drop(CHANGED.wait_timeout_while(waiting, PATIENCE, is_writing));
    }
}

impl Write for Log {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        Self::line(&printable(text.trim_end(), Form::Text).replace('\n', "\n    "));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes what comes, for as long as the program runs.
fn write_all() {
    let mut waiting = lock();
    loop {
        if let Some(line) = waiting.next() {
            drop(waiting);
            for piece in line.as_bytes().chunks(room::PIECE) {
                await_room(piece.len());
                // Where that cannot be written there is nobody to be told.
                let _ = io::stderr().write_all(piece);
            }
            waiting = lock();
        } else {
            waiting.writer = Writer::Done;
            CHANGED.notify_all();
            let is_done = |waiting: &mut Waiting| waiting.writer == Writer::Done;
            waiting = CHANGED.wait_while(waiting, is_done).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Waits until so many bytes leave the agent its room. A pipe does not tell when it is read, so it is looked at now and then.
fn await_room(length: usize) {
    let mut next_look = FIRST_LOOK;
    while !room::is_left(&io::stderr(), length) {
        let is_going_on = |waiting: &mut Waiting| !waiting.is_ending;
        let (waiting, _) =
            CHANGED.wait_timeout_while(lock(), next_look, is_going_on).unwrap_or_else(PoisonError::into_inner);
        if waiting.is_ending {
            return;
        }
        next_look = LAST_LOOK.min(next_look * 2);
    }
}

impl Waiting {
    fn push(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    fn next(&mut self) -> Option<String> {
        if self.lines.is_empty() {
            self.tell_left_out();
        }
        let line = self.lines.pop_front()?;
        self.bytes -= line.len();
        Some(line)
    }

    fn tell_left_out(&mut self) {
        match std::mem::take(&mut self.left_out) {
            0 => {}
            left_out => self.push(&format!("{left_out} more lines were left out: nobody has read these for too long")),
        }
    }
}
