//! What the agent says that a session uses: the tokens of each answer, which are the answer's alone, and what the session
//! has cost it, which is a sum that the agent keeps, so that only what has come to it counts.
//!
//! An agent may say the same sum again as often as it likes, and several windows may hear it. A smaller one than before is
//! that of a new count, which began at nothing. Of what is told with a history the last counts, since a replay may tell how
//! the sum has grown, and as far as it is more than is known. That was used when nobody was there to hear of it, so it has no
//! day; the same holds for the first sum of a session that the agent had before.

mod count;
mod heard;
mod sharing;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::rpc::Object;
use crate::sessions::open_marks;
use crate::storage::{Expectation, Storage, Write};
use crate::store::{Cost, Costs, Session, Store, Tokens, Usage, Used, keys, tells_one_sum};
use crate::time;
use count::Count;
use heard::OthersSums;

/// What was said and is not in the store yet, and what the next is compared with.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Spending {
    count: Option<Count>,
    /// The first sum that it is told was used here, rather than before.
    is_known: bool,
    /// The session that the agent has begun on this connection: its count began at nothing. With what the store knew then of
    /// one that had its id before.
    begun: Option<(String, Costs)>,
    /// It is one that the agent has begun beside another, while that was open here.
    is_watched: bool,
    /// What was told last with a history, and is to be compared when that is over.
    #[serde(skip)]
    with_history: Option<History>,
    /// What was used in the turn under way.
    turn: Used,
    /// How much of the model's context was last said to be used in it, and how much there is.
    context: Option<(u64, u64)>,
    /// What the store has not, of the present.
    fresh: Used,
    /// What the store has not, of before.
    earlier: Used,
    is_dirty: bool,
}

/// When something was used that is told with a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Before.
    Before,
    /// What a fork is said to have cost before anything was said in it is its parent's.
    Never,
}

/// What is told with a history.
#[derive(Debug)]
struct History {
    when: When,
    told: Costs,
    /// What the store had then as told last, in whichever window.
    last: Costs,
}

/// What the count of a fork goes on from, by the window that makes it.
#[derive(Debug)]
pub(in crate::connection) struct ParentsCount {
    /// What this window was told last that the parent has cost, or where it was told nothing, what the store had as told last when
    /// it opened the parent.
    pub(in crate::connection) told: Costs,
    /// What others were told since, where this window was told nothing or all are told one sum: the agent may have taken it up.
    heard: Option<OthersSums>,
}

impl Spending {
    /// Of a session that the agent has begun beside another one.
    pub(super) fn of_subagent() -> Self {
        Self { is_watched: true, ..Self::default() }
    }

    /// Whether what this one of the agent's sessions is said to cost is compared with what was said before.
    pub(super) fn counts(&self, of: &str) -> bool {
        self.count.as_ref().is_some_and(|count| count.of() == of)
    }

    /// What a fork of this one of the agent's sessions goes on from, if anything was said of it.
    pub(super) fn parents_count(&self, of: &str) -> Option<ParentsCount> {
        let count = self.count.as_ref().filter(|count| count.of() == of)?;
        let parents = ParentsCount { told: count.told().clone(), heard: count.heard().cloned() };
        Some(parents).filter(|parents| !parents.told.is_empty() || parents.heard.is_some())
    }

    /// The session of the agent's that was last told of here, and what it was said to have cost. Of one that the agent has
    /// begun here that is nothing where nothing was said, whatever was said of another that had its id.
    pub(super) fn told_last(&self) -> Option<(String, Costs)> {
        let told = self.count.as_ref().filter(|count| count.is_told_here());
        let told = told.map(|count| (count.of().to_owned(), count.told().clone()));
        told.or_else(|| self.begun.as_ref().map(|(of, _)| (of.clone(), Costs::default())))
    }

    /// Whether this window was told what the session has cost.
    pub(super) fn is_told_here(&self) -> bool {
        self.count.as_ref().is_some_and(Count::is_told_here)
    }

