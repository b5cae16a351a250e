//! How much memory an instance has, and may have.

use wasmtime::{ResourceLimiter, StoreLimits, StoreLimitsBuilder};

/// Bounds an instance's memory and knows its size.
pub(super) struct Memory {
    limits: StoreLimits,
    size: usize,
}

impl Memory {
    /// At most so many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { limits: StoreLimitsBuilder::new().memory_size(most).build(), size: 0 }
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let may = self.limits.memory_growing(current, desired, maximum)?;
        if may {
            self.size = desired;
        }
        Ok(may)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.limits.table_growing(current, desired, maximum)
    }
}
