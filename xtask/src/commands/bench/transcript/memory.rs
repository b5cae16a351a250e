//! The memory of a process.

use std::fs;

/// The most that was ever resident, in MiB; `None` on systems without `/proc`.
pub(super) fn high_water(process: u32) -> Option<f64> {
    status(process, "VmHWM:")
}

fn status(process: u32, field: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u32 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(f64::from(kib) / 1024.0)
}