    /// This is known by now of what others were told and have written; and what was told last, and to which connection, which
    /// may be yet to be written, or was lost with who was to write it.
    pub(super) fn hears(&mut self, usage: &Usage, last: Option<&(Cost, String)>) {
        let Some(count) = &mut self.count else { return };
        // What was counted ahead of this connection it may yet be told: its agent has not taken it up from others.
        let (all, known) = (usage.known(count.of()), count.known(usage));
        count.looks(usage);
        if let Some(told) = usage.told(count.of()) {
            count.hears(&told.within(&known), &known);
            self.is_known = true;
        }
        let is_ahead = |cost: &Cost| known.lack(cost).is_some() && all.lack(cost).is_none();
        if let Some((cost, connection)) = last.filter(|(cost, _)| !is_ahead(cost)) {
            self.is_known = true;
            self.is_dirty |= count.was_told(cost, connection, usage);
        }
    }

    /// Whether all who are told of it are told one sum, by what the store has.
    pub(super) fn looks_whether_shared(&mut self, usage: &Usage) -> bool {
        self.count.as_mut().is_some_and(|count| count.looks(usage))
    }

    /// Whose cost it is, where something has come to that here and all are told one sum.
    pub(super) fn of_shared(&self) -> Option<&str> {
        self.count.as_ref().filter(|count| count.may_count_twice()).map(Count::of)
    }

    /// Whether that is another sum than this window was told last.
    pub(super) fn is_news(&self, cost: &Cost) -> bool {
        self.count.as_ref().is_some_and(|count| count.told().of(&cost.currency) != Some(cost.amount))
    }

    /// The count is that of a fork, made in a window that had its parent open.
    pub(super) fn continue_with_parents(&mut self, parents: &ParentsCount) {
        if let Some(count) = &mut self.count {
            count.continue_with_parents(parents.heard.as_ref());
        }
    }

    /// The agent's process has ended, which had told of it; another one goes on.
    pub(super) fn agent_ended(&mut self) {
        self.begun = None;
        if let Some(count) = &mut self.count {
            count.agent_ended();
        }
    }

    /// The session was open here before, and the agent has said then that it has cost this.
    pub(super) fn continue_from(&mut self, told: &Costs) {
        let has_begun = self.count.as_ref().is_some_and(|count| self.has_begun(count.of()));
        if let Some(count) = self.count.as_mut().filter(|_| !has_begun) {
            count.continue_from(told);
        }
    }

    /// Whether the agent has begun this session of its own on this connection.
    pub(super) fn has_begun(&self, of: &str) -> bool {
        self.begun.as_ref().is_some_and(|(begun, _)| begun == of)
    }

    /// What is said from now on is of this one of the agent's sessions; the store has this of what was used. Whether it was made
    /// here and nothing was said of its cost: it has cost nothing then. Whether its agent has told one sum of some session.
    pub(super) fn begin_count(
        &mut self,
        of: String,
        connection: &str,
        stored: Option<&Usage>,
        (has_cost_nothing, tells_one_sum): (bool, bool),
    ) {
        let begun = self.begun.as_ref().filter(|(begun, _)| *begun == of);
        let is_told = stored.is_some_and(|usage| usage.told(&of).is_some());
        self.is_known = begun.is_some() || self.is_watched || is_told || has_cost_nothing;
        let count = match begun {
            Some((_, others)) => Count::begun(of, connection, others.clone()),
            None => Count::new(of, connection, stored),
        };
        self.count = Some(count.by_agent(tells_one_sum));
    }

    /// The agent has said in a turn how much of its model's context is used.
    pub(super) fn note_context(&mut self, context: Option<(u64, u64)>) {
        self.context = context;
    }

    /// Whether a history is being told that has said something of it.
    pub(super) fn is_told_history(&self) -> bool {
        self.with_history.is_some()
    }

    /// Whether the store is to be told something.
    pub(super) fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// The agent has begun this session of its own. One that had its id before is known to have cost that.
    pub(super) fn begins(&mut self, of: String, others: Costs) {
        self.is_known |= self.counts(&of);
        self.begun = Some((of, others));
    }

    /// What the end of the turn says, with what was used in it.
    pub(super) fn end_turn(&mut self, entry: &str) -> String {
        let (used, context) = (std::mem::take(&mut self.turn), self.context.take());
        let Some(mut end) = Object::parse(entry).filter(|_| context.is_some() || !used.is_nothing()) else {
            return entry.to_owned();
        };
        if !used.is_nothing() {
            end.set("used", serde_json::to_string(&used).unwrap_or_default());
        }
        if let Some((used, size)) = context {
            end.set("context", json!({ "used": used, "size": size }).to_string());
        }
        end.to_json()
    }

