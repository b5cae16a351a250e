//! `cargo xtask bench transcript` in small: that every figure comes out, and that the memory a load takes does not
//! follow the size of what is loaded. How fast it is on the machine that runs the tests is not judged.

use std::process::Command;

use acp_sessions_tests::launch::built;
use serde_json::Value;

fn figures() -> Value {
    let output = Command::new(built("xtask"))
        .args(["bench", "transcript", "--short", "--json"])
        .output()
        .expect("the bench can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the figures are JSON")
}

fn rows<'a>(figures: &'a Value, section: &str) -> &'a [Value] {
    figures[section].as_array().unwrap_or_else(|| panic!("no {section}: {figures:#}"))
}

#[test]
fn every_figure_comes_out_and_a_long_transcript_takes_little_memory() {
    let figures = figures();
    let sections =
        [("singles", 4), ("turns", 3), ("streams", 4), ("loads", 3), ("forks", 2), ("intake", 2), ("sandbox", 4)];
    for (section, count) in sections {
        let rows = rows(&figures, section);
        assert_eq!(rows.len(), count, "{section}: {rows:#?}");
        for row in rows {
            let mut own = row.as_object().expect("an object").iter().filter(|(key, _)| *key != "name");
            assert!(own.any(|(_, value)| value.as_f64().is_some_and(|value| value > 0.0)), "{section}: {row}");
        }
    }
    // 640 tool calls with 64 KiB of output each.
    let size = 40.0;
    let large = &rows(&figures, "loads")[2];
    for peak in ["memory_mib", "unread_memory_mib", "recording_memory_mib"] {
        // Where there is no `/proc` there is no figure.
        assert!(large[peak].as_f64().is_none_or(|peak| peak < size), "{peak} of {size} MiB: {large}");
    }
}
