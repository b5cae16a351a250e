//! One connection: who asked what, which id maps to which, what goes where.
//!
//! The engine sits between a client and an agent. What concerns no session passes through untouched. [`router`] reads the
//! lines and holds the sessions; a session that is open, or being opened or closed, is a [`live::LiveSession`], which
//! knows nothing of the connection around it and answers with effects. Everything else here is what the two speak in.
//! Imports run one way: router, live, and below them the rest.

mod answer;
mod asked;
mod client_request;
mod cx;
mod effect;
mod generation;
mod handled;
mod held;
mod key;
mod list_meta;
mod live;
mod load;
mod method;
mod params;
mod profile;
mod put_away;
mod requests;
mod restore;
mod router;
mod running;
mod showing;
mod step;
mod sums;
mod terminals;
mod told;
mod turn;

pub(crate) use router::Router;