    /// The agent has answered a prompt, and says what that took.
    pub(super) fn answered(&mut self, result: &str) {
        let Some(usage) = Object::parse(result).and_then(|result| result.get_some("usage").map(str::to_owned)) else {
            return;
        };
        let tokens = Tokens::read(&usage);
        if !tokens.is_none() {
            self.turn.answered(tokens);
            self.fresh.answered(tokens);
            self.is_dirty = true;
        }
    }

    /// The agent says so with a history that it tells.
    pub(super) fn told_with_history(&mut self, cost: &Cost, when: When) {
        let (told, last) = (Costs::default(), Costs::default());
        let history = self.with_history.get_or_insert(History { when, told, last });
        history.told.set_last(cost);
        if let Some(count) = &self.count {
            history.last.clone_from(count.last());
        }
    }

    /// No history is told any more.
    pub(super) fn end_history(&mut self) {
        let (Some(count), Some(History { when, told, last })) = (&mut self.count, self.with_history.take()) else {
            return;
        };
        for cost in told.iter() {
            self.is_dirty |= count.told().of(&cost.currency) != Some(cost.amount);
            match when {
                When::Never => count.inherits(cost),
                When::Before => count.past(cost, &last),
            }
            self.is_dirty |= count.news_of_sharing().is_some();
        }
    }

    /// The agent says that its session has cost so much since it began, as it is spent.
    pub(super) fn told(&mut self, cost: &Cost) {
        let Some(count) = &mut self.count else { return };
        let before = count.told().of(&cost.currency);
        self.is_dirty |= before != Some(cost.amount);
        let Some(more) = count.now(cost) else { return };
        if self.is_known || before.is_some() {
            self.turn.cost.add(&more);
            self.fresh.cost.add(&more);
        } else {
            self.earlier.cost.add(&more);
        }
    }

    /// A turn ends: the store has this by now, and who was told last, and what. What of the turn's cost others count is not its own.
    pub(super) fn looks_back(&mut self, usage: &Usage, last: Option<&(Cost, String)>) {
        let Some(count) = &mut self.count else { return };
        count.looks_back(usage, last).iter().for_each(|cost| self.turn.cost.take(cost));
    }

    /// Adds what the store has not to what it has, in a commit that makes `session` the session's record; whether it can.
    pub(super) fn note<S: Storage>(
        &self,
        store: &Store<S>,
        session: &mut Session,
        (agent, at): (&str, i64),
        expected: &mut Vec<Expectation>,
        writes: &mut Vec<Write>,
    ) -> bool {
        let key = keys::usage(&session.id);
        // What was said is stored all the same. One that cannot be read is left for a checkup.
        let Ok(value) = store.record(key.clone()) else { return false };
        let Ok(mut usage) = value.as_deref().map_or(Ok(Usage::default()), Usage::parse) else { return false };
        let (mut earlier, mut fresh) = (self.earlier.clone(), self.fresh.clone());
        for cost in self.count.iter().flat_map(|count| count.counted_elsewhere(&usage).into_all()) {
            let rest = cost.amount.since(fresh.cost.of(&cost.currency).unwrap_or_default());
            fresh.cost.take(&cost);
            if let Some(amount) = rest {
                earlier.cost.take(&Cost { amount, ..cost });
            }
        }
        usage.add(None, agent, &earlier);
        let day = time::format(at);
        usage.add(day.get(.."2025-10-29".len()), agent, &fresh);
        if let Some(count) = &self.count {
            let mut at_turn = Vec::new();
            if count.tells_of_more(&usage) {
                let Ok(others) = open_marks::at_turn(store, &session.id, count.connection()) else { return false };
                at_turn = others;
            }
            count.note(&mut usage, agent, &at_turn);
            if count.news_of_sharing() == Some(true) {
                writes.push(tells_one_sum(agent));
            }
        }
        session.cost = usage.cost();
        expected.push(Expectation { key: key.clone(), value });
        writes.push(Write::Put { key, value: usage.to_text() });
        true
    }

    /// The store has it all.
    pub(super) fn noted(&mut self) {
        if let Some(count) = &mut self.count {
            count.noted();
        }
        self.fresh = Used::default();
        self.earlier = Used::default();
        self.is_dirty = false;
    }
}
