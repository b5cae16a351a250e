//! TEMPORARY
use crate::storage::*; use crate::store::*;
pub struct Policy { pub idle_since: Option<i64>, pub unprompted_since: Option<i64> }
pub fn sweep<S: Storage>(_s: &Store<S>, _p: &Policy, _now: i64, _n: u32) -> Result<u32> { Ok(0) }
