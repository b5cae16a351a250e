//! What goes to one side.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use super::unwaiting;

/// Bytes of lines that are kept together, to be written at once. A longer line has its own.
const PIECE: usize = 64 << 10;

/// Lines for one side. What it takes without waiting is written at once; the rest waits here.
#[derive(Debug)]
pub struct Output {
    /// None once it is closed, or the other end is gone.
    stream: Option<File>,
    /// What is to be written, from `written` on in the first piece. In pieces, so that a long queue neither grows by being
    /// copied nor holds what is written already.
    queue: VecDeque<Vec<u8>>,
    written: usize,
    /// Bytes that wait.
    queued: usize,
    /// A piece to be used again.
    spare: Vec<u8>,
    /// To be closed when all is written.
    closing: bool,
    /// The other end is gone, and nobody was told yet.
    deaf: bool,
}

impl Output {
    /// Lines that go into this stream.
    pub fn new(stream: impl Into<OwnedFd>) -> Self {
        let stream = Some(File::from(stream.into()));
        let (queue, spare) = (VecDeque::new(), Vec::new());
        Self { stream, queue, written: 0, queued: 0, spare, closing: false, deaf: false }
    }

    /// Adds lines. They are dropped if nobody takes lines any more.
    pub fn extend<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        if self.closing || self.stream.is_none() {
            return;
        }
        for line in lines {
            let piece = self.piece_for(line.len() + 1);
            piece.extend_from_slice(line.as_bytes());
            piece.push(b'\n');
            self.queued += line.len() + 1;
        }
    }

    /// The last piece, if it has room for so many bytes, or else a new one that has.
    fn piece_for(&mut self, length: usize) -> &mut Vec<u8> {
        if self.queue.back().is_none_or(|last| last.capacity() - last.len() < length) {
            let mut piece = std::mem::take(&mut self.spare);
            piece.reserve_exact(length.max(PIECE));
            self.queue.push_back(piece);
        }
        let last = self.queue.len() - 1;
        &mut self.queue[last]
    }

    /// How many bytes wait.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Writes what the stream takes without waiting.
    pub fn write(&mut self) {
        while let (Some(stream), Some(piece)) = (&self.stream, self.queue.front()) {
            match unwaiting::write(stream, &piece[self.written..]) {
                Ok(length) => {
                    self.written += length;
                    self.queued -= length;
                    if self.written == piece.len() {
                        self.drop_piece();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    tracing::debug!(%error, "a stream cannot be written any more");
                    self.hung_up();
                }
            }
        }
        if self.closing && self.queue.is_empty() {
            self.stream = None;
        }
    }

    /// The first piece is written.
    fn drop_piece(&mut self) {
        self.written = 0;
        if let Some(mut piece) = self.queue.pop_front().filter(|piece| piece.capacity() <= PIECE) {
            piece.clear();
            self.spare = piece;
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
        self.queue = VecDeque::new();
        self.written = 0;
        self.queued = 0;
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
    fn a_reader_who_goes_while_nothing_is_written_is_found_gone() {
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
    fn an_output_is_closed_when_nothing_waits_any_more() {
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
