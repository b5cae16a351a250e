//! Chance that can be had again: everything follows from a seed but the order in which processes come to it.

/// A row of numbers.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The row of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % (end as u64)).unwrap_or_default()
    }

    /// One time of so many.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A word that nobody has said.
    pub fn word(&mut self) -> String {
        (0..16).map(|_| char::from(b'a' + u8::try_from(self.below(26)).unwrap_or_default())).collect()
    }
}
