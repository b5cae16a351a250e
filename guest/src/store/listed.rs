//! Sessions in the list's order.

use std::cmp::Ordering;
use std::ops::Range;

use super::ids::Ids;
use super::keys;

/// Sessions with their recency, in the list's order.
#[derive(Debug, Default)]
pub struct Listed {
    ids: Ids,
    /// Recency, and where among the ids.
    order: Vec<(i64, usize)>,
}

impl Listed {
    /// Those of these sessions whose recency is given, by where they stand among the ids.
    pub fn new(ids: Ids, places: impl IntoIterator<Item = (i64, usize)>) -> Self {
        let mut order: Vec<(i64, usize)> = places.into_iter().collect();
        let id = |at: usize| ids.get(at).unwrap_or_default();
        // What comes first in a list stands last among its keys.
        order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| keys::compare_places((b.0, id(b.1)), (a.0, id(a.1)))));
        Self { ids, order }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The ids at these places in the list.
    pub fn ids(&self, places: Range<usize>) -> impl Iterator<Item = &str> {
        self.order.get(places).unwrap_or_default().iter().map(|place| self.place(place).1)
    }

    fn place(&self, (recency, at): &(i64, usize)) -> (i64, &str) {
        (*recency, self.ids.get(*at).unwrap_or_default())
    }

    /// How many of them do not stand behind this place.
    pub fn until(&self, behind: (i64, &str)) -> usize {
        self.order.partition_point(|place| !is_behind(self.place(place), behind))
    }

    /// Leaves of those from a place on only such that are among these.
    pub fn retain_common(&mut self, from: usize, ids: &Ids) {
        let mut is_common = vec![false; self.ids.len()];
        for (at, _) in self.ids.common(ids) {
            is_common[at] = true;
        }
        let mut nth = 0;
        self.order.retain(|(_, at)| {
            nth += 1;
            nth <= from || is_common[*at]
        });
    }
}

/// Whether one session stands behind another in a list, by recency and id.
pub fn is_behind(of: (i64, &str), other: (i64, &str)) -> bool {
    // What comes first in a list stands last among its keys.
    keys::compare_places(of, other) == Ordering::Less
}
