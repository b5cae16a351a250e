//! What is kept, shared and removed: retention, deletes, forks, open marks, rebuilding.

mod before;
mod between;
mod checking_meanwhile;
mod deletes;
mod fork_cost;
mod forks;
mod intake;
mod moments;
mod open_marks;
mod pruning;
mod rebuilding;
mod rebuilding_meanwhile;
mod removal;
mod shop;
mod sweeping;
mod upgrading;
