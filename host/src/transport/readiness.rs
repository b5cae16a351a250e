//! Which descriptors can be read or written without waiting, and the one place where a connection waits.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What a descriptor is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Something to read, or the end.
    Read,
    /// Room to write.
    Write,
    /// Only that the other end has gone.
    HangUp,
}

/// Waits until one of the descriptors is ready, or until the deadline. Says of each, in their order, whether what it was
/// watched for can be done without waiting, if only to find an error or the end.
pub fn wait(watched: &[(BorrowedFd<'_>, Watch)], deadline: Option<Instant>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<_> = watched.iter().map(|(descriptor, watch)| to_poll(*descriptor, *watch)).collect();
    loop {
        match poll(&mut polled, deadline.map(left_until).as_ref()) {
            Ok(_) => return Ok(polled.iter().map(is_found).collect()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether this descriptor is ready now.
pub fn is_ready(descriptor: BorrowedFd<'_>, watch: Watch) -> bool {
    let mut polled = [to_poll(descriptor, watch)];
    let no_time = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&no_time)).is_ok() && is_found(&polled[0])
}

fn to_poll(descriptor: BorrowedFd<'_>, watch: Watch) -> PollFd<'_> {
    let flags = match watch {
        Watch::Read => PollFlags::IN,
        Watch::Write => PollFlags::OUT,
        Watch::HangUp => PollFlags::empty(),
    };
    PollFd::from_borrowed_fd(descriptor, flags)
}

fn is_found(polled: &PollFd<'_>) -> bool {
    !polled.revents().is_empty()
}

/// Rounded up, so that a deadline is not met a moment too early and then waited for again.
fn left_until(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now());
    let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: left.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use std::io::{Write as _, pipe};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn what_is_ready_is_told_in_the_order_of_what_is_watched() {
        let (silent, _held) = pipe().expect("a pipe");
        let (spoken, mut speaker) = pipe().expect("a pipe");
        speaker.write_all(b"x").expect("room");
        let watched = [
            (silent.as_fd(), Watch::Read),
            (spoken.as_fd(), Watch::Read),
            (spoken.as_fd(), Watch::HangUp),
            (speaker.as_fd(), Watch::Write),
        ];
        let ready = wait(&watched, None).expect("polled");
        assert_eq!(ready, [false, true, false, true]);
    }

    #[test]
    fn that_the_other_end_has_gone_is_always_told() {
        let (left, gone) = pipe().expect("a pipe");
        drop(gone);
        for watch in [Watch::HangUp, Watch::Read] {
            let ready = wait(&[(left.as_fd(), watch)], Some(Instant::now())).expect("polled");
            assert_eq!(ready, [true], "{watch:?}");
        }
    }

    #[test]
    fn a_deadline_ends_the_waiting() {
        let (silent, _held) = pipe().expect("a pipe");
        let ready = wait(&[(silent.as_fd(), Watch::Read)], Some(Instant::now())).expect("polled");
        assert_eq!(ready, [false]);
    }
}
