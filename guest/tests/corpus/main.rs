//! Every case of the conformance corpus, played by the engine natively.

use acp_sessions_corpus::{differences, play};

#[test]
fn every_case_comes_out_as_it_was_recorded() {
    let found = differences(play).expect("the corpus can be read");
    assert!(found.is_empty(), "{} cases differ, the first: {}", found.len(), found[0]);
}
