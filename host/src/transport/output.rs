//! What goes to one side.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use super::unwaiting;

/// A queue that has grown beyond this is not kept when it is empty.
const LARGE: usize = 1 << 20;

/// Lines for one side. What it takes without waiting is written at once; the rest waits here.
#[derive(Debug)]
pub struct Output {
    /// None once it is closed, or the other end is gone.
    stream: Option<File>,
    /// Bytes to write, from `written` on.
    queue: Vec<u8>,
    written: usize,
    /// To be closed when all is written.
    closing: bool,
    /// The other end is gone, and nobody was told yet.
    deaf: bool,
}

impl Output {
    /// Lines that go into this stream.
    pub fn new(stream: impl Into<OwnedFd>) -> Self {
        let stream = Some(File::from(stream.into()));
        Self { stream, queue: Vec::new(), written: 0, closing: false, deaf: false }
    }

    /// Adds lines. They are dropped if nobody takes lines any more.
    pub fn extend<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        if self.closing || self.stream.is_none() {
            return;
        }
        for line in lines {
            self.queue.extend_from_slice(line.as_bytes());
            self.queue.push(b'\n');
        }
    }

    /// How many bytes wait.
    pub fn queued(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Writes what the stream takes without waiting.
    pub fn write(&mut self) {
        while let Some(stream) = &self.stream {
            let rest = &self.queue[self.written..];
            if rest.is_empty() {
                break;
            }
            match unwaiting::write(stream, rest) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    tracing::debug!(%error, "a stream cannot be written any more");
                    self.hung_up();
                }
            }
        }
        self.tidy();
    }

    /// Drops what is written, and the stream when it is to be closed and nothing waits.
    fn tidy(&mut self) {
        if self.queued() == 0 {
            self.written = 0;
            self.queue.clear();
            self.queue.shrink_to(LARGE);
            if self.closing {
                self.stream = None;
            }
        } else if self.written > LARGE && self.written > self.queue.len() / 2 {
            self.queue.drain(..std::mem::take(&mut self.written));
        }
    }

    /// No more lines come. Those that wait are still written, then the other end finds the stream at its end.
    pub fn close(&mut self) {
        self.closing = true;
        self.write();
    }

    /// Drops the stream, and what waits.
    pub fn abandon(&mut self) {
        self.stream = None;
        self.queue = Vec::new();
        self.written = 0;
    }

    /// The descriptor, while no lines wait for it: the other end may go meanwhile.
    pub fn resting(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().filter(|_| self.queued() == 0).map(File::as_fd)
    }

    /// The other end was found gone.
    pub fn hung_up(&mut self) {
        self.deaf = true;
        self.abandon();
    }

    /// Whether no more lines come.
    pub fn is_closed(&self) -> bool {
        self.closing || self.stream.is_none()
    }

    /// Whether the other end is gone; said once.
    pub fn take_deaf(&mut self) -> bool {
        std::mem::take(&mut self.deaf)
    }

    /// The descriptor, while lines wait for it to have room.
    pub fn waiting(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().filter(|_| self.queued() > 0).map(File::as_fd)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, pipe};

    use super::*;
    use crate::transport::readiness::{self, Watch};

    #[test]
    fn what_the_stream_takes_is_written_at_once_and_the_rest_when_there_is_room() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let mut output = Output::new(writer);
        let line = "x".repeat(999);
        output.extend(std::iter::repeat_n(line.as_str(), 1000));
        output.write();
        let waits = output.queued();
        assert!(waits > 0 && waits < 1_000_000, "{waits}");
        output.close();
        assert!(output.is_closed());
        output.extend(["late"]);
        let mut heard = Vec::new();
        let mut chunk = vec![0; 1 << 16];
        while let length @ 1.. = reader.read(&mut chunk).expect("readable") {
            heard.extend_from_slice(&chunk[..length]);
            output.write();
        }
        assert_eq!(output.queued(), 0);
        assert_eq!(heard, format!("{line}\n").repeat(1000).as_bytes());
    }

    #[test]
    fn nothing_waits_for_one_who_is_gone() {
        let (reader, writer) = pipe().expect("a pipe");
        let mut output = Output::new(writer);
        drop(reader);
        output.extend(["a"]);
        output.write();
        assert!(output.take_deaf() && !output.take_deaf());
        output.extend(["b"]);
        assert_eq!((output.queued(), output.is_closed()), (0, true));
    }

    #[test]
    fn one_who_goes_while_nothing_is_written_is_found_gone() {
        let (reader, writer) = pipe().expect("a pipe");
        let mut output = Output::new(writer);
        output.extend(["a"]);
        assert!(output.resting().is_none(), "a line waits");
        output.write();
        let is_gone = |output: &Output| readiness::is_ready(output.resting().expect("open"), Watch::HangUp);
        assert!(!is_gone(&output));
        drop(reader);
        assert!(is_gone(&output));
        output.hung_up();
        assert!(output.resting().is_none() && output.take_deaf() && output.is_closed());
    }

    #[test]
    fn it_is_closed_when_nothing_waits_any_more() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let mut output = Output::new(writer);
        output.extend(["a"]);
        assert!(output.waiting().is_some());
        output.close();
        let mut heard = String::new();
        reader.read_to_string(&mut heard).expect("it ends");
        assert_eq!(heard, "a\n");
    }
}
