//! Working directories: absolute in the syntax of any platform, equal after normalising.
//!
//! The agent's machine need not be the engine's, so the syntax decides, not the platform
//! (protocol v2, `session/list`: "the native syntax of the agent's machine").

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
    fn normalising_twice_changes_nothing() {
        for path in ["/a/../b//", "c:/x/y/", "\\\\s\\s2\\z\\"] {
            let once = normalise(path).unwrap();
            assert_eq!(normalise(&once).as_deref(), Some(once.as_str()));
        }
    }
}
