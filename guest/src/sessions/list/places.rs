//! Where sessions stand in the list.

use crate::storage::{Result, Storage};
use crate::store::{Ids, Layout, Placed, Places, Store, keys};

/// How many records are read at a time: they may be large.
const READ_AT_ONCE: usize = 32;

/// Where each of these sessions stands; none for one that is not there. Of a session that changes meanwhile this may be where it
/// stood or where it stands.
pub(super) fn places<S: Storage>(store: &Store<S>, ids: &Ids) -> Result<Vec<Option<Placed>>> {
    let mut kept = store.take_places();
    // The changes of an earlier layout stand nowhere.
    if store.layout()? != Layout::Present || !forget_changed(store, &mut kept)? {
        kept = Places::new(store.revision()?);
    }
    let mut places = kept.of(ids);
    let unread: Vec<(usize, &str)> = ids.iter().enumerate().filter(|(at, _)| places[*at].is_none()).collect();
    for some in unread.chunks(READ_AT_ONCE) {
        let keys: Vec<String> = some.iter().map(|(_, id)| keys::session(id)).collect();
        for ((at, _), record) in some.iter().zip(store.storage().get(&keys)?) {
            places[*at] = record.as_deref().map(Placed::parse).transpose()?;
        }
    }
    if unread.iter().any(|(at, _)| places[*at].is_some()) {
        kept.learn(ids, &places);
    }
    store.keep_places(kept);
    Ok(places)
}

/// Forgets what has changed since; says whether that could be told.
fn forget_changed<S: Storage>(store: &Store<S>, kept: &mut Places) -> Result<bool> {
    let revision = store.revision()?;
    // Nothing is known yet, or the store was put back to an earlier state of it.
    if kept.is_empty() || revision < kept.as_of {
        return Ok(false);
    }
    if revision > kept.as_of {
        let Some(changed) = store.changed_since(kept.as_of)? else { return Ok(false) };
        for id in changed {
            kept.forget(&id);
        }
        kept.as_of = revision;
    }
    Ok(true)
}
