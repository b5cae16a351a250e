//! The trials of `cargo xtask torture`, in their short form.

use acp_sessions_tests::torture::deletes;

#[test]
fn what_is_deleted_beside_busy_processes_is_gone_from_every_file() {
    let report = deletes::run(deletes::Options { seed: 7, deletes: 40, processes: 3, kill_one_in: 10 });
    assert!(report.findings.is_empty(), "{report}");
}
