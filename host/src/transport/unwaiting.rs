//! Writing what a stream takes at once.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;

use rustix::pipe::PIPE_BUF;

use super::readiness::{Watch, is_ready};

/// Writes the beginning of `bytes`, as much as there is room for; [`io::ErrorKind::WouldBlock`] where there is none. The
/// stream need not be one that never waits: whoever shares it may rely on that.
pub(super) fn write(stream: &File, bytes: &[u8]) -> io::Result<usize> {
    if let Some(written) = ask(stream, bytes) {
        return written;
    }
    if !is_ready(stream.as_fd(), Watch::Write) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    // A pipe that is ready takes this much at once; of more it might keep us waiting for the rest.
    (&*stream).write(&bytes[..bytes.len().min(PIPE_BUF)])
}

/// The system is asked to write without waiting. None where it cannot be (a terminal, an old kernel), and where it did not:
/// files may never be without waiting what they are with it.
#[cfg(target_os = "linux")]
fn ask(stream: &File, bytes: &[u8]) -> Option<io::Result<usize>> {
    use rustix::io::{Errno, ReadWriteFlags, pwritev2};

    // Where the stream stands, as with an ordinary write.
    const HERE: u64 = u64::MAX;
    match pwritev2(stream, &[io::IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT) {
        Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => None,
        written => Some(written.map_err(Into::into)),
    }
}

#[cfg(not(target_os = "linux"))]
fn ask(_: &File, _: &[u8]) -> Option<io::Result<usize>> {
    None
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, pipe};
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_pipe_takes_what_it_has_room_for_and_then_nothing() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let writer = File::from(OwnedFd::from(writer));
        let bytes = vec![b'x'; 1 << 20];
        let mut taken = 0;
        let full = loop {
            match write(&writer, &bytes) {
                Ok(length) => taken += length,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        let mut there = vec![0; bytes.len()];
        assert_eq!(reader.read(&mut there).expect("readable"), taken);
        assert!(write(&writer, b"y").is_ok());
    }

    #[test]
    fn a_file_takes_all_piece_by_piece() {
        let mut file = tempfile::tempfile().expect("a file");
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            rest = &rest[write(&file, rest).expect("room")..];
        }
        file.rewind().expect("its beginning");
        let mut there = Vec::new();
        file.read_to_end(&mut there).expect("readable");
        assert_eq!(there, bytes);
    }
}
