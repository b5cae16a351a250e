//! What a page of the file has besides what it stores, by SQLite's file format: the gap between a b-tree page's cell
//! pointers and its cells, the blocks between cells that are free, and pages that are free as a whole. When rows move from page
//! to page copies of them stay there, which no later delete finds.

use crate::store::format::{FreePages, MAGIC, number16, number32};

/// The page that stands where locks are taken is never used; this is the byte of the file.
const LOCKS_AT: u64 = 1 << 30;

/// A page of a b-tree begins with its kind, every other one with the number of a page. In a file with this many pages or more
/// a page's number could look like a kind.
const TOO_MANY: u32 = 0x0200_0000;

/// What the first page says of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    size: usize,
    usable: usize,
    pages: u32,
    first_trunk: u32,
    has_map: bool,
}

impl Header {
    /// Reads the first page of a file with so many pages; `None` for what this does not know, or cannot tell apart.
    pub(super) fn read(first: &[u8], pages: u32) -> Option<Self> {
        let size = match number16(first, 16)? {
            1 => 65_536,
            size => size,
        };
        let usable = size.checked_sub(usize::from(*first.get(20)?))?;
        let is_known = first.starts_with(MAGIC) && first.len() == size && usable >= 480;
        if !is_known || pages >= TOO_MANY {
            return None;
        }
        Some(Self { size, usable, pages, first_trunk: number32(first, 32)?, has_map: number32(first, 52)? != 0 })
    }

    /// Finds the free pages; `read` gives a page by its number.
    pub(super) fn free<E>(&self, mut read: impl FnMut(u32) -> Result<Vec<u8>, E>) -> Result<FreePages, E> {
        FreePages::read(self.first_trunk, self.pages, self.usable, |number| read(number).map(Some))
    }

    /// Overwrites with zeros what a page has besides what it stores; says whether anything else was there. What is not as it
    /// should be is left as it is.
    pub(super) fn clean(&self, number: u32, page: &mut [u8], free: &FreePages) -> bool {
        if page.len() != self.size || self.is_lock(number) || self.is_map(number) {
            return false;
        }
        let page = &mut page[..self.usable];
        if let Some(used) = free.in_use(number, page) {
            return overwrite(&mut page[used..]);
        }
        let Some(unused) = unused(number, page) else { return false };
        // Every one of them, so this is no `any`.
        unused.into_iter().filter(|(start, end)| overwrite(&mut page[*start..*end])).count() > 0
    }

    fn is_lock(&self, number: u32) -> bool {
        u64::from(number) == LOCKS_AT / self.size as u64 + 1
    }

    /// Whether the page says of others who points to them, as in files that shrink by themselves.
    fn is_map(&self, number: u32) -> bool {
        if !self.has_map || number < 2 {
            return false;
        }
        let apart = u32::try_from(self.usable / 5 + 1).unwrap_or(u32::MAX);
        let map = (number - 2) / apart * apart + 2;
        // One that would be where locks are taken is the next.
        number == if self.is_lock(map) { map + 1 } else { map }
    }
}

/// The parts of a b-tree's page that hold no cell; `None` for a page that is none, or is damaged.
fn unused(number: u32, page: &[u8]) -> Option<Vec<(usize, usize)>> {
    let header = if number == 1 { 100 } else { 0 };
    let pointers = header
        + match page.get(header)? {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => return None,
        };
    let cells = number16(page, header + 3)?;
    let gap = pointers + 2 * cells;
    let content = match number16(page, header + 5)? {
        0 => 65_536,
        content => content,
    };
    if gap > content || content > page.len() {
        return None;
    }
    let is_cell =
        |at: usize| number16(page, pointers + 2 * at).is_some_and(|cell| (content..page.len()).contains(&cell));
    if !(0..cells).all(is_cell) {
        return None;
    }
    let mut unused = vec![(gap, content)];
    let (mut block, mut least) = (number16(page, header + 1)?, content);
    while block != 0 {
        let end = block + number16(page, block + 2)?;
        if block < least || end < block + 4 || end > page.len() {
            return None;
        }
        // It begins with where the next one is and how long it is itself.
        unused.push((block + 4, end));
        least = end;
        block = number16(page, block)?;
    }
    Some(unused)
}

