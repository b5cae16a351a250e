//! What one of the agent's sessions is said to have cost, and what of that counts.
//!
//! What is told as it is spent is compared with what this window was told before: what has come to it counts, and all of it
//! where it is less, as that is a count which began anew. What is told of the past is compared with all that is known, which
//! is more where several windows were told sums of their own, or several processes: only what is more than that counts. Either
//! way the next is compared with it.
//!
//! What another window was told and had not written when this one heard of it counts like that, too: that window may be gone. If
//! it is not, it takes back what was counted ahead of it when it writes what it was told, on the day on which that was spent. So
//! it does with what is told of the past while it is at a turn, whatever it has let others know of that: the agent that tells
//! it may have kept what was spent in the turn so far.
//!
//! Where the agents of several windows tell one sum (see [`super::sharing`]), what others were told since is not this window's,
//! though it was told something itself. Two windows may each be told a sum before either can know of the other's: then both count
//! what was spent before the smaller one. So each keeps which parts of the sum it counts, and the store which were counted; what
//! another window has counted meanwhile does not count again.

use serde::{Deserialize, Serialize};

use super::heard::OthersSums;
use super::sharing::Sharing;
use crate::store::{Amount, Cost, Costs, Counted, Usage, Used};

/// The count of one of the agent's sessions, as this window is told it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Count {
    /// Whose it is; see [`crate::transcript::speaker`].
    of: String,
    /// The connection that is told it here.
    connection: String,
    /// What this window was told last, at first what the store has as told last.
    told: Costs,
    here: Here,
    /// What others were told when the count began and since, of a session that was open here before, or in which this window was
    /// told nothing yet; where it was told nothing, also what it was known to have cost then by whatever was told in any window.
    /// An agent that has taken up what others of its processes had counted goes on from that, and one that counts for itself
    /// from what this window was told.
    heard: OthersSums,
    /// Whether others are told the same sum.
    sharing: Sharing,
    /// What was told last here and is not in the store.
    news: Costs,
    /// The agent has begun the session here: this is known of another that had its id, and is nothing to it.
    others: Costs,
    /// Something of the session was counted before. Where nothing was, what it was said to have cost is a fork's parent's.
    is_counted: bool,
    /// What has come to it here and is not in the store.
    more: Costs,
    /// What was told of the past, without what had come to it here by then and was not in the store.
    past: Costs,
    /// What had been told and not written when this window heard of it, and to which connection.
    unwritten: Option<(Cost, String)>,
    /// What a fork's count turned out to begin at.
    begins_at: Costs,
    parts: CountedParts,
}

/// Which parts of the sum that is told were counted.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CountedParts {
    /// Here, and are not in the store.
    here: Counted,
    /// What of what has come to it here turned out to be counted elsewhere.
    elsewhere: Costs,
}

/// What this window was told of it, rather than another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Here {
    Nothing,
    /// It is a fork's, made in a window that was told what its parent had cost: it goes on from that, whatever else is known.
    OfParent,
    Something,
}

impl Count {
    /// Of a session that the agent has begun here, where another that had its id is known to have cost this.
    pub(super) fn begun(of: String, connection: &str, others: Costs) -> Self {
        Self { others, ..Self::new(of, connection, None) }
    }

    /// This count, of an agent that has told one sum of some session to all windows, or has not.
    pub(super) fn by_agent(self, tells_one_sum: bool) -> Self {
        Self { sharing: Sharing::of_agent(tells_one_sum), ..self }
    }

    /// Of a session of which the store has this.
    pub(super) fn new(of: String, connection: &str, stored: Option<&Usage>) -> Self {
        let mut heard = OthersSums::default();
        heard.add(&stored.map(|usage| usage.known(&of)).unwrap_or_default());
        Self {
            connection: connection.to_owned(),
            told: stored.and_then(|usage| usage.told(&of)).cloned().unwrap_or_default(),
            is_counted: stored.is_some_and(|usage| usage.cost().is_some()),
            here: Here::Nothing,
            heard,
            sharing: Sharing::default(),
            news: Costs::default(),
            others: Costs::default(),
            more: Costs::default(),
            past: Costs::default(),
            unwritten: None,
            begins_at: Costs::default(),
            parts: CountedParts::default(),
            of,
        }
    }

    /// Whose it is.
    pub(super) fn of(&self) -> &str {
        &self.of
    }

