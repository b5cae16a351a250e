//! Random stores, requests and changes.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::change::Intent;
use crate::question::{Agents, Archived, Bound, Question, Term};
use crate::session::{Session, Text};
use crate::vocabulary::{AGENTS, DIRECTORIES, WORDS};

/// The last millisecond of the year 9999.
const LAST: i64 = 253_402_300_799_999;
const AROUND: i64 = 1_760_000_000_000;

/// Few different times, so that many are equal; some with milliseconds, some hours apart, and the first and the last there
/// can be.
pub fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        12 => (0i64..6).prop_map(|seconds| AROUND + seconds * 1000),
        6 => (0i64..4).prop_map(|millis| AROUND + millis),
        4 => (0i64..4, -1i64..2).prop_map(|(hours, millis)| AROUND + hours * 3_600_000 + millis),
        1 => Just(0),
        1 => Just(LAST),
    ]
}

fn bound() -> impl Strategy<Value = Bound> {
    (time(), -1439..1440i32).prop_map(|(at, offset)| {
        // Written with an offset to the east, the last times would be of the year 10000.
        Bound { at, offset: if at == LAST { offset.min(0) } else { offset } }
    })
}

fn directory() -> impl Strategy<Value = (usize, usize)> {
    // Half of all in two of them.
    let which = prop_oneof![0..DIRECTORIES.len(), 1..3usize];
    (which, any::<Index>()).prop_map(|(which, spelling)| (which, spelling.index(DIRECTORIES[which].len())))
}

fn word() -> impl Strategy<Value = (usize, usize)> {
    (0..WORDS.len(), any::<Index>()).prop_map(|(word, way)| (word, way.index(WORDS[word].written.len())))
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = Text> {
    vec(word(), words)
}

/// Text without a word of the vocabulary, or anything that folds to one.
fn ornament() -> impl Strategy<Value = String> {
    "[\u{5d0}-\u{5ea}\u{627}-\u{628}\u{915}-\u{939}\u{1f300}-\u{1f3ff}\"\\\\/<>&\u{1}-\u{1f} ]{0,6}"
}

/// An id in any script; `serial` makes it one of a kind.
fn id(serial: usize) -> impl Strategy<Value = String> {
    prop_oneof![vec(any::<char>(), 0..5).prop_map(String::from_iter), "[a-z/%~.]{0,3}"]
        .prop_map(move |start| format!("{start}-{serial}"))
}

/// Mostly one agent, which mostly is the first; some sessions are several agents', and some nobody's.
fn agents() -> impl Strategy<Value = BTreeSet<usize>> {
    prop_oneof![
        4 => Just(BTreeSet::from([0])),
        4 => vec(0..AGENTS.len(), 0..=AGENTS.len()).prop_map(BTreeSet::from_iter),
    ]
}

/// A session; `serial` makes its id one of a kind.
pub fn session(serial: usize) -> impl Strategy<Value = Session> {
    let content = (text(0..4), ornament(), option::weighted(0.2, 0..WORDS.len()), vec(text(1..4), 0..3));
    let flags = (any::<Index>(), any::<Index>(), any::<Index>());
    let times = (time(), time(), option::of(time()));
    (id(serial), directory(), times, content, agents(), flags).prop_map(
        |(id, directory, (created, updated, prompted), content, agents, flags)| {
            let (title, ornament, label, said) = content;
            let (archived, subagent) = (flags.0.index(5) == 0, flags.1.index(6) == 0);
            let updated = updated.max(created);
            Session {
                id,
                directory,
                created,
                updated,
                prompted,
                undated: flags.2.index(8) == 0,
                title,
                ornament,
                label,
                said,
                agents,
                archived,
                subagent,
            }
        },
    )
}

/// The sessions of a store.
pub fn sessions(most: usize) -> impl Strategy<Value = Vec<Session>> {
    (0..=most).prop_flat_map(|count| (0..count).map(session).collect::<Vec<_>>())
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        3 => (word(), any::<Index>()).prop_map(|((word, way), kept)| {
            // A piece of a word that is written in compatibility forms need not be a piece of the folded word.
            let written = WORDS[word].written[way];
            let plain = written.chars().count() == WORDS[word].folded.chars().count();
            let kept = if plain { 1 + kept.index(written.chars().count()) } else { usize::MAX };
            Term::Word(word, way, kept)
        }),
        1 => text(1..3).prop_map(Term::Phrase),
    ]
}

/// A request.
pub fn question() -> impl Strategy<Value = Question> {
    let times = [option::weighted(0.2, bound()), option::weighted(0.2, bound()), option::weighted(0.2, bound())];
    let archived = prop_oneof![
        4 => Just(Archived::Unsaid),
        1 => Just(Archived::Exclude),
        3 => Just(Archived::Include),
        1 => Just(Archived::Only),
    ];
    let search = prop_oneof![3 => Just(Vec::new()), 1 => vec(term(), 1..3)];
    let agents = prop_oneof![3 => Just(None), 1 => Just(Some(Agents::Own)), 3 => Just(Some(Agents::All))];
    let shown = (archived, any::<bool>(), agents);
    let limit = option::weighted(0.8, prop_oneof![4 => 1..6usize, 1 => Just(1000)]);
    let directories = (option::weighted(0.4, directory()), option::of(any::<bool>()));
    (directories, times, search, shown, limit, any::<bool>()).prop_map(
        |((directory, worktrees), [created_after, created_before, updated_after], search, shown, limit, in_meta)| {
            let (archived, subagents, agents) = shown;
            Question {
                directory,
                worktrees,
                created_after,
                created_before,
                updated_after,
                search,
                archived,
                subagents,
                agents,
                agents_by_default: Agents::Own,
                limit,
                in_meta,
                conversations: true,
            }
        },
    )
}

/// What happens after one page. `serial` makes the ids of new sessions one of a kind.
pub fn intents(serial: usize) -> impl Strategy<Value = Vec<Intent>> {
    let some = || any::<Index>().prop_map(|index| index.index(1 << 20));
    let intent = move |nth: usize| {
        prop_oneof![
            2 => session(serial + nth).prop_map(|session| Intent::Create(Box::new(session))),
            4 => (some(), time()).prop_map(|(which, at)| Intent::Touch(which, at)),
            4 => (some(), time()).prop_map(|(which, at)| Intent::Prompt(which, at)),
            1 => (some(), text(1..4)).prop_map(|(which, title)| Intent::Rename(which, title)),
            2 => (some(), any::<bool>()).prop_map(|(which, archived)| Intent::Archive(which, archived)),
            2 => (some(), 0..AGENTS.len(), any::<bool>())
                .prop_map(|(which, agent, known)| Intent::Know(which, agent, known)),
            1 => some().prop_map(Intent::Undate),
            1 => some().prop_map(Intent::Delete),
        ]
    };
    (0..4usize).prop_flat_map(move |count| (0..count).map(intent).collect::<Vec<_>>())
}

/// What happens after each of the first pages.
pub fn history(pages: usize) -> impl Strategy<Value = Vec<Vec<Intent>>> {
    (0..=pages).prop_flat_map(|pages| (0..pages).map(|page| intents(1_000_000 + page * 100)).collect::<Vec<_>>())
}
