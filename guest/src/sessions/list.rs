//! TEMPORARY
use crate::storage::*; use crate::store::*;
pub struct Options { pub page_size: u32 }
pub enum ListError { Invalid { field: String, message: String }, Storage(StorageError) }
pub fn list<S: Storage>(store: &Store<S>, options: &Options, _params: Option<&str>) -> std::result::Result<String, ListError> {
    let p = store.storage().scan("i/m/u/", "i/m/u/~", true, Bounds{limit: options.page_size, max_bytes: 1<<20}).map_err(ListError::Storage)?;
    let rows: Vec<&str> = p.entries.iter().filter_map(|e| Row::parse(&e.value)).map(|r| r.json).collect();
    if false { return Err(ListError::Invalid{field: String::new(), message: String::new()}); }
    Ok(format!("{{\"sessions\":[{}]}}", rows.join(",")))
}
