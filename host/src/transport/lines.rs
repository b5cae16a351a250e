//! Cuts a stream of bytes into lines, without ever holding more than the longest one allowed.

use crate::component::connection::Content;

/// Of a line that is too long, this much is kept of its beginning, to say which it was.
pub const HEAD: usize = 4096;
/// And this much of its end, for an id that stands there.
pub const TAIL: usize = 1024;

/// Collects the lines of one stream.
#[derive(Debug)]
pub struct Lines {
    /// The longest line that is kept, in bytes.
    limit: usize,
    /// What has come of the current line; only its head once it is over the limit.
    partial: Vec<u8>,
    /// The current line is over the limit: the rest of it is passed over.
    too_long: bool,
    /// The end of that rest, as far as it has come.
    tail: Vec<u8>,
}

impl Lines {
    /// For a stream whose lines may have up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), too_long: false, tail: Vec::new() }
    }

    /// Takes the next bytes of the stream and adds the lines that they complete.
    pub fn push(&mut self, mut bytes: &[u8], complete: &mut Vec<Content>) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (rest, next) = (&bytes[..end], &bytes[end + 1..]);
            if self.partial.is_empty() && !self.too_long && rest.len() <= self.limit {
                complete.extend(whole(rest.to_vec(), self.limit));
            } else {
                self.extend(rest);
                complete.extend(self.take());
            }
            bytes = next;
        }
        self.extend(bytes);
    }

    /// The stream has ended: gives what came after the last line end, if anything did.
    pub fn finish(&mut self) -> Option<Content> {
        self.take()
    }

    fn extend(&mut self, bytes: &[u8]) {
        // A carriage return before the line end does not count, and may be the last byte so far.
        if !self.too_long && self.partial.len() + bytes.len() <= self.limit + 1 {
            self.partial.extend_from_slice(bytes);
            return;
        }
        if !self.too_long {
            self.too_long = true;
            self.tail.extend_from_slice(split(&self.partial).1);
            self.partial.truncate(HEAD);
            self.partial.shrink_to_fit();
        }
        let (head, rest) = bytes.split_at((HEAD - self.partial.len()).min(bytes.len()));
        self.partial.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend_from_slice(rest);
    }

    fn take(&mut self) -> Option<Content> {
        let (line, tail) = (std::mem::take(&mut self.partial), std::mem::take(&mut self.tail));
        if std::mem::take(&mut self.too_long) {
            return Some(too_long(&line, &tail));
        }
        if line.len() > self.limit && line.last() != Some(&b'\r') {
            let (head, tail) = split(&line);
            return Some(too_long(head, tail));
        }
        whole(line, self.limit)
    }
}

/// A line within the limit; nothing for a blank one.
fn whole(mut line: Vec<u8>, limit: usize) -> Option<Content> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    Some(String::from_utf8(line).map_or_else(|error| not_text(&error.into_bytes(), limit), Content::Line))
}

/// A line that is not UTF-8, as well as it can be read; where that is over the limit, as much as of one that is too long.
fn not_text(line: &[u8], limit: usize) -> Content {
    let text = String::from_utf8_lossy(line);
    Content::NotText(if text.len() <= limit { text.into_owned() } else { without_middle(line) })
}

/// The beginning of a line and its end, as well as they can be read; all of it where it is no longer than what is kept of one
/// that is too long.
pub fn without_middle(line: &[u8]) -> String {
    let (head, tail) = split(line);
    joined(&String::from_utf8_lossy(head), tail)
}

/// What is kept of a line at its beginning, and at its end behind that.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let (head, rest) = line.split_at(line.len().min(HEAD));
    (head, &rest[rest.len().saturating_sub(TAIL)..])
}

/// A line over the limit: its beginning up to the last whole character, and its end.
fn too_long(head: &[u8], tail: &[u8]) -> Content {
    let text = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    Content::TooLong(joined(text, tail))
}

