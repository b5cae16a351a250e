//! One prompt and what is streamed back for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::content::{self, Block};
use super::exec::{self, Run};
use super::{State, session};
use crate::downstream::process_group::ProcessGroup;
use crate::downstream::rpc::{self, Failure};

/// What is asked.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) blocks: Vec<Block>,
}

/// A prompt that is being answered.
#[derive(Debug, Default)]
pub(super) struct Turn {
    cancelled: AtomicBool,
    /// What runs for it.
    command: Mutex<Option<Arc<ProcessGroup>>>,
}

impl Turn {
    /// Cuts it short. Its request is still answered.
    pub(super) fn cancel(&self) {
        let command = self.command.lock().unwrap_or_else(PoisonError::into_inner);
        self.cancelled.store(true, Ordering::Release);
        if let Some(group) = &*command {
            group.kill();
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// This command is to be ended when the turn is cut short, which may have happened by now.
    pub(super) fn runs(&self, group: &Arc<ProcessGroup>) {
        let mut command = self.command.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            group.kill();
        }
        *command = Some(Arc::clone(group));
    }
}

/// Starts to answer on a thread of its own, so that nothing else waits for it.
pub(super) fn begin(state: &Arc<State>, id: Value, session: &str, prompt: Prompt) -> Result<(), Failure> {
    let turn = Arc::new(Turn::default());
    let mut sessions = state.sessions();
    let open: &mut session::Session = sessions.get(session)?;
    if open.turn.is_some() {
        return Err(Failure::invalid_request("a prompt of this session is still being answered"));
    }
    open.turn = Some(Arc::clone(&turn));
    let run = state.exec.as_ref().map(|command| Run {
        command: command.clone(),
        session: session.to_owned(),
        cwd: open.cwd.clone(),
        mode: open.mode,
    });
    drop(sessions);

    let shared = Arc::clone(state);
    let session = session.to_owned();
    state.work(move || {
        let say = |text: &str| {
            let content = json!({ "type": "text", "text": text });
            shared.send(&rpc::update(&session, json!({ "sessionUpdate": "agent_message_chunk", "content": content })));
        };
        match run {
            Some(run) => exec::answer(&run, &content::join(&prompt.blocks), &turn, say),
            None => echo(&prompt, &turn, say),
        }
        let reason = if turn.is_cancelled() { "cancelled" } else { "end_turn" };
        shared.sessions().end_turn(&session, &turn);
        shared.send(&rpc::response(&id, Ok(json!({ "stopReason": reason }))));
    });
    Ok(())
}

/// Says what was asked, word by word.
fn echo(prompt: &Prompt, turn: &Turn, say: impl Fn(&str)) {
    let text = content::join(prompt.blocks.iter().filter(|block| !block.rehydrated));
    for word in text.split_inclusive(char::is_whitespace) {
        if turn.is_cancelled() {
            return;
        }
        say(word);
    }
}
