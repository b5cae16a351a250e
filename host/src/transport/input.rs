//! What comes from one side.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::lines::Lines;
use crate::component::connection::Content;

/// Bytes that one read may return: what a pipe holds on Linux.
const CHUNK: usize = 64 << 10;

/// The lines that one side sends.
#[derive(Debug)]
pub struct Input {
    stream: File,
    lines: Lines,
    chunk: Vec<u8>,
    has_ended: bool,
}

impl Input {
    /// Lines of up to `limit` bytes; of a longer one only the head and the end are kept.
    pub fn new(stream: impl Into<OwnedFd>, limit: usize) -> Self {
        Self { stream: stream.into().into(), lines: Lines::new(limit), chunk: vec![0; CHUNK], has_ended: false }
    }

    /// Reads once and returns the lines that are complete with that. Does not wait where the stream is ready to be read.
    pub fn read(&mut self) -> Vec<Content> {
        let mut complete = Vec::new();
        match self.stream.read(&mut self.chunk) {
            Ok(0) => self.end(&mut complete),
            Ok(length) => self.lines.push(&self.chunk[..length], &mut complete),
            // Whoever shares the stream may have made it one that does not wait.
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => {
                tracing::debug!(%error, "a stream ended with an error");
                self.end(&mut complete);
            }
        }
        complete
    }

    fn end(&mut self, complete: &mut Vec<Content>) {
        self.has_ended = true;
        complete.extend(self.lines.finish());
    }

    /// Whether all was read that ever comes.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write as _, pipe};

    use super::*;

    #[test]
    fn lines_come_as_they_are_complete_and_the_end_after_all_of_them() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let mut input = Input::new(reader, 100);
        writer.write_all(b"one\ntw").expect("room");
        assert_eq!(input.read(), [Content::Line("one".into())]);
        writer.write_all(b"o\nthree").expect("room");
        drop(writer);
        assert_eq!(input.read(), [Content::Line("two".into())]);
        assert!(!input.has_ended());
        assert_eq!(input.read(), [Content::Line("three".into())]);
        assert!(input.has_ended());
    }
}
