//! Conversations through the engine, natively and in memory: what a client says, what an agent says, what comes out.

mod desk;
mod files;
mod life;
mod limits;
mod opening;
mod recovery;
