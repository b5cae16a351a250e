//! Every case of the conformance corpus, played by the engine natively.

use std::fs;
use std::path::Path;

use acp_sessions_corpus::{all, differences, folder, play};

#[test]
fn every_case_comes_out_as_it_was_recorded() {
    let found = differences(play).expect("the corpus can be read");
    assert!(found.is_empty(), "{} cases differ, the first: {}", found.len(), found[0]);
}

/// That each story has the case that comes of it is shown as it runs.
#[test]
fn every_case_is_of_a_story_that_there_is() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    for case in all().expect("the corpus can be read") {
        let name = case.with_extension("");
        let name = name.strip_prefix(folder()).expect("it is in the corpus");
        let parts: Vec<&str> = name.iter().filter_map(|part| part.to_str()).collect();
        let is_there = match parts[..] {
            [suite, module, story] => {
                let source = fs::read_to_string(tests.join(suite).join(format!("{module}.rs")));
                source.is_ok_and(|source| source.contains(&format!("fn {story}()")))
            }
            ["machine", seed] => seed.strip_prefix("seed_").is_some_and(|seed| seed.parse::<u64>().is_ok()),
            _ => false,
        };
        assert!(is_there, "{} is of no story", name.display());
    }
}