    /// The connection that is told it here.
    pub(super) fn connection(&self) -> &str {
        &self.connection
    }

    /// What was told last.
    pub(super) fn told(&self) -> &Costs {
        &self.told
    }

    /// Whether this window was told something.
    pub(super) fn is_told_here(&self) -> bool {
        self.here == Here::Something
    }

    /// What others were told that the agent may have taken up: where this window was told nothing, not even what the parent of a
    /// fork had cost, or all are told one sum.
    pub(super) fn heard(&self) -> Option<&OthersSums> {
        (self.here == Here::Nothing || self.sharing.is_shared()).then_some(&self.heard)
    }

    /// What it is known to have cost without what was counted ahead of this window, which may yet be told that.
    pub(super) fn known(&self, usage: &Usage) -> Costs {
        let (mut known, mut ahead) = (usage.known(&self.of), usage.ahead_of(&self.of, &self.connection));
        self.more.iter().for_each(|cost| ahead.take(cost));
        ahead.iter().for_each(|cost| known.take(cost));
        known
    }

    /// What it is known to have cost without what this window has come to, as far as that was counted ahead of it.
    fn known_besides(&self, usage: &Usage) -> Costs {
        let mut known = usage.known(&self.of);
        usage.ahead_of(&self.of, &self.connection).within(&self.more).iter().for_each(|cost| known.take(cost));
        known
    }

    /// Looks what was told last by now, and whether all are told one sum.
    pub(super) fn looks(&mut self, usage: &Usage) -> bool {
        // Of another that had its id that is nothing to this one.
        if self.others.is_empty() {
            let last = usage.told(&self.of).map(|told| told.within(&self.known(usage)));
            self.sharing.hears(last.unwrap_or_default(), usage.is_shared(&self.of));
        }
        self.sharing.is_shared()
    }

    /// What the store has as told last, in whichever window.
    pub(super) fn last(&self) -> &Costs {
        self.sharing.last()
    }

    /// Whether all are told one sum, where that is known otherwise than in the store.
    pub(super) fn news_of_sharing(&self) -> Option<bool> {
        self.sharing.news()
    }

    /// Others were told that last, and so much is known by now.
    pub(super) fn hears(&mut self, told: &Costs, known: &Costs) {
        self.heard.add(told);
        if self.here == Here::Nothing {
            self.heard.add(known);
        }
    }

    /// This was told to that connection, which may yet have to write it; whether it is more than is known to have been written.
    pub(super) fn was_told(&mut self, cost: &Cost, connection: &str, usage: &Usage) -> bool {
        self.heard.add_one(cost);
        let is_others = connection != self.connection;
        // What was told here and is yet to be written is no news; where all are told one sum, it is in that of the others.
        let mut others = cost.clone();
        if self.is_told_here() {
            let own = self.more.of(&cost.currency).unwrap_or_default();
            others.amount = cost.amount.since(own).unwrap_or_default();
        }
        let known = self.known_besides(usage);
        if known.lack(&others).is_none() || !is_others && !self.more.is_empty() {
            return false;
        }
        self.unwritten = Some((others, connection.to_owned()));
        self.is_counted = true;
        true
    }

    /// The agent's process has ended: another one may have taken up what other windows were told.
    pub(super) fn agent_ended(&mut self) {
        self.here = Here::Nothing;
    }

    /// It is a fork's. It goes on from what the window that made it was told of its parent's, whatever else is known; or, where
    /// that window was told nothing, from any that others were told.
    pub(super) fn continue_with_parents(&mut self, heard: Option<&OthersSums>) {
        if self.here != Here::Nothing {
            return;
        }
        if let Some(heard) = heard {
            self.heard.add_all(heard);
        } else {
            self.heard = OthersSums::default();
            self.here = Here::OfParent;
        }
    }

    /// This window was told that before it closed the session.
    pub(super) fn continue_from(&mut self, told: &Costs) {
        self.heard = OthersSums::default();
        self.heard.add(&self.told);
        self.unwritten.iter().for_each(|(cost, _)| self.heard.add_one(cost));
        told.iter().for_each(|cost| self.told.set_last(cost));
        self.here = if told.is_empty() { Here::Nothing } else { Here::Something };
    }

