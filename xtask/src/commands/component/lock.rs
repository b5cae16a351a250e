//! The checksums in `Cargo.lock`.

use std::collections::BTreeMap;

/// The checksum of each package from a registry, by its name and version.
#[derive(Debug)]
pub(super) struct Lock(BTreeMap<(String, String), String>);

impl Lock {
    /// Reads it as cargo writes it: a table for each package, a line for each of its values.
    pub(super) fn read(text: &str) -> Self {
        let sums = text.split("[[package]]").filter_map(|package| {
            let value = |key: &str| {
                let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
                Some(line.strip_suffix('"')?.to_owned())
            };
            Some(((value("name")?, value("version")?), value("checksum")?))
        });
        Self(sums.collect())
    }

    /// The SHA-256 of a package, as it is in the registry.
    pub(super) fn checksum(&self, name: &str, version: &str) -> Option<&str> {
        self.0.get(&(name.to_owned(), version.to_owned())).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_registry_have_a_checksum_and_our_own_have_none() {
        let lock = Lock::read(
            "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"theirs\"\nversion = \"2.0.0\"\n\
             source = \"registry\"\nchecksum = \"abcd\"\ndependencies = [\n \"other\",\n]\n",
        );
        assert_eq!(lock.checksum("theirs", "2.0.0"), Some("abcd"));
        assert_eq!((lock.checksum("theirs", "2.0.1"), lock.checksum("ours", "0.1.0")), (None, None));
    }
}
