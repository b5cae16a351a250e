//! The documents in each form: where their links lead is in the same form, as there is nothing else beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// Opens a form and looks at all documents in it.
pub(super) fn check(form: &Path) -> Result<()> {
    let place = tempfile::tempdir().context("cannot create a folder for temporary files")?;
    open(form, place.path())?;
    check_folder(place.path()).with_context(|| form.display().to_string())
}

fn open(form: &Path, place: &Path) -> Result<()> {
    match form.extension().and_then(|ending| ending.to_str()) {
        Some("gz" | "tgz" | "crate") => workspace::run(
            Command::new("tar").args(["--extract", "--gzip", "--file"]).arg(form).arg("--directory").arg(place),
        ),
        Some("deb") => workspace::run(Command::new("dpkg-deb").arg("--extract").arg(form).arg(place)),
        Some("whl") => {
            workspace::run(Command::new("python3").args(["-m", "zipfile", "--extract"]).arg(form).arg(place))
        }
        _ => bail!("nothing is known of how to open {}", form.display()),
    }
}

/// Names every link that leads nowhere in this folder.
fn check_folder(folder: &Path) -> Result<()> {
    let mut dead = Vec::new();
    for document in Document::all(folder)? {
        let name = document.path.strip_prefix(&document.root).unwrap_or(&document.path).display();
        let links = relative(&document.text).into_iter().filter(|link| document.is_dead(link));
        dead.extend(links.map(|link| format!("{name}: {link}")));
    }
    if !dead.is_empty() {
        bail!("links that lead nowhere:\n{}", dead.join("\n"));
    }
    Ok(())
}

/// Takes the links out of all documents of a folder that lead to what is not in it, as the source tree is not. What they were
/// on stays.
pub(super) fn take_out(folder: &Path) -> Result<()> {
    for document in Document::all(folder)? {
        let text = without(&document.text, |link| document.is_dead(link));
        if text != document.text {
            workspace::write(&document.path, &text)?;
        }
    }
    Ok(())
}

/// A document in a folder.
struct Document {
    root: PathBuf,
    path: PathBuf,
    text: String,
}

impl Document {
    fn all(folder: &Path) -> Result<Vec<Self>> {
        let root = folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
        let mut paths = Vec::new();
        find(&root, &mut paths)?;
        paths.sort();
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(Self { root: root.clone(), path, text })
        };
        paths.into_iter().map(read).collect()
    }

    /// Whether a relative link leads nowhere. What is outside the folder is not in the form, even if it is on this machine.
    fn is_dead(&self, link: &str) -> bool {
        let beside = self.path.parent().unwrap_or(&self.root);
        let target = beside.join(link.split('#').next().unwrap_or_default()).canonicalize();
        !target.is_ok_and(|target| target.starts_with(&self.root))
    }
}

/// Markdown, and what a wheel has of it as its description.
fn find(folder: &Path, documents: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, documents)?;
        } else if path.extension().is_some_and(|ending| ending == "md") || path.ends_with("METADATA") {
            documents.push(path);
        }
    }
    Ok(())
}

/// The targets of inline links that are no addresses.
fn relative(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for (line, is_example) in lines(text) {
        if !is_example {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            links.extend(targets.filter(|target| is_relative(target)));
        }
    }
    links
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

/// The lines, each with its end, and whether it belongs to an example.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut is_fenced = false;
    text.split_inclusive('\n').map(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        (line, is_fenced || is_fence)
    })
}

/// The text with what these links are on in their place.
fn without(text: &str, is_dead: impl Fn(&str) -> bool) -> String {
    let mut whole = String::with_capacity(text.len());
    for (line, is_example) in lines(text) {
        let mut rest = line;
        while !is_example
            && let Some((before, behind)) = rest.split_once("](")
            && let Some((target, after)) = behind.split_once(')')
        {
            match before.rsplit_once('[') {
                Some((before, on)) if is_relative(target) && is_dead(target) => whole.extend([before, on]),
                _ => whole.extend([before, "](", target, ")"]),
            }
            rest = after;
        }
        whole.push_str(rest);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::super::staged::DOCUMENTS;
    use super::{check_folder, relative, take_out, without};
    use crate::workspace;

    #[test]
    fn links_of_the_documents_lead_to_documents() {
        let place = tempfile::tempdir().expect("a folder");
        for name in DOCUMENTS {
            workspace::copy(&workspace::root().join(name), &place.path().join(name), &[]).expect("a copy");
        }
        take_out(place.path()).expect("documents that can be written");
        check_folder(place.path()).expect("links that lead somewhere");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named() {
        let place = tempfile::tempdir().expect("a folder");
        workspace::write(&place.path().join("a.md"), "[b](b.md#x) [c](../c.md) [a](a.md#y)").expect("a file");
        let failed = check_folder(place.path()).expect_err("two links").to_string();
        assert_eq!(failed, "links that lead nowhere:\na.md: b.md#x\na.md: ../c.md");
    }

    #[test]
    fn what_a_link_was_on_stays_where_it_led_nowhere() {
        let text = "See [`a`](a.rs), [b](b.md) and\n```\n[c](a.rs)\n```\n([d](a.rs)).\n";
        assert_eq!(without(text, |link| link == "a.rs"), "See `a`, [b](b.md) and\n```\n[c](a.rs)\n```\n(d).\n");
    }

    #[test]
    fn addresses_and_examples_are_no_relative_links() {
        assert_eq!(relative("[a](https://a.org)\n```\n[b](b)\n```\n[`c`](c#d)"), ["c#d"]);
    }
}
