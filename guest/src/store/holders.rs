//! Who shares a log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::unreadable::unreadable;
use crate::storage::Result;

/// Who shares a log with its own session, and up to which entry.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Holders {
    /// By session id.
    pub holders: BTreeMap<String, u32>,
    /// Whether the session whose log it is has been deleted, so that only the holders keep it.
    #[serde(default)]
    pub orphaned: bool,
}

impl Holders {
    /// Reads the record of a log; empty where nobody shares it.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        text.map_or(Ok(Self::default()), |text| {
            serde_json::from_str(text).map_err(|error| unreadable("a log's holders", &error))
        })
    }

    /// The record's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The last entry that anybody but the log's own session needs.
    pub fn needed_until(&self) -> u32 {
        self.holders.values().copied().max().unwrap_or(0)
    }
}