    /// What the sum that is told now is compared with, and is from now on: once, that is what was told elsewhere or is known
    /// of all windows, if it is more than was told here and not more than the sum.
    fn tells(&mut self, cost: &Cost) -> Amount {
        let here = self.told.of(&cost.currency).unwrap_or_default();
        let elsewhere = self.heard.settle(cost);
        self.told.set_last(cost);
        self.news.set_last(cost);
        self.here = Here::Something;
        here.max(elsewhere)
    }

    /// What this window was told before, of this unit.
    fn told_here(&self, currency: &str) -> Option<Amount> {
        self.told.of(currency).filter(|_| self.is_told_here())
    }

    /// It is said to have cost so much by now. What has come to it, if anything has.
    pub(super) fn now(&mut self, cost: &Cost) -> Option<Cost> {
        self.sharing.told_now(cost, self.told_here(&cost.currency));
        let before = self.tells(cost);
        if cost.amount < before {
            self.begins_anew(&cost.currency);
            self.parts.here = Counted::default();
        } else {
            self.parts.here.add_all(&Counted::up_to(cost, before));
        }
        let amount = cost.amount.since(before).unwrap_or(cost.amount);
        if amount.is_zero() {
            return None;
        }
        let more = Cost { amount, currency: cost.currency.clone() };
        self.more.add(&more);
        self.is_counted = true;
        Some(more)
    }

    /// It is said to have cost so much before; the store had that as told last then.
    pub(super) fn past(&mut self, cost: &Cost, last: &Costs) {
        self.sharing.told_of_the_past(cost, self.told_here(&cost.currency), last);
        let before = self.tells(cost);
        // What this window was told before is known. Of a fork it may be a sum that its parent had a while before.
        if cost.amount <= before {
            return;
        }
        let here = self.more.of(&cost.currency).unwrap_or_default();
        let amount = cost.amount.since(here).unwrap_or_default();
        self.past.raise(&Cost { amount, currency: cost.currency.clone() });
        self.is_counted = true;
    }

    /// It is a fork's, and what is said before anything was said in it: it begins at that.
    pub(super) fn inherits(&mut self, cost: &Cost) {
        self.tells(cost);
        self.begins_at.set(cost);
    }

    /// A smaller sum than was told before is told as it is spent. Where that was a fork's parent's, the fork's own begins at
    /// nothing.
    fn begins_anew(&mut self, currency: &str) {
        if !self.is_counted {
            self.begins_at.set(&Cost { amount: Amount::default(), currency: currency.to_owned() });
        }
    }

    /// Whether all are told one sum, by what is known here and this.
    fn is_shared(&self, usage: &Usage) -> bool {
        // What was told of another that had its id is nothing.
        self.sharing.is_shared_by(usage.is_shared(&self.of).filter(|_| self.others.is_empty()))
    }

    /// Whether something has come to it here that others may count as well.
    pub(super) fn may_count_twice(&self) -> bool {
        self.sharing.is_shared() && !self.parts.here.is_empty()
    }

    /// What of what has come to it here was counted elsewhere meanwhile.
    pub(super) fn counted_elsewhere(&self, usage: &Usage) -> Costs {
        let mut elsewhere = self.parts.elsewhere.clone();
        if self.others.is_empty() && self.is_shared(usage) {
            elsewhere.add_all(&self.parts.here.shared_with(&usage.counted(&self.of)).sums());
        }
        elsewhere
    }

    /// What was counted twice if all are told one sum: what of the sums that have come up here is below what was told last. Where
    /// one has shown to be that of a count of its own, nothing was.
    fn doubtful(&self, usage: &Usage, is_shared: bool) -> Costs {
        if self.sharing.is_own() || !self.others.is_empty() {
            return Costs::default();
        }
        let mut doubtful = usage.doubtful(&self.of);
        for told in usage.told(&self.of).into_iter().filter(|_| !is_shared).flat_map(Costs::iter) {
            let below = Counted::up_to(told, Amount::default());
            doubtful.add_all(&self.parts.here.shared_with(&below).sums());
        }
        doubtful
    }

