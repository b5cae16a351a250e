//! What other windows' agents have planned in a turn that the client is shown.

use serde_json::json;

use super::{EarlierState, LiveSession};
use crate::connection::answer;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::{self, Object};
use crate::storage::Storage;

const PLAN: &str = "plan";

impl LiveSession {
    /// Tells the client the session's plan, where it is another than the one that it was told last.
    pub(super) fn tell_new_plan<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        // What its own agent has told since is newer; and what is not held in memory cannot be compared.
        if self.earlier_state != EarlierState::Known || self.state_changes.updates.contains_key(PLAN) {
            return;
        }
        let id = self.key.id().unwrap_or_default();
        let plan = match cx.store.state(id) {
            Ok(mut stored) => stored.updates.remove(PLAN),
            Err(error) => return self.put_off(&error, cx),
        };
        let told = self.state.updates.get(PLAN);
        let Some(plan) = plan.filter(|plan| told.is_none_or(|told| told.get() != plan.get())) else { return };
        let mut params = Object::parse_or_empty("{}");
        params.set("sessionId", json!(id).to_string());
        params.set("update", plan.get().to_owned());
        let params = answer::marked(&params.to_json(), &answer::elsewhere(None));
        cx.push(Effect::ToClients(rpc::notification("session/update", &params)));
        self.state.updates.insert(PLAN.to_owned(), plan);
    }
}
