//! Lists of a store that changes between the pages.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::change::{Change, Intent};
use crate::check::{id, page, row_is_right};
use crate::lister::Lister;
use crate::model::Model;
use crate::question::Question;

/// Pages through the list while `history` happens, its nth part after the nth page.
///
/// A session that stays as it is comes exactly once and in order; one that changes and is in the list all the time
/// comes at least once; one that was deleted does not come afterwards, and none that is not in the list.
pub fn paged_under_change(
    lister: &mut impl Lister,
    model: &mut Model,
    question: &Question,
    history: &[Vec<Intent>],
) -> Result<(), TestCaseError> {
    let at_first: Vec<String> = model.list(question).iter().map(|session| session.id.clone()).collect();
    let mut changed = BTreeSet::new();
    let mut always: BTreeSet<String> = at_first.iter().cloned().collect();
    let mut order = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut happening = history.iter();
    let mut cursor = None;
    let mut pages = 0;
    loop {
        let (rows, next) = page(lister, question, cursor.as_deref())?;
        let mut in_page = BTreeSet::new();
        for row in &rows {
            let id = id(row);
            let session = model.get(id).filter(|session| question.admits(session));
            let Some(session) = session else {
                return Err(TestCaseError::fail(format!("{id:?} is not, or no longer, in this list")));
            };
            prop_assert!(in_page.insert(id.to_owned()), "{:?} twice in one page", id);
            row_is_right(row, session, question)?;
            order.push(id.to_owned());
            *times.entry(id.to_owned()).or_default() += 1;
        }
        cursor = next;
        if cursor.is_none() {
            break;
        }
        for change in happening.next().into_iter().flatten() {
            let Some(change) = change.resolve(model) else { continue };
            make(lister, model, &change);
            changed.insert(change.id().to_owned());
            if model.get(change.id()).is_none_or(|session| !question.admits(session)) {
                always.remove(change.id());
            }
        }
        pages += 1;
        prop_assert!(pages < 10_000, "the list does not end");
    }
    for id in &always {
        let times = times.get(id).copied().unwrap_or(0);
        if changed.contains(id) {
            prop_assert!(times >= 1, "{:?} changed and never came", id);
        } else {
            prop_assert_eq!(times, 1, "how often {:?} came, which did not change", id);
        }
    }
    order.retain(|id| !changed.contains(id));
    let unchanged: Vec<String> = at_first.into_iter().filter(|id| !changed.contains(id)).collect();
    prop_assert_eq!(order, unchanged);
    Ok(())
}

/// Makes a change to both.
pub(crate) fn make(lister: &mut impl Lister, model: &mut Model, change: &Change) {
    lister.apply(change);
    model.apply(change);
}
