//! Lists that are mostly empty.

use std::ops::Deref;

/// Some of these, mostly none, which takes the room of a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Few<T>(Option<Box<Box<[T]>>>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(several: Vec<T>) -> Self {
        Self((!several.is_empty()).then(|| Box::new(several.into_boxed_slice())))
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], |several| several)
    }
}
