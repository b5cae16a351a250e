//! What the host's reader makes of a stream, in whatever pieces it comes: the lines that are in it by the protocol's rule,
//! those that are too long or no text told apart, and no more of any than is allowed.

#![no_main]

use acp_sessions_fuzz::bytes::Bytes;
use libfuzzer_sys::fuzz_target;

use component::connection::Content;
use lines::{HEAD, Lines, TAIL};

/// Where the host has what a line may be: here as it is there, since the host itself is no part of this.
mod component {
    pub(crate) mod connection {
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Content {
            Line(String),
            TooLong(String),
            NotText(String),
        }
    }
}
#[path = "../../../host/src/transport/lines.rs"]
mod lines;

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes::new(data);
    // Some limits are less than what is kept of a line that is too long, some more.
    let limit = usize::from(bytes.next()) << (bytes.next() % 6);
    let repeated = usize::from(bytes.next());
    let pieces: Vec<usize> = (0..4).map(|_| 1 + usize::from(bytes.next())).collect();
    let stream = lengthened(bytes.rest(), repeated);
    let mut lines = Lines::new(limit);
    let (mut read, mut left) = (Vec::new(), &stream[..]);
    for piece in pieces.iter().cycle() {
        let (now, later) = left.split_at((*piece).min(left.len()));
        lines.push(now, &mut read);
        left = later;
        if left.is_empty() {
            break;
        }
    }
    read.extend(lines.finish());
    let expected: Vec<Content> = stream.split(|byte| *byte == b'\n').filter_map(|line| content(line, limit)).collect();
    assert_eq!(read, expected);
    for content in &read {
        let (Content::Line(text) | Content::TooLong(text) | Content::NotText(text)) = content;
        // Each byte that is no text may become three, and a line feed parts what is left of a line.
        assert!(text.len() <= limit.max(3 * (HEAD + TAIL) + 1));
    }
});

/// The stream with its middle several times over, so that long lines come of short inputs.
fn lengthened(stream: &[u8], times: usize) -> Vec<u8> {
    let third = stream.len() / 3;
    let (begin, rest) = stream.split_at(third);
    let (middle, end) = rest.split_at(third);
    [begin, &middle.repeat(times), end].concat()
}

/// What is between two line ends, by the rule itself.
fn content(line: &[u8], limit: usize) -> Option<Content> {
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    if text.len() > limit {
        let (beginning, end) = ends(line);
        let whole = beginning.utf8_chunks().next().map(|chunk| chunk.valid().to_owned());
        return Some(Content::TooLong(whole.unwrap_or_default() + &end));
    }
    if text.trim_ascii().is_empty() {
        return None;
    }
    Some(match std::str::from_utf8(text) {
        Ok(text) => Content::Line(text.to_owned()),
        Err(_) => {
            let lossy = String::from_utf8_lossy(text);
            let is_short = lossy.len() <= limit;
            let (beginning, end) = ends(text);
            let kept = if is_short { lossy.into_owned() } else { String::from_utf8_lossy(beginning).into_owned() + &end };
            Content::NotText(kept)
        }
    })
}

/// The beginning of a line, and what stands at its end behind that, with the line feed that goes before it.
fn ends(line: &[u8]) -> (&[u8], String) {
    let middle = line.len().min(HEAD)..line.len().saturating_sub(TAIL).max(line.len().min(HEAD));
    let end = String::from_utf8_lossy(&line[middle.end..]);
    (&line[..middle.start], if end.is_empty() { String::new() } else { format!("\n{end}") })
}