    /// A turn ends. What of what has come to it here counts elsewhere, as far as that shows only now: others have written it since,
    /// or one was told a smaller sum before this window was told its own, and has yet to write that.
    pub(super) fn looks_back(&mut self, usage: &Usage, last: Option<&(Cost, String)>) -> Costs {
        if self.parts.here.is_empty() || !self.others.is_empty() || !self.looks(usage) {
            return Costs::default();
        }
        let mut elsewhere = self.parts.here.shared_with(&usage.counted(&self.of));
        self.parts.here = self.parts.here.without(&elsewhere);
        if let Some((cost, by)) = last.filter(|(_, by)| !by.is_empty() && *by != self.connection) {
            elsewhere.add_all(&self.leaves_to(cost, by, usage));
        }
        let elsewhere = elsewhere.sums();
        self.parts.elsewhere.add_all(&elsewhere);
        elsewhere
    }

    /// That connection was told this before this window was told its own sum: what is below it is not what was spent here. It is
    /// counted ahead of that one. Where the store has it already, nothing is known of whose it is.
    fn leaves_to(&mut self, cost: &Cost, by: &str, usage: &Usage) -> Counted {
        let before = self.parts.here.cut_by(cost);
        let rest = self.parts.here.without(&before);
        let own = rest.shared_with(&Counted::up_to(cost, Amount::default())).sums();
        let own = own.of(&cost.currency).unwrap_or_default();
        let others = Cost { amount: cost.amount.since(own).unwrap_or_default(), currency: cost.currency.clone() };
        if before.is_empty() || usage.known(&self.of).lack(&others).is_none() {
            return Counted::default();
        }
        self.unwritten = Some((others, by.to_owned()));
        self.parts.here = rest;
        before
    }

    /// Whether more is told that any of several turns under way may have cost than is known by now: of the past, or as one sum.
    pub(super) fn tells_of_more(&self, usage: &Usage) -> bool {
        let known = self.known_besides(usage);
        let unwritten = self.unwritten.iter().map(|(cost, _)| cost).filter(|_| self.sharing.is_shared());
        self.past.iter().chain(unwritten).any(|cost| known.lack(cost).is_some())
    }

    /// Has this say what it was told, and what is known now; what was not known of the past is added. That may be of the turns
    /// that these connections are at.
    pub(super) fn note(&self, usage: &mut Usage, agent: &str, at_turn: &[String]) {
        let mut more = self.more.clone();
        for cost in self.counted_elsewhere(usage).iter() {
            more.take(cost);
        }
        let mut known = usage.known(&self.of);
        for cost in self.others.iter() {
            known.take(cost);
        }
        if self.sharing.news() == Some(true) && self.others.is_empty() {
            // What they are told is what it has cost.
            let mut beyond = known.clone();
            self.told.iter().for_each(|told| beyond.take(told));
            usage.take_back_doubtful(&self.of, agent, &beyond).iter().for_each(|cost| known.take(cost));
        }
        for cost in self.begins_at.iter() {
            // At nothing, or at a sum of its parent's, which may be known to have cost more than this window's agent says.
            if cost.amount.is_zero() { known.set(cost) } else { known.raise(cost) }
        }
        for cost in usage.take_ahead(&self.of, &self.connection, &self.more).iter() {
            usage.take_back(agent, cost);
            known.take(cost);
        }
        // What another connection was told it writes, unless it has done so or is gone.
        let mut ahead = Costs::default();
        let unwritten = self.unwritten.as_ref().filter(|(cost, _)| known.lack(cost).is_some());
        if let Some((cost, _)) = unwritten {
            known.lack(cost).iter().for_each(|more| ahead.add(more));
            known.set(cost);
        }
        let mut past = Costs::default();
        for cost in self.past.iter() {
            if let Some(more) = known.lack(cost) {
                past.add(&more);
                known.set(cost);
            }
        }
        known.add_all(&more);
        for cost in [&ahead, &past] {
            usage.add(None, agent, &Used { cost: cost.clone(), ..Used::default() });
        }
        if self.news.is_empty() && unwritten.is_none() {
            return;
        }
        // In other units others may have been told something since; what was told of another that had its id is nothing.
        let stored = usage.told(&self.of).filter(|_| self.others.is_empty()).cloned();
        let is_shared = self.is_shared(usage);
        let mut counted = if self.others.is_empty() { usage.counted(&self.of) } else { Counted::default() };
        counted.add_all(&self.parts.here);
        let of_session = usage.is_shared(&self.of).filter(|_| self.others.is_empty());
        // What the agent has done in others it has not done in this one before a history shows it.
        let of_session = self.sharing.news().or(of_session);
        let doubtful = if of_session.is_none() { self.doubtful(usage, is_shared) } else { Costs::default() };
        let mut told = stored.unwrap_or_else(|| self.told.clone());
        // What another window was told its agent may not have kept: then who opens the session next goes on from before that.
        let is_told = |(cost, by): &&(Cost, String)| *by == self.connection || told.of(&cost.currency).is_none();
        let last = unwritten.filter(is_told).map(|(cost, _)| cost.clone());
        if let Some(cost) = &last {
            told.set_last(cost);
        }
        for cost in self.news.iter() {
            // Of one sum others may have been told more since.
            let others = told.of(&cost.currency).filter(|_| is_shared).unwrap_or_default();
            told.set_last(&Cost { amount: cost.amount.max(others), currency: cost.currency.clone() });
        }
        usage.note_told(&self.of, told, &known);
        usage.note_shared(&self.of, of_session);
        usage.note_counted(&self.of, &if is_shared { counted } else { Counted::default() });
        usage.note_doubtful(&self.of, &doubtful);
        if let Some((_, by)) = unwritten.filter(|(_, by)| !by.is_empty() && *by != self.connection) {
            // Of one sum it may have been told what other turns have cost.
            let others = at_turn.iter().filter(|other| is_shared && *other != by);
            let connections: Vec<String> = std::iter::once(by).chain(others).cloned().collect();
            usage.note_ahead(&self.of, &connections, &ahead);
        }
        usage.note_ahead(&self.of, at_turn, &past);
    }

