//! The pages of a file that are free: some of them, the trunks, list others, the leaves, and the next trunk.

use std::collections::BTreeSet;

use super::number32;

/// The pages that are free.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct FreePages {
    trunks: BTreeSet<u32>,
    leaves: BTreeSet<u32>,
}

impl FreePages {
    /// Finds them in a file of so many pages, of which each has `usable` bytes, from the first trunk on. `read` gives a page by
    /// its number, or none where it cannot be read: what it would have named is not known then.
    pub(in crate::store) fn read<E>(
        first_trunk: u32,
        pages: u32,
        usable: usize,
        mut read: impl FnMut(u32) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Self, E> {
        let mut free = Self::default();
        let mut next = first_trunk;
        // A damaged file may list them in a circle.
        while next > 1 && next <= pages && free.trunks.insert(next) {
            let Some(trunk) = read(next)? else { break };
            free.leaves.extend((0..listed(&trunk, usable)).filter_map(|at| number32(&trunk, 8 + 4 * at)));
            next = number32(&trunk, 0).unwrap_or_default();
        }
        Ok(free)
    }

    /// What of a page is in use where it is free: nothing of a leaf, of a trunk up to where its list ends. `None` for a page
    /// that is not free.
    pub(in crate::store) fn in_use(&self, number: u32, page: &[u8]) -> Option<usize> {
        if self.leaves.contains(&number) {
            Some(0)
        } else {
            self.trunks.contains(&number).then(|| 8 + 4 * listed(page, page.len()))
        }
    }

    pub(in crate::store) fn contains(&self, number: u32) -> bool {
        self.leaves.contains(&number) || self.trunks.contains(&number)
    }
}

/// How many pages a trunk lists.
fn listed(trunk: &[u8], usable: usize) -> usize {
    let listed = number32(trunk, 4).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
    listed.min((usable - 8) / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trunks_and_what_they_list_are_free() {
        let trunk = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 8];
        let read = |number| if number == 3 { Ok(Some(trunk.to_vec())) } else { Err(number) };
        let free = FreePages::read(3, 9, 512, read).expect("read");
        let is_free: Vec<u32> = (1..10).filter(|number| free.contains(*number)).collect();
        assert_eq!(is_free, [3, 5, 7]);
        assert_eq!(
            (free.in_use(3, &[trunk.to_vec(), vec![0; 492]].concat()), free.in_use(5, &trunk)),
            (Some(16), Some(0))
        );
        assert_eq!(free.in_use(8, &trunk), None);
    }

    #[test]
    fn lists_of_free_pages_in_a_circle_end() {
        let trunk = |next: u8| [vec![0, 0, 0, next, 0xff, 0xff, 0xff, 0xff], vec![0; 504]].concat();
        let read = |number| Ok::<_, ()>(Some(trunk(if number == 3 { 4 } else { 3 })));
        let free = FreePages::read(3, 9, 512, read).expect("read");
        assert_eq!(free.trunks, [3, 4].into());
    }

    #[test]
    fn what_a_trunk_names_that_cannot_be_read_is_not_known() {
        let free = FreePages::read(3, 9, 512, |_| Ok::<_, ()>(None)).expect("read");
        assert!(free.contains(3) && !free.contains(4));
    }
}
