//! Where sessions stand in the list.

use std::collections::BTreeMap;

use crate::search::ids::Ids;
use crate::storage::{Result, Storage};
use crate::store::{Layout, Placed, Places, Store, keys};

/// How many records are read at a time: they may be large.
const READ_AT_ONCE: usize = 32;

/// Where those of these sessions stand that are there. Of a session that changes meanwhile this may be
/// where it stood or where it stands.
pub(super) fn places<S: Storage>(store: &Store<S>, ids: Ids) -> Result<Vec<(String, Placed)>> {
    let mut kept = store.take_places();
    // The changes of an earlier layout stand nowhere.
    if store.layout()? != Layout::Present || !forget_changed(store, &mut kept)? {
        kept = Places::new(store.revision()?);
    }
    let mut places: Vec<Option<Placed>> = ids.iter().map(|id| kept.known.get(id).copied()).collect();
    let unread: Vec<(usize, &str)> = ids.iter().enumerate().filter(|(at, _)| places[*at].is_none()).collect();
    let mut read = BTreeMap::new();
    for some in unread.chunks(READ_AT_ONCE) {
        let keys: Vec<String> = some.iter().map(|(_, id)| keys::session(id)).collect();
        for ((at, id), record) in some.iter().zip(store.storage().get(&keys)?) {
            places[*at] = record.as_deref().map(Placed::parse).transpose()?;
            read.extend(places[*at].map(|placed| ((*id).to_owned(), placed)));
        }
    }
    kept.learn(read, |id| ids.contains(id));
    let places = ids.into_iter().zip(places).filter_map(|(id, placed)| Some((id, placed?))).collect();
    if !kept.is_too_large() {
        store.keep_places(kept);
    }
    Ok(places)
}

/// Forgets what has changed since; says whether that could be told.
fn forget_changed<S: Storage>(store: &Store<S>, kept: &mut Places) -> Result<bool> {
    let revision = store.revision()?;
    // Nothing is known yet, or the store was put back to an earlier state of it.
    if kept.known.is_empty() || revision < kept.as_of {
        return Ok(false);
    }
    if revision > kept.as_of {
        let Some(changed) = store.changed_since(kept.as_of)? else { return Ok(false) };
        for id in changed {
            kept.known.remove(&id);
        }
        kept.as_of = revision;
    }
    Ok(true)
}