/// What lacks its middle has a line feed there, which no line has.
fn joined(head: &str, tail: &[u8]) -> String {
    if tail.is_empty() { head.to_owned() } else { format!("{head}\n{}", String::from_utf8_lossy(tail)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Content {
        Content::Line(text.to_owned())
    }

    /// Feeds a stream in chunks of each size, which must make no difference.
    fn cut(limit: usize, stream: &[u8]) -> Vec<Content> {
        let mut results = (1..=stream.len().clamp(1, 40)).map(|size| {
            let mut lines = Lines::new(limit);
            let mut complete = Vec::new();
            for chunk in stream.chunks(size) {
                lines.push(chunk, &mut complete);
            }
            complete.extend(lines.finish());
            complete
        });
        let first = results.next().unwrap_or_default();
        for other in results {
            assert_eq!(other, first);
        }
        first
    }

    #[test]
    fn lines_end_at_line_feeds_with_or_without_carriage_returns() {
        assert_eq!(cut(100, b"{\"a\":1}\n{\"b\":2}\r\n"), [line("{\"a\":1}"), line("{\"b\":2}")]);
        assert_eq!(cut(100, "ä\né€𝄞\n".as_bytes()), [line("ä"), line("é€𝄞")]);
    }

    #[test]
    fn the_last_line_needs_no_end() {
        assert_eq!(cut(100, b"a\nb"), [line("a"), line("b")]);
        assert_eq!(cut(100, b""), []);
    }

    #[test]
    fn blank_lines_are_passed_over() {
        assert_eq!(cut(100, b"\n\r\n  \n\ta\n\n"), [line("\ta")]);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit() {
        assert_eq!(cut(4, b"abcd\nabcd\r\nabcd"), [line("abcd"), line("abcd"), line("abcd")]);
        assert_eq!(
            cut(4, b"abcde\nok\nabcde\r\nabcd\rx\nabcde"),
            [
                Content::TooLong("abcde".into()),
                line("ok"),
                Content::TooLong("abcde\r".into()),
                Content::TooLong("abcd\rx".into()),
                Content::TooLong("abcde".into()),
            ]
        );
    }

    /// A line of which only the beginning and the end are there.
    fn shortened(head: &str, tail: &str) -> Content {
        Content::TooLong(format!("{head}\n{tail}"))
    }

    #[test]
    fn of_a_longer_line_only_the_head_and_the_end_are_kept() {
        let mut lines = Lines::new(10_000);
        let mut complete = Vec::new();
        for _ in 0..1000 {
            lines.push(&[b'x'; 1000], &mut complete);
            assert!(lines.partial.capacity() <= 32_768 && lines.tail.capacity() <= 4096);
        }
        lines.push(b"y\nnext\n", &mut complete);
        assert_eq!(complete, [shortened(&"x".repeat(HEAD), &format!("{}y", "x".repeat(TAIL - 1))), line("next")]);
    }

    #[test]
    fn the_end_is_what_stands_behind_the_head() {
        for (behind, limit) in
            [(0, 100), (1, 100), (TAIL - 1, HEAD), (TAIL, 5), (TAIL + 1, HEAD + 7), (9000, HEAD + 3000)]
        {
            let text = format!("{}{}", "h".repeat(HEAD), "0123456789".repeat(900).get(..behind).unwrap_or_default());
            let (head, rest) = text.split_at(HEAD);
            let tail = &rest[rest.len().saturating_sub(TAIL)..];
            let expected = if tail.is_empty() { Content::TooLong(head.to_owned()) } else { shortened(head, tail) };
            for size in [1, 7, 1000, 4097, 5000, 20_000] {
                let (mut lines, mut complete) = (Lines::new(limit), Vec::new());
                for chunk in format!("{text}\nnext\n").as_bytes().chunks(size) {
                    lines.push(chunk, &mut complete);
                }
                assert_eq!(complete, [expected.clone(), line("next")], "{behind} {limit} {size}");
            }
        }
    }

    #[test]
    fn a_head_ends_at_a_whole_character() {
        let stream = format!("x{}x\n", "€".repeat(5000));
        let mut complete = Vec::new();
        Lines::new(8000).push(stream.as_bytes(), &mut complete);
        let head = format!("x{}", "€".repeat((HEAD - 1) / 3));
        assert_eq!(complete, [shortened(&head, &format!("{}x", "€".repeat(TAIL / 3)))]);
    }

    #[test]
    fn bytes_that_are_not_text_are_said_to_be_so() {
        let not_text = |text: &str| Content::NotText(text.to_owned());
        assert_eq!(cut(100, b"\xff\xfe\nok\n"), [not_text("\u{fffd}\u{fffd}"), line("ok")]);
        assert_eq!(cut(100, b"{\"id\":3,\"x\":\"\xff\"}\r\n"), [not_text("{\"id\":3,\"x\":\"\u{fffd}\"}")]);
    }

    #[test]
    fn a_line_that_would_be_too_long_as_text_keeps_its_head_and_its_end() {
        let mut complete = Vec::new();
        Lines::new(10_000).push(&[&[0xff; 10_000][..], b"\n"].concat(), &mut complete);
        let (head, tail) = ("\u{fffd}".repeat(HEAD), "\u{fffd}".repeat(TAIL));
        assert_eq!(complete, [Content::NotText(format!("{head}\n{tail}"))]);
    }
}
