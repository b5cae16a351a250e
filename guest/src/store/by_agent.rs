//! What is in force in a session, by agent: another one has modes, options and commands of its own, and what was set with the first
//! comes back with it. A plan is the conversation's, whoever made it.

use super::State;

/// The update that tells what is planned.
const PLAN: &str = "plan";

impl State {
    /// The same session with this agent: what was last in force with it. What is now goes to the others.
    #[must_use]
    pub fn with_agent(mut self, agent: &str) -> Self {
        if self.beside_of == agent || self.beside_of.is_empty() {
            return self;
        }
        let mut others = std::mem::take(&mut self.others);
        let plan = self.updates.remove(PLAN);
        let mut present = others.remove(agent).unwrap_or_default();
        agent.clone_into(&mut present.beside_of);
        present.updates.extend(plan.map(|plan| (PLAN.to_owned(), plan)));
        if !self.says_nothing() {
            others.insert(self.beside_of.clone(), self);
        }
        present.others = others;
        present
    }

    /// Whether nothing is known to be in force.
    pub(super) fn says_nothing(&self) -> bool {
        let has_none = self.modes.is_none() && self.mode.is_none() && self.model.is_none() && self.options.is_none();
        has_none && self.chosen.is_empty() && self.beside.is_empty() && self.updates.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn told(state: &mut State, kind: &str, what: &str) {
        state.updates.insert(kind.to_owned(), to_raw_value(&json!(what)).unwrap());
    }

    fn last(state: &State, kind: &str) -> Option<String> {
        state.updates.get(kind).map(|update| update.get().trim_matches('"').to_owned())
    }

    #[test]
    fn what_is_too_long_of_one_agents_takes_nothing_else_of_its_with_it() {
        let mut state = State { mode: Some("ask".to_owned()), beside_of: "first".to_owned(), ..State::default() };
        told(&mut state, "available_commands_update", &"x".repeat(3 * 1024 * 1024));
        let mut state = state.with_agent("second");
        told(&mut state, "available_commands_update", &"y".repeat(2 * 1024 * 1024));
        assert_eq!(state.bound(), ["available_commands_update"]);
        let state = state.with_agent("first");
        assert_eq!((state.mode.as_deref(), last(&state, "available_commands_update")), (Some("ask"), None));
    }

    #[test]
    fn what_was_in_force_with_an_agent_comes_back_with_it_and_the_plan_is_the_sessions() {
        let mut state = State { mode: Some("ask".to_owned()), beside_of: "first".to_owned(), ..State::default() };
        told(&mut state, PLAN, "one");
        told(&mut state, "usage_update", "much");
        let mut state = state.with_agent("second");
        assert_eq!((state.mode.as_deref(), last(&state, "usage_update")), (None, None));
        assert_eq!(last(&state, PLAN).as_deref(), Some("one"));
        state.mode = Some("code".to_owned());
        told(&mut state, PLAN, "two");
        let state = State::parse(&state.to_text()).unwrap().with_agent("first");
        assert_eq!(state.mode.as_deref(), Some("ask"));
        assert_eq!(last(&state, "usage_update").as_deref(), Some("much"));
        assert_eq!(last(&state, PLAN).as_deref(), Some("two"));
        assert_eq!(state.with_agent("second").mode.as_deref(), Some("code"));
    }
}
