//! How much memory an instance has, and may have.

use wasmtime::ResourceLimiter;

/// How many core instances, memories and tables of each a component may be made of. The real engine has two or three.
const PARTS: usize = 64;
/// What an element of a table takes.
const ELEMENT: usize = size_of::<usize>();

/// Bounds what all memories and tables of an instance take together, and knows how much that is.
pub(super) struct Memory {
    most: usize,
    size: usize,
}

impl Memory {
    /// At most so many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { most, size: 0 }
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn grow(&mut self, more: usize) -> bool {
        let size = self.size.saturating_add(more);
        let may = size <= self.most;
        if may {
            self.size = size;
        }
        may
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // What a memory may not have by its own words is not counted.
        Ok(maximum.is_none_or(|most| desired <= most) && self.grow(desired - current))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|most| desired <= most) && self.grow((desired - current).saturating_mul(ELEMENT)))
    }

    fn instances(&self) -> usize {
        PARTS
    }

    fn tables(&self) -> usize {
        PARTS
    }

    fn memories(&self) -> usize {
        PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 64 << 10;

    #[test]
    fn all_memories_and_tables_count_together() {
        let mut memory = Memory::new(4 * PAGE);
        let mut grow = |current, desired, most| memory.memory_growing(current, desired, most).expect("no trap");
        assert!(grow(0, 2 * PAGE, None), "the first memory");
        assert!(grow(0, PAGE, None), "the second");
        assert!(!grow(PAGE, 3 * PAGE, None), "more than is left");
        assert!(!grow(PAGE, 2 * PAGE, Some(PAGE)), "more than it may have itself");
        assert_eq!(memory.size(), 3 * PAGE);
        let elements = PAGE / ELEMENT;
        assert!(!memory.table_growing(0, elements + 1, None).expect("no trap"));
        assert!(memory.table_growing(0, elements, None).expect("no trap"));
        assert!(!memory.table_growing(elements, elements + 1, None).expect("no trap"));
        assert!(!memory.table_growing(0, usize::MAX, None).expect("no trap"));
    }
}
