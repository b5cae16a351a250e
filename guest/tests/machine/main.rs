//! A machine that tries everything: random clients, random agents, and engines between them, over stores that fail,
//! clocks that jump, and instances that are lost. What must hold of all this is in `checks`.
//!
//! A case that fails is made smaller and printed: its seed, its steps, and every line that flowed.
//!
//! With `CORPUS_RECORD` what is printed is written as a case of the conformance corpus as well, and so is one seed that is asked
//! for and does not fail.
//!
//! By environment variables: `MACHINE_CASES` (how many cases), `MACHINE_SEED` (this one alone), `MACHINE_FROM` (the
//! first), `MACHINE_ONLY` and `MACHINE_SKIP` (names of checks, separated by commas), `MACHINE_SURVEY` (go on after a
//! failure, and sum up by check).

mod agent;
mod case;
mod checks;
mod client;
mod deal;
mod disk;
mod faults;
mod ground;
mod hand;
mod host;
mod kind;
mod machine;
mod shrink;
mod talk;
mod world;

use std::collections::BTreeMap;
use std::env;

use case::Case;
use ground::Broke;
use machine::run;

/// Fewer without optimisation.
const CASES: u64 = if cfg!(debug_assertions) { 500 } else { 20_000 };

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

/// The checks that anybody cares for.
fn cares() -> impl Fn(&Broke) -> bool {
    let names = |name: &str| -> Option<Vec<String>> {
        Some(env::var(name).ok()?.split(',').map(|name| name.trim().to_owned()).collect())
    };
    let (only, skip) = (names("MACHINE_ONLY"), names("MACHINE_SKIP").unwrap_or_default());
    move |broke| {
        only.as_ref().is_none_or(|only| only.iter().any(|name| name == broke.check))
            && !skip.iter().any(|name| name == broke.check)
    }
}

/// Makes it small, and says what happened.
fn explain(case: &Case, broke: &Broke) -> String {
    let same = |other: &Broke| other.check == broke.check;
    let small = shrink::shrink(case, &|case| !run(case, &same, false).broken.is_empty());
    let outcome = run(&small, &same, true);
    let found: Vec<_> = outcome.broken.iter().map(|broke| format!("{}: {}", broke.check, broke.text)).collect();
    format!("{small}\n{}\n{}", outcome.trace.join("\n"), found.join("\n"))
}

/// Cases that have failed once, beyond those that each test tries.
const FOUND: &[u64] = &[
    47_003, 77_558, 104_834, 109_575, 137_877, 200_472, 225_028, 233_868, 291_087, 307_200, 356_660, 407_033, 437_974,
    441_765, 461_896, 496_138, 530_469, 543_533, 589_011, 592_388, 670_126, 710_173, 729_387, 763_981, 781_212,
    782_332, 838_830, 859_961, 885_352, 977_927, 1_047_223, 1_059_694, 1_073_538, 1_093_782, 1_140_966, 1_177_096,
    1_226_573, 1_229_188, 1_239_565, 1_255_043, 1_295_693, 1_296_265, 1_305_973, 1_311_258, 1_313_732, 1_315_320,
    1_330_177, 1_341_421, 1_368_312, 1_369_228, 1_375_636, 1_396_499, 1_400_701, 1_403_020, 1_464_102, 1_502_671,
    1_582_024, 1_632_078, 1_749_297, 1_825_525, 1_975_944,
];

#[test]
fn what_was_found_by_chance_is_not_found_again() {
    for case in FOUND.iter().map(|seed| Case::of(*seed)) {
        let broken = run(&case, &cares(), false).broken;
        assert!(broken.is_empty(), "{}", explain(&case, &broken[0]));
    }
}

#[test]
fn all_holds_where_instances_hand_over_whenever_they_are_at_rest() {
    search(CASES / 4, |seed| Case { renews: true, ..Case::of(seed) });
}

#[test]
fn whatever_happens_nothing_is_lost_doubled_or_left_waiting() {
    search(CASES, Case::of);
}

/// Tries so many cases, unless it is said how many.
fn search(cases: u64, case_of: impl Fn(u64) -> Case) {
    let cared_for = cares();
    let (first, cases) = match number("MACHINE_SEED") {
        Some(seed) => (seed, 1),
        None => (number("MACHINE_FROM").unwrap_or(1), number("MACHINE_CASES").unwrap_or(cases)),
    };
    let is_recorded = cases == 1 && env::var_os("CORPUS_RECORD").is_some();
    let is_survey = env::var_os("MACHINE_SURVEY").is_some();
    let mut found: BTreeMap<&'static str, Vec<(u64, Broke)>> = BTreeMap::new();
    for seed in first..first + cases {
        let case = case_of(seed);
        let outcome = run(&case, &cared_for, is_recorded);
        for broke in outcome.broken {
            assert!(is_survey, "{}", explain(&case, &broke));
            let seeds = found.entry(broke.check).or_default();
            if seeds.last().is_none_or(|(last, _)| *last != seed) {
                seeds.push((seed, broke));
            }
        }
    }
    for (check, seeds) in &found {
        println!(
            "{check}: {} cases, as {:?}",
            seeds.len(),
            seeds.iter().take(8).map(|(seed, _)| seed).collect::<Vec<_>>()
        );
    }
    for seeds in found.values() {
        let (seed, broke) = &seeds[0];
        println!("{}", explain(&case_of(*seed), broke));
    }
    assert!(found.is_empty(), "{} checks have failed", found.len());
}
