//! How far a rebuild has come: a bar on a terminal, lines in a pipe, JSON for programs.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::json;

use super::super::printable::Out;

/// How many signs wide the bar is.
const WIDTH: u64 = 30;

/// In a pipe a line is written each time that this many more of a hundred are done.
const EACH: u64 = 10;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) sessions: u64,
    pub(super) entries: u64,
    /// How many entries there were in the beginning. While others write it may become more.
    pub(super) of: u64,
}

impl Done {
    fn percent(self) -> u64 {
        (self.entries * 100).checked_div(self.of).unwrap_or(100).min(100)
    }
}

/// Where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Bar,
    Lines,
    Json,
}

/// Shows how far it is.
#[derive(Debug)]
pub(super) struct Progress {
    shown: Shown,
    /// What the last line said.
    percent: u64,
    has_bar: bool,
}

impl Progress {
    pub(super) fn new(as_json: bool) -> Self {
        let shown = match (as_json, io::stderr().is_terminal()) {
            (true, _) => Shown::Json,
            (false, true) => Shown::Bar,
            (false, false) => Shown::Lines,
        };
        Self { shown, percent: 0, has_bar: false }
    }

    /// Nothing is shown.
    pub(super) fn quiet() -> Self {
        Self { shown: Shown::Nothing, percent: 0, has_bar: false }
    }

    pub(super) fn show(&mut self, done: Done, out: &mut Out) -> io::Result<()> {
        match self.shown {
            Shown::Nothing => Ok(()),
            Shown::Bar => {
                // What was printed before stands above it.
                out.flush()?;
                self.has_bar = true;
                write!(io::stderr(), "\r{}", bar(done))
            }
            // That all is done is told in the end.
            Shown::Lines if done.percent() < self.percent + EACH || done.percent() == 100 => Ok(()),
            Shown::Lines => {
                self.percent = done.percent();
                writeln!(out, "{}", line(done))?;
                out.flush()
            }
            Shown::Json => {
                let Done { sessions, entries, of } = done;
                out.json(&json!({ "sessions": sessions, "entries": entries, "of": of }).to_string())?;
                out.flush()
            }
        }
    }

    /// What is printed from now on stands below it.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.has_bar) { writeln!(io::stderr()) } else { Ok(()) }
    }
}

/// So many sessions, in words.
pub(super) fn counted(sessions: u64) -> String {
    format!("{sessions} {}", if sessions == 1 { "session" } else { "sessions" })
}

fn bar(done: Done) -> String {
    let full = done.percent() * WIDTH / 100;
    let signs: String = (0..WIDTH).map(|at| if at < full { '#' } else { '-' }).collect();
    format!("[{signs}] {:>3} %  {}, {} of {} entries", done.percent(), counted(done.sessions), done.entries, done.of)
}

fn line(done: Done) -> String {
    format!("Checked {} %: {}, {} of {} entries", done.percent(), counted(done.sessions), done.entries, done.of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_never_more_than_all_and_nothing_is_all_of_nothing() {
        let done = |entries, of| Done { sessions: 1, entries, of };
        assert_eq!([done(0, 0), done(0, 7), done(6, 7), done(9, 7)].map(Done::percent), [100, 0, 85, 100]);
        assert_eq!(bar(done(5, 10)), "[###############---------------]  50 %  1 session, 5 of 10 entries");
    }
}
