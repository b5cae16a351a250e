//! What an agent has said in a session and asked its user before the client had that open: the client has it now, or never will.

use super::agent::not_answered;
use super::kept::Kept;
use crate::connection::generation::Whose;
use crate::connection::held::Held;
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Id};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Says it in its order.
    pub(super) fn deliver_held(&mut self, of: &Key, rest: Vec<Held>) {
        for held in rest {
            if let Held::Question(id, _) = &held {
                self.outputs.push_back(Kept::Held(self.connection.generation.mark(id)).with(None));
            }
            let is_open = self.connection.sessions.get(of).is_some_and(LiveSession::is_open);
            match held {
                Held::Question(_, line) | Held::Withdrawal(line) if is_open => self.agent_line(line),
                Held::Question(id, line) => self.send_agent(rpc::response(&id, not_answered(&line))),
                Held::Withdrawal(_) => {}
                Held::Update(_) | Held::Behind(_) | Held::Notice(_) | Held::Overflow => {
                    self.with(of, |session, cx| session.say_one_held(held, cx));
                }
            }
        }
    }

    /// An instance was lost that had questions of the agent's for the client: the agent has these answers, unless it has ended
    /// since.
    pub(super) fn answer_held(&mut self, lost: Vec<(Id, String)>) {
        for (id, answer) in lost {
            self.outputs.push_back(Kept::Held(id.clone()).with(None));
            if let Whose::Present(own) = self.connection.generation.read(&id) {
                self.send_agent(rpc::response(&own, &answer));
            }
        }
    }
}
