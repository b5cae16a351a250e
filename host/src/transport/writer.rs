//! Writes the lines for one side.

use std::io::Write;
use std::thread;

use super::inbox::{Inbox, Source};
use super::outbox::Outbox;

/// Starts a thread that writes what comes, until the outbox is closed or the other end is gone; then it drops the
/// stream. Lines that have gathered are written together.
pub fn spawn(mut stream: impl Write + Send + 'static, outbox: Outbox, inbox: Inbox, source: Source) {
    thread::spawn(move || {
        let mut buffer = Vec::new();
        while outbox.take(&mut buffer) {
            if let Err(error) = write(&mut stream, &buffer, &outbox, &inbox) {
                tracing::debug!(%error, "a stream cannot be written any more");
                outbox.fail();
                source.deaf();
                return;
            }
            if buffer.capacity() > LARGE {
                buffer = Vec::new();
            }
        }
    });
}

/// A buffer that has grown beyond this is not kept.
const LARGE: usize = 1 << 20;

/// Large amounts go out in pieces, so that room is noticed while a slow reader takes its time.
const PIECE: usize = 64 << 10;

fn write(stream: &mut impl Write, lines: &[u8], outbox: &Outbox, inbox: &Inbox) -> std::io::Result<()> {
    for piece in lines.chunks(PIECE) {
        stream.write_all(piece)?;
        stream.flush()?;
        if outbox.written(piece.len()).below_mark {
            inbox.room();
        }
    }
    Ok(())
}
