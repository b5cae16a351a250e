//! What a session has used: beside its record, because a list has no need of it, and rewritten with the ends of turns.

use serde::{Deserialize, Serialize};

use super::ahead::Ahead;
use super::cost::{Cost, Costs};
use super::counted::Counted;
use super::unreadable::unreadable;
use crate::checksum;
use crate::rpc::{Object, whole_number};
use crate::storage::Result;

/// How many days of a session are told apart; what is older has no day any more.
const MOST_DAYS: usize = 400;
/// Of how many of agents' sessions it is remembered what they were said to have cost.
const MOST_COUNTS: usize = 256;

/// Tokens, as agents count them (protocol v1, `Usage`, unstable).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tokens {
    /// All of them.
    pub total_tokens: u64,
    /// What the model was given.
    pub input_tokens: u64,
    /// What it wrote.
    pub output_tokens: u64,
    /// What it thought.
    #[serde(skip_serializing_if = "is_zero")]
    pub thought_tokens: u64,
    /// What it was given and its provider had kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_read_tokens: u64,
    /// What its provider has kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_write_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Tokens {
    /// Reads the `usage` of an answer to a prompt. What is not there, or is no number, counts as nothing.
    pub fn read(json: &str) -> Self {
        let usage = Object::parse_or_empty(json);
        let of = |name: &str| usage.get(name).and_then(whole_number).unwrap_or_default();
        Self {
            total_tokens: of("totalTokens"),
            input_tokens: of("inputTokens"),
            output_tokens: of("outputTokens"),
            thought_tokens: of("thoughtTokens"),
            cached_read_tokens: of("cachedReadTokens"),
            cached_write_tokens: of("cachedWriteTokens"),
        }
    }

    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.total_tokens, other.total_tokens),
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.thought_tokens, other.thought_tokens),
            (&mut self.cached_read_tokens, other.cached_read_tokens),
            (&mut self.cached_write_tokens, other.cached_write_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What was used: of a turn, a day, a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Used {
    /// How many prompts were answered with the tokens that they took.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answers: u64,
    /// The tokens.
    #[serde(default, skip_serializing_if = "Tokens::is_none")]
    pub tokens: Tokens,
    /// The money.
    #[serde(default, skip_serializing_if = "Costs::is_empty")]
    pub cost: Costs,
}

impl Used {
    /// Whether it is nothing.
    pub fn is_nothing(&self) -> bool {
        self.answers == 0 && self.tokens.is_none() && self.cost.is_empty()
    }

    /// Adds what else was used.
    pub fn add(&mut self, other: &Self) {
        self.answers = self.answers.saturating_add(other.answers);
        self.tokens.add(&other.tokens);
        self.cost.add_all(&other.cost);
    }

    /// A prompt was answered with these tokens.
    pub fn answered(&mut self, tokens: Tokens) {
        self.answers = self.answers.saturating_add(1);
        self.tokens.add(&tokens);
    }
}

/// What was used on a day, with an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    /// The day in UTC, `2025-10-29`; none for what was used nobody knows when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// What was used.
    pub used: Used,
}

/// What one of the agents' own sessions is said to have cost since it began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Count {
    /// Whose it is; see [`crate::transcript::speaker`].
    of: String,
    /// Whose it is as well: the same agent's under another name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    /// What was said last, in whichever window.
    told: Costs,
    /// What it is known to have cost, where that is more: other windows were told other sums, or processes that each count
    /// for themselves.
    #[serde(default, skip_serializing_if = "Costs::is_empty")]
    known: Costs,
    /// What of that was counted ahead of those who were told it.
    #[serde(default, skip_serializing_if = "Ahead::is_empty")]
    ahead: Ahead,
    /// Whether all windows are told one sum, whoever has spent it, where that has shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
    /// Which parts of a sum were counted by those who were told it, if that is one for all.
    #[serde(default, skip_serializing_if = "Counted::is_empty")]
    counted: Counted,
    /// What was counted twice if all windows are told one sum, which has not shown yet.
    #[serde(default, skip_serializing_if = "Costs::is_empty")]
    doubtful: Costs,
}

impl Count {
    fn is_of(&self, of: &str) -> bool {
        self.of == of || self.also.iter().any(|also| also == of)
    }
}

/// All that is known of what a session has used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The one that was told last at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<Count>,
    /// In the order of the days; what has none first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    days: Vec<Day>,
}

