//! How much of a pipe that nobody may read the log takes. The agent writes to it too, and would wait for good where it is full.

use std::io::Stderr;

/// How many bytes are written at once. A pipe has its room in pages, of which lines leave up to a half unused.
pub(super) const PIECE: usize = 4096;

/// Whether so many bytes more leave at least half of the pipe to others, or it is no pipe.
#[cfg(target_os = "linux")]
pub(super) fn is_left(stderr: &Stderr, length: usize) -> bool {
    let (Ok(size), Ok(unread)) = (rustix::pipe::fcntl_getpipe_size(stderr), rustix::io::ioctl_fionread(stderr)) else {
        return true;
    };
    let unread = usize::try_from(unread).unwrap_or(usize::MAX);
    unread == 0 || unread.saturating_add(length) <= size / 4
}

/// Elsewhere nobody says how large it is.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_left(_: &Stderr, _: usize) -> bool {
    true
}
