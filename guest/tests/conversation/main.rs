//! Conversations through the engine, natively and in memory: what a client says, what an agent says, what comes out.

mod adoption;
mod desk;
mod files;
mod life;
mod limits;
mod opening;
mod recovery;
mod rehydration;
mod scenes;
mod silence;
