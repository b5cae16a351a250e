//! What strace prints of system calls, read back.

use std::collections::HashMap;
use std::fmt;

/// Calls that change files, or tell somebody something.
pub(super) const CALLS: &str = "trace=write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fallocate,fsync,fdatasync,\
    sync_file_range,unlink,unlinkat,rename,renameat,renameat2,open,openat";

/// A call that has succeeded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    /// The path of its first argument, where that is an open file.
    pub(super) file: Option<String>,
    /// The texts among its arguments.
    pub(super) texts: Vec<Vec<u8>>,
    /// The numbers among its arguments.
    pub(super) numbers: Vec<u64>,
    /// Its flags and whatever else is written as words.
    pub(super) words: String,
    /// What it returned.
    pub(super) result: usize,
}

/// A line that is not as it was thought.
#[derive(Debug)]
pub(super) struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "strace printed what cannot be read: {}", self.0)
    }
}

/// Reads all of it. A call stands where it began, but for one that waits for the disk, which stands where it ended.
pub(super) fn read(text: &str) -> Result<Vec<Call>, Unreadable> {
    let mut calls: Vec<Option<Call>> = Vec::new();
    // Of each thread the call that it is in, and its place.
    let mut begun: HashMap<&str, (String, usize)> = HashMap::new();
    for line in text.lines() {
        let unreadable = || Unreadable(line.chars().take(200).collect());
        let (thread, rest) = line.split_once(' ').ok_or_else(unreadable)?;
        let rest = rest.trim_start();
        // Of a thread that ended before strace had asked what it was at, it says no more than that.
        if rest.starts_with("+++") || rest.starts_with("---") || rest.starts_with("???(") {
            continue;
        }
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, (start.to_owned(), calls.len()));
            calls.push(None);
        } else if let Some(resumed) = rest.strip_prefix("<... ") {
            let (_, end) = resumed.split_once(" resumed>").ok_or_else(unreadable)?;
            let (start, place) = begun.remove(thread).ok_or_else(unreadable)?;
            let call = call(&(start + end)).ok_or_else(unreadable)?;
            if call.as_ref().is_some_and(|call| call.name.contains("sync")) {
                calls.push(call);
            } else {
                calls[place] = call;
            }
        } else {
            calls.push(call(rest).ok_or_else(unreadable)?);
        }
    }
    Ok(calls.into_iter().flatten().collect())
}

/// One call; nothing for one that failed, or whose thread ended in it.
#[expect(clippy::option_option, reason = "the outer one says whether it could be read")]
fn call(text: &str) -> Option<Option<Call>> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result = result.split(['<', ' ']).next()?;
    let Ok(result) = result.parse::<usize>() else { return Some(None) };
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let (mut texts, mut words) = (Vec::new(), String::new());
    for (nth, part) in arguments.split('"').enumerate() {
        if nth % 2 == 1 {
            texts.push(bytes(part)?);
        } else if part.starts_with("...") {
            // It was cut off.
            return None;
        } else {
            words.push_str(part);
        }
    }
    let mut file = None;
    if let Some((number, behind)) = words.split_once('<')
        && number.parse::<u32>().is_ok()
        && let Some((path, behind)) = behind.split_once('>')
    {
        let is_there = !behind.starts_with("(deleted)");
        file = is_there.then(|| bytes(path)).flatten().and_then(|path| String::from_utf8(path).ok());
        words = behind.to_owned();
    }
    let numbers = words.split([',', ' ']).filter_map(|word| word.parse().ok()).collect();
    Some(Some(Call { name: name.to_owned(), file, texts, numbers, words, result }))
}

/// Bytes that are all written as `\x00`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    text.as_bytes()
        .chunks(4)
        .map(|byte| {
            let digits = byte.strip_prefix(b"\\x")?;
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        read(text).unwrap_or_else(|error| panic!("{error}")).into_iter().map(|call| call.name).collect()
    }

    #[test]
    fn a_write_has_its_file_its_bytes_and_its_place() {
        let calls =
            read("8 pwrite64(13<\\x2f\\x61>, \"\\x00\\xff\", 2, 4152) = 2\n").unwrap_or_else(|error| panic!("{error}"));
        let [call] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!(
            (call.file.as_deref(), &call.texts, &call.numbers[..]),
            (Some("/a"), &vec![vec![0, 255]], &[2, 4152][..])
        );
        assert_eq!(call.result, 2);
    }

    #[test]
    fn calls_of_several_threads_stand_where_they_began_and_syncs_where_they_ended() {
        let text = "1 fdatasync(3<\\x61> <unfinished ...>\n2 pwrite64(4<\\x62>, \"\\x00\", 1, 0 <unfinished ...>\n\
            3 ftruncate(3<\\x61>, 5) = 0\n2 <... pwrite64 resumed>) = 1\n1 <... fdatasync resumed>) = 0\n";
        assert_eq!(names(text), ["pwrite64", "ftruncate", "fdatasync"]);
    }

    #[test]
    fn what_failed_has_not_happened_and_what_was_cut_off_is_refused() {
        assert_eq!(names("1 write(3<\\x61>, \"\\x00\", 1) = -1 EAGAIN (Resource temporarily unavailable)\n"), [""; 0]);
        assert_eq!(names("1 +++ exited with 0 +++\n1 --- SIGTERM {si_signo=SIGTERM} ---\n"), [""; 0]);
        assert_eq!(names("1 ???( <detached ...>\n"), [""; 0]);
        assert!(read("1 write(3<\\x61>, \"\\x00\"..., 7) = 7\n").is_err());
        assert!(read("what is this\n").is_err());
    }
}
