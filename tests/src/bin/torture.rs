//! `torture deletes` and its like: trials that try to break a promise, in their long form. `cargo xtask torture` builds and runs it.

use std::process::ExitCode;

use acp_sessions_tests::torture::{agents, crashes, deletes, follow, hosts};
use clap::Parser;

#[derive(Debug, Parser)]
enum Trial {
    /// Deletes beside busy processes: no file of the store holds a deleted word in the end
    Deletes {
        /// What chance begins with
        #[arg(long)]
        seed: u64,
        /// How many sessions are deleted
        #[arg(long, default_value_t = 2000)]
        deletes: usize,
        /// How many processes there are
        #[arg(long, default_value_t = 5)]
        processes: usize,
        /// One time of so many a process is killed after it has deleted something; 0: never
        #[arg(long, default_value_t = 40)]
        kill_one_in: usize,
    },
    /// Agents that are killed: nothing of the conversation is lost or doubled, and it goes on
    Agents {
        /// What chance begins with
        #[arg(long)]
        seed: u64,
        /// How many programs there are, each of whose agents is killed five times
        #[arg(long, default_value_t = 100)]
        rounds: usize,
    },
    /// Crashes at every write: what was answered is there, and the next conversation works
    Crashes {
        /// What chance begins with
        #[arg(long)]
        seed: u64,
        /// Takes syncs for nothing: the trial has to find something then
        #[arg(long)]
        without_syncs: bool,
        /// How many crashes of each kind there are at most; all points where it is more than there are
        #[arg(long, default_value_t = usize::MAX)]
        crashes: usize,
    },
    /// Programs that are killed beside others on one store: what was answered is there once
    Hosts {
        /// What chance begins with
        #[arg(long)]
        seed: u64,
        /// How many programs work at a time
        #[arg(long, default_value_t = 8)]
        processes: usize,
        /// How many are killed in all
        #[arg(long, default_value_t = 1000)]
        kills: usize,
    },
    /// Lists that are followed while others write: in the end they are what is listed, and no row came late
    Follow {
        /// What chance begins with
        #[arg(long)]
        seed: u64,
        /// How many programs change things
        #[arg(long, default_value_t = 8)]
        writers: usize,
        /// How many follow lists
        #[arg(long, default_value_t = 4)]
        followers: usize,
        /// How much each of the former does
        #[arg(long, default_value_t = 2000)]
        deeds: usize,
    },
}

fn main() -> ExitCode {
    let report = match Trial::parse() {
        Trial::Deletes { seed, deletes, processes, kill_one_in } => {
            deletes::run(deletes::Options { seed, deletes, processes, kill_one_in })
        }
        Trial::Agents { seed, rounds } => agents::run(agents::Options { seed, rounds }),
        Trial::Crashes { seed, crashes, without_syncs } => {
            crashes::run(crashes::Options { seed, crashes, has_syncs: !without_syncs })
        }
        Trial::Hosts { seed, processes, kills } => hosts::run(hosts::Options { seed, processes, kills }),
        Trial::Follow { seed, writers, followers, deeds } => {
            follow::run(follow::Options { seed, writers, followers, deeds })
        }
    };
    println!("{report}");
    if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
