//! What a checkup has found, gathered by what it is.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde_json::{Value, json};

use super::super::printable::{Form, Out, printable};
use crate::component::sessions::{Finding, Mending};

/// How many are named of each kind.
const NAMED: usize = 100;
/// How many of these for people.
const SHOWN: usize = 5;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By what is wrong and whether it has been put right.
    kinds: BTreeMap<(String, bool), Kind>,
}

/// What was found of one kind.
#[derive(Debug)]
struct Kind {
    count: u64,
    subjects: Vec<String>,
    remedy: Mending,
}

impl Found {
    pub(super) fn add(&mut self, finding: Finding) {
        let Finding { what, subject, remedy, mended } = finding;
        let kind = self.kinds.entry((what, mended)).or_insert_with(|| Kind { count: 0, subjects: Vec::new(), remedy });
        kind.count += 1;
        if kind.subjects.len() < NAMED && !kind.subjects.contains(&subject) {
            kind.subjects.push(subject);
        }
    }

    /// Whether anything is wrong still.
    pub(super) fn is_any_left(&self) -> bool {
        self.of(false).next().is_some()
    }

    /// Whether anything was put right.
    pub(super) fn is_any_mended(&self) -> bool {
        self.of(true).next().is_some()
    }

    /// Whether anything is wrong still that so much mending would put right.
    pub(super) fn needs(&self, mending: Mending) -> bool {
        self.of(false).any(|(_, kind)| kind.remedy == mending)
    }

    fn of(&self, mended: bool) -> impl Iterator<Item = (&str, &Kind)> {
        let of = self.kinds.iter().filter(move |((_, is_mended), _)| *is_mended == mended);
        of.map(|((what, _), kind)| (what.as_str(), kind))
    }

    /// Of what was put right, all but what follows from the rest.
    pub(super) fn only_lost(mut self) -> Self {
        self.kinds.retain(|_, kind| kind.remedy == Mending::Everything);
        self
    }

    /// Prints what was put right, or what was not.
    pub(super) fn print(&self, mended: bool, out: &mut Out) -> anyhow::Result<()> {
        for (what, kind) in self.of(mended) {
            let shown = kind.subjects.iter().take(SHOWN).map(|subject| printable(subject, Form::Line).to_string());
            let mut shown: Vec<String> = shown.collect();
            if kind.subjects.len() > SHOWN {
                shown.push("…".to_owned());
            }
            writeln!(out, "  {what}: {} ({})", kind.count, shown.join("; "))?;
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Value {
        let remedy = |remedy| match remedy {
            Mending::Nothing => "none",
            Mending::Derived => "rebuild",
            Mending::Everything => "salvage",
        };
        let kind = |((what, mended), kind): (&(String, bool), &Kind)| json!({ "what": what, "count": kind.count, "of": kind.subjects, "remedy": remedy(kind.remedy), "mended": mended });
        self.kinds.iter().map(kind).collect()
    }
}