impl Usage {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| unreadable("what a session has used", &error))
    }

    /// The record's text, with its checksum.
    pub fn to_text(&self) -> String {
        checksum::seal(serde_json::to_string(self).unwrap_or_default())
    }

    /// What was used on each day, with each agent.
    pub fn days(&self) -> &[Day] {
        &self.days
    }

    /// Gives what was used on each day, with each agent, for good.
    pub fn into_days(self) -> Vec<Day> {
        self.days
    }

    /// What one of the agents' sessions was last said to have cost.
    pub fn told(&self, of: &str) -> Option<&Costs> {
        self.counts.iter().find(|count| count.is_of(of)).map(|count| &count.told)
    }

    /// What one of the agents' sessions is known to have cost, all in all: with what it began with, if it is a fork. That is
    /// never less than it was said to have cost.
    pub fn known(&self, of: &str) -> Costs {
        let Some(count) = self.counts.iter().find(|count| count.is_of(of)) else { return Costs::default() };
        let mut known = count.told.clone();
        count.known.iter().for_each(|cost| known.raise(cost));
        known
    }

    /// One of the agents' sessions is said to have cost this since it began, and known to have cost that.
    pub fn note_told(&mut self, of: &str, told: Costs, known: &Costs) {
        let known = known.beyond(&told);
        let before = self.counts.iter().position(|count| count.is_of(of)).map(|at| self.counts.remove(at));
        if self.counts.len() >= MOST_COUNTS {
            self.counts.remove(0);
        }
        self.counts.push(match before {
            Some(before) => Count { told, known, ..before },
            None => Count { of: of.to_owned(), told, known, ..Count::default() },
        });
    }

    /// Whether all windows are told one sum of what this one of the agents' sessions has cost, whoever has spent it, where that
    /// has shown.
    pub fn is_shared(&self, of: &str) -> Option<bool> {
        self.counts.iter().find(|count| count.is_of(of))?.shared
    }

    /// All windows are told one sum of it, or not, or that has not shown.
    pub fn note_shared(&mut self, of: &str, is_shared: Option<bool>) {
        self.counts.iter_mut().filter(|count| count.is_of(of)).for_each(|count| count.shared = is_shared);
    }

    /// Which parts of the sum that was told of it were counted by those who were told.
    pub fn counted(&self, of: &str) -> Counted {
        self.counts.iter().find(|count| count.is_of(of)).map(|count| count.counted.clone()).unwrap_or_default()
    }

    /// These were; all others are forgotten.
    pub fn note_counted(&mut self, of: &str, counted: &Counted) {
        self.counts.iter_mut().filter(|count| count.is_of(of)).for_each(|count| count.counted.clone_from(counted));
    }

    /// What was counted twice if all windows are told one sum.
    pub fn doubtful(&self, of: &str) -> Costs {
        self.counts.iter().find(|count| count.is_of(of)).map(|count| count.doubtful.clone()).unwrap_or_default()
    }

    /// This was.
    pub fn note_doubtful(&mut self, of: &str, costs: &Costs) {
        self.counts.iter_mut().filter(|count| count.is_of(of)).for_each(|count| count.doubtful.clone_from(costs));
    }

    /// All windows are told one sum, beyond which it is known to have cost so much: what was counted twice of that is taken back,
    /// of the last days first. How much that was.
    pub fn take_back_doubtful(&mut self, of: &str, agent: &str, beyond: &Costs) -> Costs {
        let doubtful = self.doubtful(of).within(beyond);
        self.note_doubtful(of, &Costs::default());
        for cost in doubtful.iter() {
            let mut left = cost.clone();
            for known in self.days.iter_mut().rev().filter(|known| known.agent == agent) {
                let there = known.used.cost.of(&cost.currency).unwrap_or_default();
                known.used.cost.take(&left);
                left.amount = left.amount.since(there).unwrap_or_default();
            }
        }
        self.days.retain(|known| !known.used.is_nothing());
        doubtful
    }

    /// So much of what one of the agents' sessions is known to have cost was counted ahead of one or several of these
    /// connections, which were told it and have not written it.
    pub fn note_ahead(&mut self, of: &str, connections: &[String], costs: &Costs) {
        if let Some(count) = self.counts.iter_mut().find(|count| count.is_of(of)) {
            count.ahead.add(connections, costs);
        }
    }

    /// What was counted ahead of this connection.
    pub fn ahead_of(&self, of: &str, connection: &str) -> Costs {
        let count = self.counts.iter().find(|count| count.is_of(of));
        count.map(|count| count.ahead.of(connection)).unwrap_or_default()
    }

    /// As much of what this connection was told, which it writes now, as was counted ahead of it, and is not any more.
    pub fn take_ahead(&mut self, of: &str, connection: &str, told: &Costs) -> Costs {
        let count = self.counts.iter_mut().find(|count| count.is_of(of));
        count.map(|count| count.ahead.take(connection, told)).unwrap_or_default()
    }

    /// One of the agents' sessions is another one's under another name: what was said of that one was said of this one. Says
    /// whether anything was.
    pub fn note_same(&mut self, of: &str, also: &str) -> bool {
        if self.told(also).is_some() {
            return false;
        }
        let Some(count) = self.counts.iter_mut().find(|count| count.is_of(of)) else { return false };
        count.also.push(also.to_owned());
        true
    }

    /// This was used on that day, with that agent.
    pub fn add(&mut self, day: Option<&str>, agent: &str, used: &Used) {
        if used.is_nothing() {
            return;
        }
        let place = self.days.binary_search_by(|known| (known.day.as_deref(), known.agent.as_str()).cmp(&(day, agent)));
        match place {
            Ok(at) => self.days[at].used.add(used),
            Err(at) => {
                let day = day.map(str::to_owned);
                self.days.insert(at, Day { day, agent: agent.to_owned(), used: used.clone() });
                self.bound();
            }
        }
    }

    /// So much of what was used with that agent on no day was not this session's.
    pub fn take_back(&mut self, agent: &str, cost: &Cost) {
        for known in self.days.iter_mut().filter(|known| known.day.is_none() && known.agent == agent) {
            known.used.cost.take(cost);
        }
        self.days.retain(|known| !known.used.is_nothing());
    }

    /// What is old is told apart by agent only.
    fn bound(&mut self) {
        while self.days.len() > MOST_DAYS
            && let Some(oldest) = self.days.iter().position(|known| known.day.is_some())
        {
            let Day { agent, used, .. } = self.days.remove(oldest);
            self.add(None, &agent, &used);
        }
    }

    /// What the session has cost: in the unit that was told last, where there were several.
    pub fn cost(&self) -> Option<Cost> {
        let mut sums = Costs::default();
        self.days.iter().for_each(|day| sums.add_all(&day.used.cost));
        let told = self.counts.last().and_then(|count| count.told.iter().last());
        let last = told.and_then(|told| sums.iter().find(|sum| sum.currency == told.currency));
        last.or_else(|| sums.iter().last()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(json: &str) -> Costs {
        let mut costs = Costs::default();
        costs.add(&Cost::read(json).unwrap());
        costs
    }

    fn used(json: &str) -> Used {
        Used { cost: costs(json), ..Used::default() }
    }

    #[test]
    fn of_several_units_the_one_that_was_told_last_is_what_it_has_cost() {
        let cost =
            |amount: u32, unit: &str| Cost::read(&format!(r#"{{"amount":{amount},"currency":"{unit}"}}"#)).unwrap();
        let (mut usage, mut told) = (Usage::default(), Costs::default());
        for (amount, unit) in [(1, "USD"), (2, "EUR"), (3, "USD")] {
            told.set_last(&cost(amount, unit));
            usage.note_told("x", told.clone(), &told);
            let mut day = Used::default();
            day.cost.add(&cost(1, unit));
            usage.add(None, "a", &day);
            assert_eq!(usage.cost().unwrap().currency, unit);
        }
    }

    #[test]
    fn a_record_comes_back_with_every_digit() {
        let mut usage = Usage::default();
        assert_eq!(Usage::parse(&usage.to_text()).unwrap(), usage);
        let third = costs(r#"{"amount":0.30000000000000004,"currency":"USD"}"#);
        usage.note_told("x", third.clone(), &third);
        let mut day = used(r#"{"amount":1.00000000000000000000001,"currency":"USD"}"#);
        day.answered(Tokens::read(r#"{"totalTokens":5,"inputTokens":3.0,"outputTokens":2,"cachedReadTokens":null}"#));
        usage.add(Some("2025-10-29"), "a", &day);
        usage.add(None, "a", &day);
        assert!(crate::checksum::is_sound(&usage.to_text()));
        assert_eq!(Usage::parse(&usage.to_text()).unwrap(), usage);
        assert_eq!(usage.cost().unwrap().amount.to_string(), "2.00000000000000000000002");
        assert!(Usage::parse("{\"days\":5}").is_err());
    }

    #[test]
    fn what_was_not_its_own_is_taken_back_of_what_has_no_day() {
        let mut usage = Usage::default();
        let three = used(r#"{"amount":3,"currency":"USD"}"#);
        for (day, agent) in [(None, "a"), (None, "b"), (Some("2025-10-29"), "a")] {
            usage.add(day, agent, &three);
        }
        usage.take_back("a", &Cost::read(r#"{"amount":2,"currency":"USD"}"#).unwrap());
        assert_eq!(usage.cost().unwrap().amount.to_string(), "7");
        usage.take_back("a", &Cost::read(r#"{"amount":2,"currency":"USD"}"#).unwrap());
        let left: Vec<_> = usage.days().iter().map(|known| (known.day.as_deref(), known.agent.as_str())).collect();
        assert_eq!(left, [(None, "b"), (Some("2025-10-29"), "a")]);
    }

    #[test]
    fn what_is_known_is_kept_where_it_is_more_than_was_told_last() {
        let [one, two] = [1, 2].map(|amount| costs(&format!("{{\"amount\":{amount},\"currency\":\"USD\"}}")));
        let mut usage = Usage::default();
        assert_eq!(usage.known("x"), Costs::default());
        for (told, known, is_kept) in [(&two, &two, false), (&one, &two, true), (&two, &one, false)] {
            usage.note_told("x", told.clone(), known);
            let text = usage.to_text();
            assert_eq!(text.contains("known"), is_kept, "{text}");
            let read = Usage::parse(&text).unwrap();
            assert_eq!((read.told("x"), &read.known("x")), (Some(told), &two));
        }
    }

    #[test]
    fn that_all_are_told_one_sum_is_kept_until_it_is_known_to_be_otherwise() {
        let one = costs(r#"{"amount":1,"currency":"USD"}"#);
        let mut usage = Usage::default();
        usage.note_shared("x", Some(true));
        assert_eq!(usage.is_shared("x"), None, "nothing was said");
        for is_shared in [None, Some(true), Some(false)] {
            usage.note_told("x", one.clone(), &one);
            usage.note_shared("x", is_shared);
            usage.note_told("x", one.clone(), &one);
            let text = usage.to_text();
            assert_eq!(text.contains("shared"), is_shared.is_some(), "{text}");
            assert_eq!(Usage::parse(&text).unwrap().is_shared("x"), is_shared);
        }
    }

    #[test]
    fn what_was_counted_twice_is_taken_back_of_the_last_days() {
        let mut usage = Usage::default();
        let three = used(r#"{"amount":3,"currency":"USD"}"#);
        for (day, agent) in
            [(None, "a"), (Some("2025-10-28"), "a"), (Some("2025-10-29"), "a"), (Some("2025-10-30"), "b")]
        {
            usage.add(day, agent, &three);
        }
        usage.note_told("x", costs(r#"{"amount":5,"currency":"USD"}"#), &Costs::default());
        let four = costs(r#"{"amount":4,"currency":"USD"}"#);
        usage.note_doubtful("x", &four);
        usage = Usage::parse(&usage.to_text()).unwrap();
        for expected in [four.clone(), Costs::default()] {
            assert_eq!(usage.take_back_doubtful("x", "a", &costs(r#"{"amount":5,"currency":"USD"}"#)), expected);
            let left: Vec<_> = usage.days().iter().map(|day| day.used.cost.of("USD").unwrap().to_string()).collect();
            assert_eq!(left, ["3", "2", "3"]);
        }
        // No more than is known beyond what all are told.
        let one = costs(r#"{"amount":1,"currency":"USD"}"#);
        for beyond in [&one, &Costs::default()] {
            usage.note_doubtful("x", &four);
            assert_eq!(&usage.take_back_doubtful("x", "a", beyond), beyond);
        }
    }

    #[test]
    fn what_was_said_of_a_session_under_one_name_was_said_of_it_under_the_other() {
        let [one, two] = [1, 2].map(|amount| costs(&format!("{{\"amount\":{amount},\"currency\":\"USD\"}}")));
        let mut usage = Usage::default();
        assert!(!usage.note_same("before", "since"), "nothing was said");
        usage.note_told("before", one.clone(), &one);
        usage.note_told("other", one.clone(), &one);
        assert!(usage.note_same("before", "since"));
        assert!(!usage.note_same("before", "other") && !usage.note_same("before", "since"));
        usage.note_told("since", two.clone(), &two);
        let usage = Usage::parse(&usage.to_text()).unwrap();
        assert_eq!(usage.told("before"), Some(&two));
        assert_eq!((usage.told("since"), usage.told("other")), (Some(&two), Some(&one)));
    }

    #[test]
    fn days_are_in_their_order_and_old_ones_lose_their_names() {
        let mut usage = Usage::default();
        let one = used(r#"{"amount":1,"currency":"USD"}"#);
        for day in (0..MOST_DAYS + 50).rev() {
            usage.add(Some(&format!("{day:010}")), if day % 2 == 0 { "a" } else { "b" }, &one);
        }
        assert!(usage.days().is_sorted_by_key(|day| (day.day.clone(), day.agent.clone())));
        assert_eq!(usage.days().len(), MOST_DAYS);
        assert_eq!(usage.days().iter().filter(|day| day.day.is_none()).count(), 2);
        assert_eq!(usage.cost().unwrap().amount.to_string(), (MOST_DAYS + 50).to_string());
    }

    #[test]
    fn what_agents_sessions_were_said_to_cost_is_remembered_of_the_last_few() {
        let mut usage = Usage::default();
        for number in 0..=MOST_COUNTS {
            let one = costs(r#"{"amount":1,"currency":"USD"}"#);
            usage.note_told(&number.to_string(), one.clone(), &one);
        }
        assert_eq!(usage.told("0"), None);
        assert!(usage.told("1").is_some());
    }
}
