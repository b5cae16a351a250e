//! What a cursor remembers of the filter that it was made with.

use super::{Agents, Archived, Filter};
use crate::search::query::Query;
use crate::sessions::fingerprint::Fingerprint;
use crate::storage::TextTerm;

impl Filter {
    /// A number that differs for different filters, for cursors.
    pub fn fingerprint(&self) -> u64 {
        // Taken apart, so that a field that is added does not get forgotten here.
        let Self { agents, cwds, worktrees, created_after, created_before, updated_after, search, archived, subagents } =
            self;
        let mut print = Fingerprint::default();
        match agents {
            Agents::All => print.number(0),
            Agents::Own(agent) => {
                print.number(1);
                print.text(agent);
            }
        }
        print.option(cwds.first(), |print, cwd| print.text(cwd));
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
        // Likewise of several directories.
        if let [_, others @ ..] = &cwds[..]
            && !others.is_empty()
        {
            print.number(2);
            print.list(others, |print, cwd| print.text(cwd));
        }
        print.finish()
    }

    /// A number that differs for different directories, for whoever follows a list with worktrees; none where there are no
    /// worktrees to ask for.
    pub fn worktrees_fingerprint(&self) -> Option<u64> {
        let ([_, ..], Some(worktrees)) = (&self.cwds[..], &self.worktrees) else { return None };
        let mut print = Fingerprint::default();
        self.cwds.iter().for_each(|cwd| print.text(cwd));
        print.list(worktrees, |print, path| print.text(path));
        Some(print.finish())
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
            Filter { cwds: vec![String::new()], ..any() },
            Filter { cwds: vec!["/b".to_owned()], ..any() },
            Filter { agents: own("a"), cwds: vec!["/b".to_owned()], ..any() },
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
            Filter { cwds: vec!["/b".to_owned()], worktrees: Some(Vec::new()), ..any() },
            Filter { cwds: vec!["/b".to_owned(), "/c".to_owned()], ..any() },
            Filter { cwds: vec!["/b".to_owned(), "/c".to_owned()], worktrees: Some(Vec::new()), ..any() },
            Filter { cwds: vec!["/b".to_owned(), "/c".to_owned(), "/d".to_owned()], ..any() },
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

    #[test]
    fn directories_count_where_worktrees_are_asked_for() {
        let of = |cwd: Option<&str>, worktrees: Option<&[&str]>| {
            let worktrees = worktrees.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
            Filter { cwds: cwd.map(str::to_owned).into_iter().collect(), worktrees, ..Filter::default() }
                .worktrees_fingerprint()
        };
        for (cwd, worktrees) in [(None, None), (Some("/a"), None), (None, Some([].as_slice()))] {
            assert_eq!(of(cwd, worktrees), None);
        }
        let all: [(&str, &[&str]); 6] =
            [("/a", &[]), ("/b", &[]), ("/a", &["/b"]), ("/b", &["/a"]), ("/a", &["/b", "/c"]), ("/a", &["/b/c"])];
        let prints: Vec<_> = all.into_iter().map(|(cwd, worktrees)| of(Some(cwd), Some(worktrees))).collect();
        for (at, print) in prints.iter().enumerate() {
            assert!(print.is_some() && !prints[..at].contains(print), "{:?}", all[at]);
        }
    }
}
