//! Reads the lines of one side.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::inbox::Source;
use super::lines::Lines;

/// Bytes that one read may return: what a pipe holds on Linux.
const CHUNK: usize = 64 << 10;

/// Starts a thread that reads until the stream ends.
pub fn spawn(mut stream: impl Read + AsFd + Send + 'static, limit: usize, source: Source) {
    thread::spawn(move || {
        read(&mut stream, limit, &source);
        source.end();
    });
}

fn read(stream: &mut (impl Read + AsFd), limit: usize, source: &Source) {
    let mut chunk = vec![0; CHUNK];
    let mut lines = Lines::new(limit);
    let mut complete = Vec::new();
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => lines.push(&chunk[..length], &mut complete),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::debug!(%error, "a stream ended with an error");
                break;
            }
        }
        if !source.push(&mut complete, || is_hung_up(stream.as_fd())) {
            return;
        }
    }
    complete.extend(lines.finish());
    source.push(&mut complete, || true);
}

/// Whether the other end is closed, even if there are bytes left to read.
fn is_hung_up(stream: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::HUP)
}
