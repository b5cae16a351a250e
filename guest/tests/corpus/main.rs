//! Every case of the conformance corpus, played by the engine natively.

use acp_sessions_corpus::{Case, all, folder, play, read};

/// Where the two differ first.
fn difference(wanted: &Case, played: &Case) -> Option<String> {
    for (nth, (wanted, played)) in wanted.steps.iter().zip(&played.steps).enumerate() {
        if wanted != played {
            return Some(format!("step {nth}\n  wanted {wanted:?}\n  played {played:?}"));
        }
    }
    (wanted.end != played.end).then(|| format!("the end\n  wanted {:?}\n  played {:?}", wanted.end, played.end))
}

#[test]
fn every_case_comes_out_as_it_was_recorded() {
    let paths = all().expect("the corpus can be read");
    assert!(paths.len() > 100, "there are {} cases", paths.len());
    let mut failed = Vec::new();
    for path in &paths {
        let wanted = read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Some(difference) = difference(&wanted, &play(&wanted)) {
            let name = path.strip_prefix(folder()).unwrap_or(path);
            failed.push(format!("{}: {difference}", name.display()));
        }
    }
    let (count, first) = (failed.len(), failed.first());
    assert!(failed.is_empty(), "{count} of {} cases differ, the first: {}", paths.len(), first.unwrap());
}
