//! Working directories: absolute in the syntax of any platform, equal after normalising.
//!
//! The agent's machine need not be the engine's, so the syntax decides, not the platform
//! (protocol v2, `session/list`: "the native syntax of the agent's machine").

use std::collections::BTreeSet;

/// The directory in its one spelling: no trailing, doubled or foreign separators, no `.` or `..`, the drive letter
/// in upper case. `None` where the path is not absolute.
pub fn normalise(path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    match bytes {
        [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic() => {
            let root = format!("{}:\\", char::from(drive.to_ascii_uppercase()));
            Some(join(root, &path[3..], '\\', |c| c == '\\' || c == '/', 0))
        }
        // `\\server\share`: neither of the two can be left by `..`.
        [b'\\', b'\\', ..] => Some(join("\\\\".to_owned(), &path[2..], '\\', |c| c == '\\' || c == '/', 2)),
        [b'/', ..] => Some(join("/".to_owned(), path, '/', |c| c == '/', 0)),
        _ => None,
    }
}

/// What of a directory is below a folder, or empty where it is that folder; both normalised.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    let separator = separator_of(folder);
    // A root ends in a separator, and nothing else does.
    if rest.is_empty() || folder.ends_with(separator) { Some(rest) } else { rest.strip_prefix(separator) }
}

fn separator_of(path: &str) -> &'static str {
    if path.starts_with('/') { "/" } else { "\\" }
}

/// Where a directory is once the folder `old` has become `new`, if it is that folder or below it. All are normalised.
pub fn moved(path: &str, old: &str, new: &str) -> Option<String> {
    let rest = below(path, old)?;
    if rest.is_empty() {
        return Some(new.to_owned());
    }
    let separator = separator_of(new);
    let rest = rest.replace(separator_of(old), separator);
    let separator = if new.ends_with(separator) { "" } else { separator };
    Some(format!("{new}{separator}{rest}"))
}

/// The directory that is so many levels above another one (normalised), if there are as many.
pub fn above(path: &str, levels: u32) -> Option<String> {
    let mut above = path.to_owned();
    for _ in 0..levels {
        let parent = normalise(&format!("{above}{}..", separator_of(&above)))?;
        above = Some(parent).filter(|parent| parent.len() < above.len())?;
    }
    Some(above)
}

/// How many levels a directory is below a folder; none where it is not in it. Both are normalised.
pub fn levels(path: &str, folder: &str) -> Option<u32> {
    let names = below(path, folder)?.split(separator_of(folder)).filter(|name| !name.is_empty());
    u32::try_from(names.count()).ok()
}

/// Whether a directory is a folder or below it; both normalised.
pub fn is_in(path: &str, folder: &str) -> bool {
    below(path, folder).is_some()
}

/// Whether a path is another directory than one that is known. Another spelling is no other directory, nor is what is none.
pub fn is_other(path: &str, known: &str) -> bool {
    let wanted = normalise(path);
    wanted.is_some() && wanted != normalise(known)
}

/// Whether these are the same directories, in whatever order and spelling.
pub fn are_same(some: &[String], others: &[String]) -> bool {
    let spelt = |paths: &[String]| -> BTreeSet<String> {
        paths.iter().map(|path| normalise(path).unwrap_or_else(|| path.clone())).collect()
    };
    spelt(some) == spelt(others)
}

