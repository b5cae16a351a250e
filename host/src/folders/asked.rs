//! Questions that are put by threads of their own, and what was answered last.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many questions are under way at a time, and of how many folders answers are kept.
const MOST_UNDER_WAY: usize = 4;
const MOST_KEPT: usize = 256;

/// How long an answer holds, and for how long it is worth asking again for one that has not come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) fresh: Duration,
    pub(super) patience: Duration,
}

/// One question that may be put of any folder.
#[derive(Debug)]
pub(super) struct Asked<T> {
    terms: Terms,
    question: fn(&str) -> T,
    known: Arc<Mutex<Known<T>>>,
}

#[derive(Debug)]
struct Known<T> {
    answers: HashMap<String, (Instant, T)>,
    /// Since when.
    under_way: HashMap<String, Instant>,
    /// Of which folders the answer was not asked for since it came.
    untaken: HashSet<String>,
}

fn lock<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Clone + Default + Send + 'static> Asked<T> {
    pub(super) fn new(terms: Terms, question: fn(&str) -> T) -> Self {
        let known = Known { answers: HashMap::new(), under_way: HashMap::new(), untaken: HashSet::new() };
        Self { terms, question, known: Arc::new(Mutex::new(known)) }
    }

    /// What is known of a folder. None where it is being found out; where that takes too long, the last answer, or an empty one.
    pub(super) fn ask(&self, folder: &str) -> Option<T> {
        let mut known = lock(&self.known);
        known.untaken.remove(folder);
        let is_fresh = |(at, _): &&(Instant, T)| at.elapsed() < self.terms.fresh;
        if let Some((_, answer)) = known.answers.get(folder).filter(is_fresh) {
            return Some(answer.clone());
        }
        if !known.under_way.contains_key(folder) && known.under_way.len() < MOST_UNDER_WAY {
            self.begin(folder, &mut known);
        }
        // What has no thread yet waits for those that have.
        let since = known.under_way.get(folder).or_else(|| known.under_way.values().max());
        if since.is_some_and(|since| since.elapsed() < self.terms.patience) {
            return None;
        }
        Some(known.answers.get(folder).map(|(_, answer)| answer.clone()).unwrap_or_default())
    }

    /// Whether it is worth asking again soon: for what is being found out, or came a moment ago.
    pub(super) fn is_asking(&self) -> bool {
        let known = lock(&self.known);
        let untaken = known.untaken.iter().filter_map(|folder| known.answers.get(folder)).map(|(came, _)| came);
        known.under_way.values().chain(untaken).any(|since| since.elapsed() < self.terms.patience)
    }

    fn begin(&self, folder: &str, known: &mut Known<T>) {
        let (question, shared, of) = (self.question, Arc::clone(&self.known), folder.to_owned());
        let thread = thread::Builder::new().name("folders".to_owned());
        let begun = thread.spawn(move || {
            let answer = question(&of);
            let mut known = lock(&shared);
            known.under_way.remove(&of);
            if known.answers.len() >= MOST_KEPT {
                known.answers.clear();
                known.untaken.clear();
            }
            known.answers.insert(of.clone(), (Instant::now(), answer));
            known.untaken.insert(of);
        });
        if begun.is_ok() {
            known.under_way.insert(folder.to_owned(), Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    /// Asks until there is an answer.
    fn answer(asked: &Asked<u32>, folder: &str) -> u32 {
        loop {
            if let Some(answer) = asked.ask(folder) {
                return answer;
            }
            thread::yield_now();
        }
    }

    #[test]
    fn an_answer_holds_for_a_while() {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let question = |_: &str| ASKED.fetch_add(1, Ordering::SeqCst) + 1;
        let held = Asked::new(Terms { fresh: LONG, patience: LONG }, question);
        assert_eq!([answer(&held, "/a"), answer(&held, "/a"), answer(&held, "/b")], [1, 1, 2]);
        assert!(!held.is_asking());
    }

    #[test]
    fn a_question_is_worth_asking_again_until_its_answer_was_asked_for() {
        let mut asked = Asked::new(Terms { fresh: LONG, patience: LONG }, |_: &str| 1);
        assert!(!asked.is_asking());
        assert_eq!(asked.ask("/a"), None);
        // Whether or not its thread has ended.
        while !lock(&asked.known).under_way.is_empty() {
            assert!(asked.is_asking());
        }
        assert!(asked.is_asking());
        assert_eq!((asked.ask("/a"), asked.is_asking()), (Some(1), false));
        // An answer that nobody asks for any more is worth it for a while.
        asked.ask("/b");
        while !lock(&asked.known).under_way.is_empty() {}
        asked.terms.patience = Duration::ZERO;
        assert!(!asked.is_asking());
    }

    #[test]
    fn an_old_answer_is_not_given_while_a_new_one_is_found_out() {
        static LEFT: Mutex<()> = Mutex::new(());
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let question = |_: &str| {
            drop(lock(&LEFT));
            ASKED.fetch_add(1, Ordering::SeqCst) + 1
        };
        let mut asked = Asked::new(Terms { fresh: LONG, patience: LONG }, question);
        assert_eq!(answer(&asked, "/a"), 1);
        let held = lock(&LEFT);
        asked.terms.fresh = Duration::ZERO;
        assert_eq!((asked.ask("/a"), asked.is_asking()), (None, true));
        // Until that has taken too long.
        asked.terms.patience = Duration::ZERO;
        assert_eq!((asked.ask("/a"), asked.is_asking()), (Some(1), false));
        drop(held);
    }

    #[test]
    fn nobody_waits_for_who_does_not_answer() {
        static LEFT: Mutex<()> = Mutex::new(());
        let held = lock(&LEFT);
        let question = |_: &str| {
            drop(lock(&LEFT));
            1
        };
        let mut asked = Asked::new(Terms { fresh: LONG, patience: LONG }, question);
        let folders: Vec<String> = (0..10).map(|nth| format!("/{nth}")).collect();
        assert!(folders.iter().all(|folder| asked.ask(folder).is_none()));
        assert_eq!(lock(&asked.known).under_way.len(), MOST_UNDER_WAY);
        asked.terms.patience = Duration::ZERO;
        assert!(folders.iter().all(|folder| asked.ask(folder) == Some(0)));
        drop(held);
    }
}
