//! The conformance corpus, played by the very component that the program carries, in wasmtime under the host's settings: the
//! same bytes as natively, over the store in memory and over the host's own.

mod faulty;
mod player;
mod runtime;
mod values;

use std::sync::LazyLock;

use acp_sessions::store::Sqlite;
use acp_sessions_adapter::Hosted;
use acp_sessions_corpus::{Call, Case, all, difference, differences, read};
use acp_sessions_guest::storage::Memory;

use player::play;
use runtime::Runtime;

/// Compiled once.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(Runtime::new);

#[test]
fn every_case_comes_out_as_it_does_natively() {
    let found = differences(|case| play(&RUNTIME, Hosted(Memory::new()), case)).expect("the corpus can be read");
    assert!(found.is_empty(), "{} cases differ, the first: {}", found.len(), found[0]);
}

#[test]
fn every_case_comes_out_so_over_the_host_s_store() {
    let store = || Sqlite::builder().in_memory().build().expect("a store");
    let found = differences(|case| play(&RUNTIME, store(), case)).expect("the corpus can be read");
    assert!(found.is_empty(), "{} cases differ, the first: {}", found.len(), found[0]);
}

/// The first case that has a step like this.
fn case_with(is_so: impl Fn(&Case) -> bool) -> Case {
    let cases = all().expect("the corpus").into_iter().map(|path| read(&path).expect("a case"));
    cases.into_iter().find(is_so).expect("there is such a case")
}

#[test]
fn a_difference_is_found_wherever_it_is() {
    let differs = |case: &Case| difference(case, &play(&RUNTIME, Hosted(Memory::new()), case));

    let is_lost = |case: &Case| case.steps.iter().any(|step| !step.has_returned());
    let mut case = case_with(|case| is_lost(case) && !case.end.records.is_empty());
    assert_eq!(differs(&case), None);
    let value = case.end.records.values_mut().next().expect("a record");
    value.push(' ');
    assert!(differs(&case).is_some_and(|found| found.starts_with("the end")), "what is stored");

    let mut case = case_with(|case| case.steps.iter().any(|step| matches!(step.call, Call::ListSessions { .. })));
    let at = case.steps.iter().position(|step| matches!(step.call, Call::ListSessions { .. })).expect("a list");
    let answer = case.steps[at].returns.as_mut().expect("an answer");
    answer["ok"]["next-cursor"] = "elsewhere".into();
    assert!(differs(&case).is_some_and(|found| found.starts_with(&format!("step {at}\n"))), "a typed answer");

    let says = |case: &Case| {
        case.steps.iter().position(|step| {
            step.returns.as_ref().is_some_and(|returns| returns["outputs"][0]["to-client"].is_string())
        })
    };
    let mut case = case_with(|case| says(case).is_some());
    let at = says(&case).expect("a line");
    let line = &mut case.steps[at].returns.as_mut().expect("outputs")["outputs"][0]["to-client"];
    *line = line.as_str().expect("a line").replacen(':', ": ", 1).into();
    assert!(differs(&case).is_some_and(|found| found.starts_with(&format!("step {at}\n"))), "a line");
}
