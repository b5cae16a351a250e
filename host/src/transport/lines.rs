//! Cuts a stream of bytes into lines, without ever holding more than the longest one allowed.

use crate::component::connection::Content;

/// Of a line that is too long, this much is kept, to say which it was.
pub const HEAD: usize = 4096;

/// Collects the lines of one stream.
#[derive(Debug)]
pub struct Lines {
    /// The longest line that is kept, in bytes.
    limit: usize,
    /// What has come of the current line; only its head once it is over the limit.
    partial: Vec<u8>,
    /// The current line is over the limit: the rest of it is passed over.
    too_long: bool,
}

impl Lines {
    /// For a stream whose lines may have up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), too_long: false }
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
        let missing = HEAD.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..missing]);
        if !self.too_long {
            self.too_long = true;
            self.partial.truncate(HEAD);
            self.partial.shrink_to_fit();
        }
    }

    fn take(&mut self) -> Option<Content> {
        let line = std::mem::take(&mut self.partial);
        let over = line.len() > self.limit && line.last() != Some(&b'\r');
        if std::mem::take(&mut self.too_long) || over { Some(head(line)) } else { whole(line, self.limit) }
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
    Content::NotText(if text.len() <= limit {
        text.into_owned()
    } else {
        String::from_utf8_lossy(&line[..line.len().min(HEAD)]).into_owned()
    })
}

/// The beginning of a line over the limit, up to the last whole character.
fn head(mut line: Vec<u8>) -> Content {
    line.truncate(HEAD);
    match String::from_utf8(line) {
        Ok(head) => Content::TooLong(head),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut line = error.into_bytes();
            line.truncate(valid);
            Content::TooLong(String::from_utf8(line).unwrap_or_default())
        }
    }
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

    #[test]
    fn of_a_longer_line_only_the_head_is_kept() {
        let mut lines = Lines::new(10_000);
        let mut complete = Vec::new();
        for _ in 0..1000 {
            lines.push(&[b'x'; 1000], &mut complete);
            assert!(lines.partial.capacity() <= 32_768);
        }
        lines.push(b"\nnext\n", &mut complete);
        assert_eq!(complete, [Content::TooLong("x".repeat(HEAD)), line("next")]);
    }

    #[test]
    fn a_head_ends_at_a_whole_character() {
        let stream = format!("x{}\n", "€".repeat(5000));
        let mut complete = Vec::new();
        Lines::new(8000).push(stream.as_bytes(), &mut complete);
        assert_eq!(complete, [Content::TooLong(format!("x{}", "€".repeat((HEAD - 1) / 3)))]);
    }

    #[test]
    fn bytes_that_are_not_text_are_said_to_be_so() {
        let not_text = |text: &str| Content::NotText(text.to_owned());
        assert_eq!(cut(100, b"\xff\xfe\nok\n"), [not_text("\u{fffd}\u{fffd}"), line("ok")]);
        assert_eq!(cut(100, b"{\"id\":3,\"x\":\"\xff\"}\r\n"), [not_text("{\"id\":3,\"x\":\"\u{fffd}\"}")]);
    }

    #[test]
    fn a_line_that_would_be_too_long_as_text_keeps_its_head() {
        let mut complete = Vec::new();
        Lines::new(10_000).push(&[&[0xff; 10_000][..], b"\n"].concat(), &mut complete);
        assert_eq!(complete, [Content::NotText("\u{fffd}".repeat(HEAD))]);
    }
}