fn overwrite(bytes: &mut [u8]) -> bool {
    let is_dirty = bytes.iter().any(|byte| *byte != 0);
    if is_dirty {
        bytes.fill(0);
    }
    is_dirty
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { size: 512, usable: 512, pages: 9, first_trunk: 0, has_map: false };

    /// A page of a table with one cell at its end, a free block before that, and words wherever nothing is stored.
    fn leaf(header: usize) -> Vec<u8> {
        let mut page = b"words ".repeat(86)[..512].to_vec();
        page[header] = 13;
        page[header + 1..header + 3].copy_from_slice(&480_u16.to_be_bytes());
        page[header + 3..header + 5].copy_from_slice(&1_u16.to_be_bytes());
        page[header + 5..header + 7].copy_from_slice(&480_u16.to_be_bytes());
        page[header + 8..header + 10].copy_from_slice(&500_u16.to_be_bytes());
        page[480..484].copy_from_slice(&[0, 0, 0, 20]);
        page
    }

    #[test]
    fn what_no_cell_is_in_is_overwritten_and_the_rest_stays() {
        for (number, header) in [(1, 100), (2, 0)] {
            let before = leaf(header);
            let mut page = before.clone();
            assert!(HEADER.clean(number, &mut page, &FreePages::default()));
            assert_eq!(page[..header + 10], before[..header + 10]);
            assert!(page[header + 10..480].iter().all(|byte| *byte == 0));
            assert_eq!(page[480..484], before[480..484]);
            assert!(page[484..500].iter().all(|byte| *byte == 0));
            assert_eq!(page[500..], before[500..]);
            assert!(!HEADER.clean(number, &mut page, &FreePages::default()), "a second time there is nothing");
        }
    }

    #[test]
    fn what_is_not_as_it_should_be_is_left_alone() {
        type Damage = fn(&mut Vec<u8>);
        let damages: [(&str, Damage); 7] = [
            ("no b-tree", |page| page[0] = 0),
            ("too many cells", |page| page[3] = 1),
            ("cells behind the page", |page| page[5] = 3),
            ("a cell in the gap", |page| page[8] = 0),
            ("a block that is too short", |page| page[483] = 3),
            ("a block that is too long", |page| page[483] = 33),
            ("blocks in a circle", |page| page[480..482].copy_from_slice(&480_u16.to_be_bytes())),
        ];
        for (what, damage) in damages {
            let mut page = leaf(0);
            damage(&mut page);
            let before = page.clone();
            assert!(!HEADER.clean(2, &mut page, &FreePages::default()), "{what}");
            assert_eq!(page, before, "{what}");
        }
    }

    #[test]
    fn free_pages_are_overwritten_up_to_what_they_list() {
        let header = Header { first_trunk: 3, ..HEADER };
        let mut trunk = b"words ".repeat(86)[..512].to_vec();
        trunk[..16].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 7]);
        let free = header.free(|number| if number == 3 { Ok(trunk.clone()) } else { Err(number) }).expect("read");
        let listed = trunk[..16].to_vec();
        assert!(header.clean(3, &mut trunk, &free));
        assert_eq!(trunk[..16], listed);
        assert!(trunk[16..].iter().all(|byte| *byte == 0));
        // A leaf is free whatever it looks like.
        let mut page = leaf(0);
        assert!(header.clean(5, &mut page, &free));
        assert_eq!(page, vec![0; 512]);
    }

    #[test]
    fn pages_of_the_map_and_the_one_of_locks_are_left_alone() {
        let header = Header { has_map: true, ..HEADER };
        let apart = 512 / 5 + 1;
        for (number, is_map) in [(1, false), (2, true), (3, false), (1 + apart, false), (2 + apart, true)] {
            assert_eq!(header.is_map(number), is_map, "{number}");
        }
        let locks = u32::try_from(LOCKS_AT / 512 + 1).expect("a page");
        assert!(HEADER.is_lock(locks) && !HEADER.is_lock(locks - 1));
    }

    #[test]
    fn of_a_file_that_is_too_large_nothing_is_touched() {
        let mut first = vec![0; 4096];
        first[..16].copy_from_slice(MAGIC);
        first[16] = 0x10;
        assert_eq!(Header::read(&first, TOO_MANY), None);
        let header = Header::read(&first, TOO_MANY - 1).expect("known");
        assert_eq!((header.size, header.usable), (4096, 4096));
        first[20] = 8;
        assert_eq!(Header::read(&first, 1).expect("known").usable, 4088);
        first[0] = 0;
        assert_eq!(Header::read(&first, 1), None);
    }
}
