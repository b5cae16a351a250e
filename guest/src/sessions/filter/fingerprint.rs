//! What a cursor remembers of the filter that it was made with.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

use super::{Agents, Archived, Filter};
use crate::search::query::Query;
use crate::storage::TextTerm;

impl Filter {
    /// A number that differs for different filters, for cursors.
    pub fn fingerprint(&self) -> u64 {
        // Taken apart, so that a field that is added does not get forgotten here.
        let Self { agents, cwd, worktrees, created_after, created_before, updated_after, search, archived, subagents } =
            self;
        let mut print = Fingerprint::default();
        match agents {
            Agents::All => print.number(0),
            Agents::Own(agent) => {
                print.number(1);
                print.text(agent);
            }
        }
        print.option(cwd.as_ref(), |print, cwd| print.text(cwd));
        for bound in [created_after, created_before, updated_after] {
            print.option(bound.as_ref(), |print, bound| print.number(bound.cast_unsigned()));
        }
        print.option(search.as_ref(), |print, Query { terms }| {
            print.list(terms, |print, TextTerm { tokens, prefix }| {
                print.list(tokens, |print, token| print.text(token));
                print.number((*prefix).into());
            });
        });
        print.number(match archived {
            Archived::Exclude => 0,
            Archived::Include => 1,
            Archived::Only => 2,
        });
        print.number((*subagents).into());
        // Which they are may change while a list is read. Without them it is as it was before there were any.
        if worktrees.is_some() {
            print.number(1);
        }
        print.0.finish()
    }
}

/// A hash over parts of which each says where it ends, so that no two sequences of them are the same bytes.
#[derive(Default)]
struct Fingerprint(SipHasher13);

impl Fingerprint {
    fn number(&mut self, number: u64) {
        self.0.write(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.write(text.as_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        self.number(value.is_some().into());
        if let Some(value) = value {
            add(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], add: impl Fn(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            add(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searching(terms: &[(&[&str], bool)]) -> Filter {
        let term = |(tokens, prefix): &(&[&str], bool)| TextTerm {
            tokens: tokens.iter().map(|token| (*token).to_owned()).collect(),
            prefix: *prefix,
        };
        Filter { search: Some(Query { terms: terms.iter().map(term).collect() }), ..Filter::default() }
    }

    #[test]
    fn every_field_counts_and_no_two_filters_run_together() {
        let own = |agent: &str| Agents::Own(agent.to_owned());
        let any = Filter::default;
        let filters = [
            any(),
            Filter { agents: own(""), ..any() },
            Filter { agents: own("a"), ..any() },
            Filter { agents: own("a/b"), ..any() },
            Filter { cwd: Some(String::new()), ..any() },
            Filter { cwd: Some("/b".to_owned()), ..any() },
            Filter { agents: own("a"), cwd: Some("/b".to_owned()), ..any() },
            Filter { created_after: Some(0), ..any() },
            Filter { created_after: Some(1), ..any() },
            Filter { created_before: Some(0), ..any() },
            Filter { updated_after: Some(0), ..any() },
            Filter { created_after: Some(0), created_before: Some(0), ..any() },
            Filter { created_after: Some(0), updated_after: Some(0), ..any() },
            Filter { archived: Archived::Include, ..any() },
            Filter { archived: Archived::Only, ..any() },
            Filter { subagents: true, ..any() },
            Filter { worktrees: Some(Vec::new()), ..any() },
            Filter { cwd: Some("/b".to_owned()), worktrees: Some(Vec::new()), ..any() },
            searching(&[]),
            searching(&[(&["a"], false)]),
            searching(&[(&["a"], true)]),
            searching(&[(&["ab"], false)]),
            searching(&[(&["a", "b"], false)]),
            searching(&[(&["a"], false), (&["b"], false)]),
            searching(&[(&["b"], false), (&["a"], false)]),
            searching(&[(&["a", "b"], false), (&["c"], false)]),
            searching(&[(&["a"], false), (&["b", "c"], false)]),
        ];
        for (at, filter) in filters.iter().enumerate() {
            assert_eq!(filter.fingerprint(), filter.clone().fingerprint());
            for other in &filters[..at] {
                assert_ne!(filter.fingerprint(), other.fingerprint(), "{filter:?} {other:?}");
            }
        }
    }
}