fn join(root: String, rest: &str, separator: char, is_separator: fn(char) -> bool, fixed: usize) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split(is_separator) {
        match part {
            "" | "." => {}
            ".." => {
                if parts.len() > fixed {
                    parts.pop();
                }
            }
            part => parts.push(part),
        }
    }
    let mut path = root;
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            path.push(separator);
        }
        path.push_str(part);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_each_directory() {
        for (path, expected) in [
            ("/", Some("/")),
            ("/home/x", Some("/home/x")),
            ("/home/x/", Some("/home/x")),
            ("//home///x/./y/..", Some("/home/x")),
            ("/../..", Some("/")),
            ("/a\\b", Some("/a\\b")),
            ("c:\\Users\\x\\", Some("C:\\Users\\x")),
            ("C:/Users//x/../y", Some("C:\\Users\\y")),
            ("C:\\", Some("C:\\")),
            ("\\\\server\\share\\", Some("\\\\server\\share")),
            ("\\\\server\\share\\..\\..\\x", Some("\\\\server\\share\\x")),
            ("home", None),
            ("./x", None),
            ("", None),
            ("C:x", None),
            ("~/x", None),
        ] {
            assert_eq!(normalise(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_that_moves_takes_along_what_is_below_it() {
        for (path, old, new, expected) in [
            ("/home/x", "/home/x", "/srv/x", Some("/srv/x")),
            ("/home/x/a/b", "/home/x", "/srv", Some("/srv/a/b")),
            ("/home/xy", "/home/x", "/srv", None),
            ("/home", "/home/x", "/srv", None),
            ("/HOME/x", "/home", "/srv", None),
            ("/home/x", "/", "/mnt", Some("/mnt/home/x")),
            ("/", "/", "/mnt", Some("/mnt")),
            ("/mnt/home/x", "/mnt", "/", Some("/home/x")),
            ("/mnt", "/mnt", "/", Some("/")),
            ("/проекты/東京/a", "/проекты/東京", "/é", Some("/é/a")),
            ("C:\\work\\sub", "C:\\work", "D:\\", Some("D:\\sub")),
            ("C:\\work\\sub", "C:\\", "D:\\old", Some("D:\\old\\work\\sub")),
            ("C:\\works", "C:\\work", "D:\\", None),
            ("C:\\work\\a\\b", "C:\\work", "/mnt/c", Some("/mnt/c/a/b")),
            ("/mnt/c/a/b", "/mnt/c", "\\\\server\\share", Some("\\\\server\\share\\a\\b")),
            ("\\\\server\\share\\a", "\\\\server\\share", "C:\\", Some("C:\\a")),
            ("\\\\server\\shared", "\\\\server\\share", "C:\\", None),
        ] {
            for path in [path, old, new] {
                assert_eq!(normalise(path).as_deref(), Some(path));
            }
            let moved = moved(path, old, new);
            assert_eq!(moved.as_deref(), expected, "{path}");
            assert!(moved.is_none_or(|moved| normalise(&moved).as_ref() == Some(&moved)), "{path}");
        }
    }

    #[test]
    fn what_is_above_a_directory_ends_at_its_root() {
        for (path, levels, expected) in [
            ("/home/x", 0, Some("/home/x")),
            ("/home/x", 1, Some("/home")),
            ("/home/x", 2, Some("/")),
            ("/home/x", 3, None),
            ("C:\\work\\sub", 2, Some("C:\\")),
            ("C:\\work", 2, None),
            ("\\\\server\\share\\a", 1, Some("\\\\server\\share")),
            ("\\\\server\\share\\a", 2, None),
        ] {
            assert_eq!(above(path, levels).as_deref(), expected, "{path} {levels}");
        }
    }

    #[test]
    fn levels_are_told_as_they_are_gone_up() {
        for (path, folder, expected) in [
            ("/home/x", "/home/x", Some(0)),
            ("/home/x/a/b", "/home", Some(3)),
            ("/home/x", "/", Some(2)),
            ("/", "/", Some(0)),
            ("/home/xy", "/home/x", None),
            ("C:\\work\\sub", "C:\\", Some(2)),
            ("\\\\server\\share\\a", "\\\\server\\share", Some(1)),
        ] {
            assert_eq!(levels(path, folder), expected, "{path} {folder}");
            assert!(expected.is_none_or(|levels| above(path, levels).as_deref() == Some(folder)), "{path} {folder}");
        }
    }

    #[test]
    fn normalising_twice_changes_nothing() {
        for path in ["/a/../b//", "c:/x/y/", "\\\\s\\s2\\z\\"] {
            let once = normalise(path).unwrap();
            assert_eq!(normalise(&once).as_deref(), Some(once.as_str()));
        }
    }
}
