//! The whole suite, for any lister.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::change::Change;
use crate::lister::Lister;
use crate::model::Model;
use crate::question::Question;
use crate::{check, refusal, strategy, under_change};

/// How much of it.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// How many random stores for each property.
    pub cases: u32,
    /// The most sessions in a store.
    pub sessions: usize,
}

/// Runs every property against listers that `make` makes, each over an empty store. Panics with the smallest case
/// that fails.
///
/// # Panics
///
/// If a property does not hold.
pub fn run<L: Lister>(scale: Scale, make: impl Fn() -> L) {
    let config = Config { cases: scale.cases, failure_persistence: None, ..Config::default() };
    let filled = |sessions: Vec<crate::Session>| {
        let (mut lister, mut model) = (make(), Model::default());
        for session in sessions {
            under_change::make(&mut lister, &mut model, &Change::Create(Box::new(session)));
        }
        (lister, model)
    };
    let fit = |question: Question, lister: &L| Question {
        conversations: lister.searches_conversations(),
        agents_by_default: lister.agents_by_default(),
        ..question
    };
    let stores = || strategy::sessions(scale.sessions);

    let whole = |(sessions, questions): (_, Vec<Question>)| {
        let (mut lister, model) = filled(sessions);
        for question in questions {
            let question = fit(question, &lister);
            check::whole_list(&mut lister, &model, &question)?;
        }
        Ok(())
    };
    check("whole lists", &config, &(stores(), proptest::collection::vec(strategy::question(), 1..8)), whole);

    let changing = |(sessions, question, history): (_, Question, Vec<_>)| {
        let (mut lister, mut model) = filled(sessions);
        let question = fit(question, &lister);
        under_change::paged_under_change(&mut lister, &mut model, &question, &history)?;
        check::whole_list(&mut lister, &model, &question)
    };
    check("lists under change", &config, &(stores(), strategy::question(), strategy::history(6)), changing);

    let tied = |(sessions, question, other, at): (_, Question, Question, usize)| {
        let (mut lister, _) = filled(sessions);
        let (question, other) = (fit(question, &lister), fit(other, &lister));
        refusal::cursors_are_tied(&mut lister, &question, &other, at)
    };
    check("cursors", &config, &(stores(), strategy::question(), strategy::question(), any::<usize>()), tied);

    if let Err(error) = refusal::wrong_fields_are_named(&mut make()) {
        panic!("{error}");
    }
}

fn check<T: Strategy>(
    name: &str,
    config: &Config,
    strategy: &T,
    property: impl Fn(T::Value) -> Result<(), TestCaseError>,
) {
    if let Err(error) = TestRunner::new(config.clone()).run(strategy, property) {
        panic!("{name}: {error}");
    }
}
