//! Numbers by which a cursor remembers what it was made with.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// A hash over parts of which each says where it ends, so that no two sequences of them are the same bytes.
#[derive(Default)]
pub(super) struct Fingerprint(SipHasher13);

impl Fingerprint {
    pub(super) fn number(&mut self, number: u64) {
        self.0.write(&number.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.write(text.as_bytes());
    }

    pub(super) fn option<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        self.number(value.is_some().into());
        if let Some(value) = value {
            add(self, value);
        }
    }

    pub(super) fn list<T>(&mut self, items: &[T], add: impl Fn(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            add(self, item);
        }
    }

    /// The number that they come to.
    pub(super) fn finish(&self) -> u64 {
        self.0.finish()
    }
}
