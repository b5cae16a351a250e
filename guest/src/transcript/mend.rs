//! stub
#![allow(missing_docs)]
use super::Kind;
use crate::storage::{Result, Storage};
use crate::store::Session;
#[derive(Debug)]
pub struct Unfinished {
    pub tag: Option<String>,
}
pub fn unfinished<S: Storage>(_s: &S, _x: &Session) -> Result<Vec<Unfinished>> {
    Ok(Vec::new())
}
pub fn entries(_u: &Unfinished, _now: i64) -> Vec<(Kind, String)> {
    Vec::new()
}
#[derive(Debug, Default)]
pub struct OpenCalls;
impl OpenCalls {
    pub fn note(&mut self, _u: &str) {}
    pub fn failed(&self) -> Vec<String> {
        Vec::new()
    }
}
