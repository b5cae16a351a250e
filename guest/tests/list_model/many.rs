//! Many sessions.

use acp_sessions_guest::storage::Memory;
use acp_sessions_model::{Agents, Bound, Change, Lister as _, Model, Native, Question, Session, whole_list};

/// The middle of their times.
const MIDDLE: i64 = 1_760_000_003_333;

/// Sessions of a few directories, some of them at the same time; every session is another's neighbour in time.
fn session(nth: usize) -> Session {
    // Coprime to the count, so that the order of times is not that of creation.
    let at = 1_760_000_000_000 + i64::try_from(nth * 7919 % 20_000 / 3).expect("a small number");
    Session {
        id: format!("сессия-{nth}"),
        directory: (nth % 7, 0),
        created: at,
        updated: at,
        prompted: (!nth.is_multiple_of(3)).then_some(at),
        undated: false,
        title: vec![(nth % 5, 0)],
        ornament: String::new(),
        label: None,
        said: Vec::new(),
        agents: [vec![0], vec![1], vec![0, 1, 2], vec![]][nth % 4].iter().copied().collect(),
        archived: nth.is_multiple_of(11),
        subagent: nth.is_multiple_of(13),
    }
}

#[test]
fn twenty_thousand_sessions_come_in_full_and_in_order() {
    let (mut lister, mut model) = (Native::new(Memory::new()), Model::default());
    for nth in 0..20_000 {
        let change = Change::Create(Box::new(session(nth)));
        lister.apply(&change);
        model.apply(&change);
    }
    for question in [
        Question::plain(),
        Question { limit: Some(1000), ..Question::plain() },
        Question { limit: Some(1000), agents: Some(Agents::All), subagents: true, ..Question::plain() },
        Question { directory: Some((5, 1)), agents: Some(Agents::All), ..Question::plain() },
        Question { directory: Some((3, 1)), limit: Some(77), in_meta: true, ..Question::plain() },
        Question { search: vec![acp_sessions_model::Term::Word(2, 1, 3)], limit: Some(1000), ..Question::plain() },
        Question { search: vec![acp_sessions_model::Term::Word(2, 1, 3)], limit: Some(7), ..Question::plain() },
        Question { created_before: Some(Bound { at: MIDDLE, offset: 0 }), limit: Some(500), ..Question::plain() },
        Question {
            created_before: Some(Bound { at: MIDDLE, offset: 60 }),
            agents: Some(Agents::All),
            ..Question::plain()
        },
    ] {
        whole_list(&mut lister, &model, &question).expect("the model's list");
    }
}
