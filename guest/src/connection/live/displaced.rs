//! The agent has handed out a session's id again, while the session was open: the id is another session's now.

use super::{Busy, LiveSession, Phase};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::{self, Code, RpcError};
use crate::storage::Storage;

const WHY: &str = "the agent has given the id of this session to another one";

impl LiveSession {
    /// Nothing that is said by the id is about this session any more: it is closed here, whoever waits for something in it
    /// is told, and it can be opened again, under another id of the agent's.
    pub(in crate::connection) fn displaced<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let message = format!("Internal error: {WHY}; what was said is kept, load the session again to go on");
        let error = RpcError::new(Code::InternalError, message);
        self.agent_id = "".into();
        let turns = match &mut self.phase {
            Phase::Open { turns, .. } | Phase::Deleted { turns } => &turns[..],
            // Whoever waits for these is answered by their ends.
            Phase::Opening(_) | Phase::Closing(_) | Phase::Gone => &[],
        };
        let requests: Vec<_> = turns.iter().map(|turn| turn.request.clone()).collect();
        self.disconnect(WHY, &error, cx);
        for request in requests {
            // By the request's id: by the session's, the agent would cancel what the other one is at.
            let params = format!("{{\"requestId\":{}}}", request.id().as_json());
            cx.push(Effect::ToAgent(rpc::notification("$/cancel_request", &params)));
            cx.finish(&request, Err(error.clone()));
        }
        if let Phase::Open { busy, .. } = &mut self.phase
            && let Some(request) = busy.take().as_ref().and_then(Busy::request)
        {
            cx.finish(request, Err(error));
        }
        self.release(cx);
        // What could not be written waits for room; it is open without its agent till then, or till that opens it again.
        let waits = self.is_open() && self.is_unsaved();
        if !self.is_gone() && !waits {
            self.leave(cx);
        }
    }
}
