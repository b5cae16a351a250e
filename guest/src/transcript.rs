//! The transcript of a session: recording, replay, and the digest given to an agent that remembers nothing.
//!
//! A session's transcript is its own log, preceded by the parts of other logs it was forked from. State (modes,
//! plan, commands, …) is no part of it: see [`crate::store::State`].

mod after_interrupt;
mod audience;
mod begun;
mod call_update;
mod cut;
mod digest;
mod echo;
mod elsewhere;
mod ended;
mod entry;
mod laid_out;
pub mod mend;
mod notice;
mod open_calls;
pub mod own_words;
mod position;
mod qwen;
mod recorder;
mod remark;
mod replay;
mod retold;
mod review;
mod spans;
mod subagent_states;
pub mod text;
mod told_calls;
mod turns;
mod turns_heard;

#[cfg(test)]
mod elsewhere_tests;
#[cfg(test)]
mod replay_tests;

pub use after_interrupt::{AFTER_INTERRUPT, may_be_after_interrupt, said_after_interrupt};
pub use audience::is_for_agent_alone;
pub use begun::{BegunTurn, begun, begun_by, holds_prompt, turns_behind};
pub use call_update::CallUpdate;
pub use digest::{Hearer, digest, digest_for, is_any_said};
pub use echo::Echo;
pub use elsewhere::{By, Elsewhere, Growing, Own, Shown};
pub use ended::Ended;
pub use entry::{Entry, Kind, UpdateKind, WINDOW, in_window, lost_entry, speaker, speakers, through};
pub use laid_out::LaidOut;
pub use notice::{is_notice, may_be_notice};
pub use open_calls::OpenCalls;
pub use position::Position;
pub use qwen::{as_qwen_means, may_be_of_qwen};
pub use recorder::{Flushed, LogEnd, Piece, Recorder};
pub use remark::{
    Remark, before_hook, handed_on, is_in_answers, may_be_for_shell, may_be_handed_on, may_have_marks, takes_summary,
    typed_in_shell, without_marks,
};
pub use replay::{Part, Progress, Replay, Start};
pub use retold::{Repeats, Retold, TakenOver, Unprompted, Whereabouts};
pub use review::{ENTERED, EXITED, is_for_reviewer};
pub use spans::length;
pub use subagent_states::SubagentStates;
pub use told_calls::{Asking, ToldCalls};
pub use turns_heard::{is_last_of, turns_within};