    /// The store has it all.
    pub(super) fn noted(&mut self) {
        if !self.news.is_empty() {
            self.others = Costs::default();
        }
        self.news = Costs::default();
        self.sharing.noted();
        self.more = Costs::default();
        self.past = Costs::default();
        self.unwritten = None;
        self.begins_at = Costs::default();
        self.parts.here = Counted::default();
        self.parts.elsewhere = Costs::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(amount: &str) -> Cost {
        Cost { amount: Amount::parse(amount).unwrap(), currency: "USD".to_owned() }
    }

    /// Says these sums, of now or of the past.
    fn tell(count: &mut Count, sums: &[(&str, &str)]) {
        for (when, amount) in sums {
            if *when == "now" {
                count.now(&dollars(amount));
            } else {
                count.past(&dollars(amount), &Costs::default());
            }
        }
    }

    /// What it is known to have cost, what the window was told last, and what counts of the past.
    fn after(count: &Count, mut usage: Usage) -> [String; 3] {
        count.note(&mut usage, "a", &[]);
        let [known, told] = [usage.known("x"), usage.told("x").cloned().unwrap()];
        let past = usage.days().iter().find(|day| day.day.is_none()).map(|day| day.used.cost.clone());
        [known, told, past.unwrap_or_default()].map(|costs| costs.of("USD").unwrap_or_default().to_string())
    }

    /// The agent has said that it has cost so much, and it is known to have cost so much.
    fn stored(told: &str, known: &str) -> Usage {
        let [mut last, mut all, mut used] = [Costs::default(), Costs::default(), Costs::default()];
        last.set(&dollars(told));
        all.set(&dollars(known));
        used.set(&dollars(known));
        let mut usage = Usage::default();
        usage.note_told("x", last, &all);
        usage.add(Some("2025-10-09"), "a", &Used { cost: used, ..Used::default() });
        usage
    }

    #[test]
    fn what_is_told_of_the_past_counts_as_far_as_it_was_not_known_when_it_was_told() {
        // What is told, and what is known then, was told last, and counts of the past.
        for (tells, expected) in [
            (&[("past", "1.5")][..], ["2", "1.5", "0"]),
            (&[("past", "2.5")], ["2.5", "2.5", "0.5"]),
            (&[("past", "2.5"), ("past", "1")], ["2.5", "1", "0.5"]),
            (&[("now", "1.25"), ("past", "2")], ["2.25", "2", "0"]),
            (&[("now", "1.25"), ("past", "3")], ["3", "3", "0.75"]),
            (&[("past", "3"), ("now", "3.25")], ["3.25", "3.25", "1"]),
            (&[("now", "3.25")], ["3.25", "3.25", "0"]),
            (&[("now", "2"), ("now", "2.25")], ["2.25", "2.25", "0"]),
            (&[("past", "1.5"), ("now", "1.75"), ("past", "3"), ("now", "0.5")], ["3.5", "0.5", "0.75"]),
            (&[("past", "3"), ("now", "0.5"), ("past", "3.25"), ("now", "3.5")], ["3.75", "3.5", "1"]),
        ] {
            let usage = stored("1", "2");
            let mut count = Count::new("x".to_owned(), "here", Some(&usage));
            tell(&mut count, tells);
            assert_eq!(after(&count, usage), expected, "{tells:?}");
        }
    }

    #[test]
    fn the_largest_sum_that_can_have_been_taken_up_counts_though_more_is_known_by_now() {
        let mut count = Count::new("x".to_owned(), "here", Some(&stored("1", "10")));
        count.hears(stored("23", "23").told("x").unwrap(), &stored("23", "23").known("x"));
        count.now(&dollars("13"));
        assert_eq!(after(&count, stored("23", "23")), ["26", "13", "0"]);
    }

    #[test]
    fn in_a_unit_of_which_this_window_was_told_nothing_it_is_told_what_others_were() {
        let euros = |amount: &str| Cost { currency: "EUR".to_owned(), ..dollars(amount) };
        let mut usage = stored("1", "1");
        let mut count = Count::new("x".to_owned(), "here", Some(&usage));
        let [mut told, mut all] = [usage.told("x").cloned().unwrap(), usage.known("x")];
        told.set(&dollars("3"));
        all.set(&dollars("3"));
        usage.note_told("x", told, &all);
        count.now(&euros("4"));
        count.note(&mut usage, "a", &[]);
        let told = usage.told("x").unwrap();
        assert_eq!([told.of("USD"), told.of("EUR")], [Amount::parse("3"), Amount::parse("4")]);
    }

    #[test]
    fn another_window_may_have_told_meanwhile_what_is_told_of_the_past() {
        let mut count = Count::new("x".to_owned(), "here", Some(&stored("1", "1")));
        count.past(&dollars("2"), &Costs::default());
        assert_eq!(after(&count, stored("1", "1")), ["2", "2", "1"]);
        assert_eq!(after(&count, stored("1.5", "1.75")), ["2", "2", "0.25"]);
        assert_eq!(after(&count, stored("3", "3")), ["3", "2", "0"]);
        count.noted();
        assert_eq!(after(&count, stored("2", "3")), ["3", "2", "0"]);
    }

    #[test]
    fn what_is_known_of_another_that_had_its_id_is_hidden_and_what_other_windows_were_told_is_not() {
        let mut count = Count::begun("x".to_owned(), "here", stored("1", "2").known("x"));
        count.now(&dollars("0.5"));
        assert_eq!(after(&count, stored("1", "2")), ["0.5", "0.5", "0"]);
        // Another window was told that it has cost a half, which is not what this one was told.
        assert_eq!(after(&count, stored("0.5", "2.5")), ["1", "0.5", "0"]);
        count.noted();
        assert_eq!(after(&count, stored("0.5", "1")), ["1", "0.5", "0"]);
    }

    #[test]
    fn a_fork_that_begins_at_nothing_is_known_to_have_cost_what_it_is_told() {
        let mut parents = Costs::default();
        parents.set(&dollars("2"));
        let mut usage = Usage::default();
        usage.note_told("x", parents.clone(), &parents);
        for (tells, expected) in [
            (&[("now", "0.5")][..], ["0.5", "0.5", "0"]),
            // That may be a sum which its parent had.
            (&[("past", "0.5")], ["2", "0.5", "0"]),
            (&[("past", "0.5"), ("now", "0.75")], ["2.25", "0.75", "0"]),
            (&[("past", "2"), ("now", "0.5")], ["0.5", "0.5", "0"]),
            (&[("now", "2.5"), ("now", "0.5")], ["3", "0.5", "0"]),
            (&[("past", "2.5"), ("now", "0.5")], ["3", "0.5", "0.5"]),
        ] {
            let mut count = Count::new("x".to_owned(), "here", Some(&usage));
            tell(&mut count, tells);
            assert_eq!(after(&count, usage.clone()), expected, "{tells:?}");
        }
        let mut count = Count::new("x".to_owned(), "here", Some(&usage));
        count.inherits(&dollars("0"));
        count.now(&dollars("0.5"));
        assert_eq!(after(&count, usage), ["0.5", "0.5", "0"]);
    }
}
