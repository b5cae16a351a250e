//! What an agent says of a session when it has answered that it has it open, and the client does not have it yet: the rest of the
//! history is still on its way, or what was set is still being put back.

/// How much of it waits, in bytes.
const MOST: usize = 16 * 1024 * 1024;

/// The lines that wait for the session to be open.
#[derive(Debug, Default)]
pub(super) struct BehindAnswer {
    lines: Vec<String>,
    length: usize,
    /// Some did not find room.
    is_full: bool,
}

impl BehindAnswer {
    /// Says whether this is the first that does not find room.
    pub(super) fn push(&mut self, line: &str) -> bool {
        let has_room = self.length + line.len() <= MOST;
        if has_room {
            self.length += line.len();
            self.lines.push(line.to_owned());
        }
        !has_room && !std::mem::replace(&mut self.is_full, true)
    }

    /// All that wait; none does then.
    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(self).lines
    }
}
