//! Questions that are put by threads of their own, and what was answered last.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many questions are under way at a time, and of how many folders answers are kept.
const MOST_UNDER_WAY: usize = 4;
const MOST_KEPT: usize = 256;

/// How long an answer holds, and how long it is waited for.
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
    known: Arc<(Mutex<Known<T>>, Condvar)>,
}

#[derive(Debug)]
struct Known<T> {
    answers: HashMap<String, (Instant, T)>,
    /// Since when. What is waited for in vain once is not waited for again while it lasts.
    under_way: HashMap<String, Instant>,
}

fn lock<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Clone + Send + 'static> Asked<T> {
    pub(super) fn new(terms: Terms, question: fn(&str) -> T) -> Self {
        let known = Known { answers: HashMap::new(), under_way: HashMap::new() };
        Self { terms, question, known: Arc::new((Mutex::new(known), Condvar::new())) }
    }

    /// What is known of a folder: the last answer, where there is no newer one within the time that is waited.
    pub(super) fn ask(&self, folder: &str) -> Option<T> {
        let (known, changed) = &*self.known;
        let mut known = lock(known);
        let is_fresh = |(at, _): &&(Instant, T)| at.elapsed() < self.terms.fresh;
        if let Some((_, answer)) = known.answers.get(folder).filter(is_fresh) {
            return Some(answer.clone());
        }
        if !known.under_way.contains_key(folder) && known.under_way.len() < MOST_UNDER_WAY {
            self.begin(folder, &mut known);
        }
        if let Some(since) = known.under_way.get(folder).copied() {
            let patience = self.terms.patience.saturating_sub(since.elapsed());
            let is_under_way = |known: &mut Known<T>| known.under_way.contains_key(folder);
            let waited = changed.wait_timeout_while(known, patience, is_under_way);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        known.answers.get(folder).map(|(_, answer)| answer.clone())
    }

    fn begin(&self, folder: &str, known: &mut Known<T>) {
        let (question, shared, of) = (self.question, Arc::clone(&self.known), folder.to_owned());
        let thread = thread::Builder::new().name("folders".to_owned());
        let begun = thread.spawn(move || {
            let answer = question(&of);
            let (known, changed) = &*shared;
            let mut known = lock(known);
            known.under_way.remove(&of);
            if known.answers.len() >= MOST_KEPT {
                known.answers.clear();
            }
            known.answers.insert(of, (Instant::now(), answer));
            changed.notify_all();
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

    #[test]
    fn an_answer_is_waited_for_and_holds_for_a_while() {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let question = |_: &str| ASKED.fetch_add(1, Ordering::SeqCst) + 1;
        let held = Asked::new(Terms { fresh: LONG, patience: LONG }, question);
        assert_eq!([held.ask("/a"), held.ask("/a"), held.ask("/b")], [Some(1), Some(1), Some(2)]);
        let fleeting = Asked::new(Terms { fresh: Duration::ZERO, patience: LONG }, question);
        assert_eq!([fleeting.ask("/a"), fleeting.ask("/a")], [Some(3), Some(4)]);
    }

    #[test]
    fn who_does_not_answer_is_waited_for_once() {
        static LEFT: Mutex<()> = Mutex::new(());
        let held = lock(&LEFT);
        let question = |_: &str| drop(lock(&LEFT));
        let asked = Asked::new(Terms { fresh: LONG, patience: Duration::from_millis(50) }, question);
        let begun = Instant::now();
        for folder in (0..100).map(|nth| format!("/{}", nth % 10)) {
            assert_eq!(asked.ask(&folder), None);
        }
        assert!(begun.elapsed() < LONG, "only the first few are waited for, and these once");
        drop(held);
    }
}
