//! The trials of `cargo xtask torture`, in their short form.

use acp_sessions_tests::torture::{agents, crashes, deletes, follow, hosts};

#[test]
fn what_is_deleted_beside_busy_processes_is_gone_from_every_file() {
    let report = deletes::run(deletes::Options { seed: 7, deletes: 40, processes: 3, kill_one_in: 10 });
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn what_agents_have_said_that_are_killed_is_there_once() {
    let report = agents::run(agents::Options { seed: 7, rounds: 4 });
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn what_was_answered_is_there_after_a_crash_at_any_write() {
    let report = crashes::run(crashes::Options { seed: 7, crashes: 20, has_syncs: true });
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn a_program_that_did_not_sync_would_be_found() {
    let report = crashes::run(crashes::Options { seed: 7, crashes: 8, has_syncs: false });
    assert!(!report.findings.is_empty(), "{report}");
}

#[test]
fn what_programs_have_answered_that_are_killed_is_there_once() {
    let report = hosts::run(hosts::Options { seed: 7, processes: 4, kills: 50 });
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn lists_that_are_followed_while_others_write_are_right_in_the_end() {
    let report = follow::run(follow::Options { seed: 7, writers: 3, followers: 2, deeds: 60 });
    assert!(report.findings.is_empty(), "{report}");
}
