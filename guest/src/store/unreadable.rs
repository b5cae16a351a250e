//! What is said of a record that cannot be read: where, and not what stands there, which is people's own and would end in logs.

use serde_json::error::Category;

use crate::storage::StorageError;

/// The error of a record that is not what it should be.
pub(super) fn unreadable(what: &str, error: &serde_json::Error) -> StorageError {
    let how = match error.classify() {
        Category::Data => "holds something else than it should",
        Category::Eof => "is cut off",
        Category::Syntax | Category::Io => "is no JSON",
    };
    StorageError::Corrupt(format!("{what} {how} (column {})", error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_what_is_unreadable_is_said() {
        for (text, how) in [
            (r#""secret""#, "holds something else than it should (column 8)"),
            (r#"[1, "secret"#, "is cut off (column 11)"),
            ("secret", "is no JSON (column 1)"),
        ] {
            let error = serde_json::from_str::<Vec<u32>>(text).expect_err("no list");
            assert_eq!(unreadable("a record", &error), StorageError::Corrupt(format!("a record {how}")));
        }
    }
}
