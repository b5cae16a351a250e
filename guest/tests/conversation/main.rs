//! Conversations through the engine, natively and in memory: what a client says, what an agent says, what comes out.

mod adoption;
mod agents_list;
mod clocks;
mod deletes;
mod desk;
mod files;
mod forks;
mod identity;
mod joined;
mod life;
mod limits;
mod login;
mod losses;
mod opening;
mod own_words;
mod reconciling;
mod recovery;
mod rehydration;
mod reused_ids;
mod scenes;
mod silence;
mod storing;
mod subagents;
mod two_agents;
mod waiting;
mod windows;
