//! Where a list goes on: opaque, versioned, tied to the filters it was made with, and sure to notice damage. It says
//! all there is to know, so any process on the same store can follow it.

use std::hash::Hasher as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use siphasher::sip::SipHasher13;

use crate::store::keys;
use crate::time;

/// The version this module writes and reads. In version 1 the filter's number was made of its text for debugging.
const VERSION: &str = "2";
/// Longer text than any cursor of ours is not even decoded.
const LONGEST: usize = 64 * 1024;

/// How far a list has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the list's order, behind this row.
    Row {
        /// Its session's [recency](crate::store::Session::recency).
        recency: i64,
        /// The row's session.
        id: String,
    },
    /// Behind the last session that was tried, in a search that tries those on the list.
    Tried {
        /// The session's recency.
        recency: i64,
        /// The session.
        id: String,
    },
    /// All rows were read; among those changed since, behind this revision.
    Changed {
        /// The revision of the last session given.
        revision: u64,
    },
}

/// A cursor's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// [`super::filter::Filter::fingerprint`] of the request it was made for.
    pub filter: u64,
    /// The revision when the first page was read.
    pub started: u64,
    /// Where to go on.
    pub place: Place,
    /// What the rows show.
    pub fields: Fields,
}

/// What rows show that their client is shown because it asked so when it began the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fields {
    /// What it is shown anyway.
    #[default]
    AsEver,
    /// The members of the draft of list extensions.
    Extended,
    /// The members of the draft of list extensions, and `createdAt` at the root, as the draft had it that preceded the
    /// stable protocol.
    OfTheDraft,
}

fn checksum(text: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

impl Cursor {
    /// The cursor as clients carry it.
    pub fn encode(&self) -> String {
        let place = match &self.place {
            Place::Row { recency, id } => format!("r.{recency}.{}", keys::encode(id).replace('.', "%2E")),
            Place::Tried { recency, id } => format!("s.{recency}.{}", keys::encode(id).replace('.', "%2E")),
            Place::Changed { revision } => format!("c.{revision}"),
        };
        let fields = match self.fields {
            Fields::AsEver => "",
            Fields::Extended => ".x",
            Fields::OfTheDraft => ".d",
        };
        let text = format!("{VERSION}.{:x}.{:x}.{place}{fields}", self.filter, self.started);
        URL_SAFE_NO_PAD.encode(format!("{text}.{:016x}", checksum(&text)))
    }

    /// Reads a cursor; `None` for anything that [`Self::encode`] of this version did not make.
    pub fn decode(cursor: &str) -> Option<Self> {
        if cursor.len() > LONGEST {
            return None;
        }
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (text, sum) = text.rsplit_once('.')?;
        if sum != format!("{:016x}", checksum(text)) {
            return None;
        }
        let mut parts = text.split('.');
        if parts.next()? != VERSION {
            return None;
        }
        let filter = u64::from_str_radix(parts.next()?, 16).ok()?;
        let started = u64::from_str_radix(parts.next()?, 16).ok()?;
        let place = match parts.next()? {
            kind @ ("r" | "s") => {
                let recency = parts.next()?.parse().ok().filter(|recency| (0..=time::LAST).contains(recency))?;
                let id = keys::decode(parts.next()?)?;
                if kind == "r" { Place::Row { recency, id } } else { Place::Tried { recency, id } }
            }
            "c" => Place::Changed { revision: parts.next()?.parse().ok()? },
            _ => return None,
        };
        let fields = match parts.next() {
            None => Fields::AsEver,
            Some("x") => Fields::Extended,
            Some("d") => Fields::OfTheDraft,
            Some(_) => return None,
        };
        parts.next().is_none().then_some(Self { filter, started, place, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_and_damage_is_noticed() {
        let (recency, id) = (1_760_000_000_000, "s.1/ключ%".to_owned());
        for (place, fields) in [
            (Place::Row { recency, id: id.clone() }, Fields::AsEver),
            (Place::Tried { recency, id }, Fields::Extended),
            (Place::Changed { revision: 7 }, Fields::OfTheDraft),
        ] {
            let cursor = Cursor { filter: u64::MAX, started: 3, place, fields };
            let text = cursor.encode();
            assert_eq!(Cursor::decode(&text).as_ref(), Some(&cursor));
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
                let damaged = String::from_utf8(bytes).unwrap();
                assert_eq!(Cursor::decode(&damaged), None, "{damaged}");
            }
        }
        for text in ["", "x", "MTIz", "eyJwYWdlIjogMn0=", &"A".repeat(1 << 20)] {
            assert_eq!(Cursor::decode(text), None);
        }
    }

    #[test]
    fn a_cursor_of_an_earlier_version_is_none() {
        let of = |version: &str| {
            let text = format!("{version}.7.3.c.5");
            URL_SAFE_NO_PAD.encode(format!("{text}.{:016x}", checksum(&text)))
        };
        assert!(Cursor::decode(&of(VERSION)).is_some());
        assert_eq!(Cursor::decode(&of("1")), None);
    }
}
