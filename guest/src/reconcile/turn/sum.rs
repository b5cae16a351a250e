//! The hash and the length of a text: enough to compare it, however it is cut into pieces. The hash of two texts joined is
//! made of their hashes.

use serde::{Deserialize, Serialize};

/// 2⁶¹ - 1, a prime.
const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0d3a_91c4_6b57_e2f9;

/// The sum of two numbers below the modulus.
fn plus(left: u64, right: u64) -> u64 {
    let sum = left + right;
    if sum >= MODULUS { sum - MODULUS } else { sum }
}

/// The product of two numbers below the modulus: 2⁶¹ is 1, so what stands above that is added to what stands below.
fn times(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    let part = |bits: u128| u64::try_from(bits & u128::from(MODULUS)).unwrap_or_default();
    plus(part(product), part(product >> 61))
}

/// The hash and the length of a text, without what does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Sum {
    hash: u64,
    length: u64,
}

impl Sum {
    /// Whether nothing is said.
    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// What the text is hashed to.
    pub(super) fn hash_value(self) -> u64 {
        self.hash
    }

    /// How many bytes count.
    pub fn length(self) -> u64 {
        self.length
    }

    /// Of this text and that one after it.
    #[must_use]
    pub fn followed_by(self, other: Self) -> Self {
        let (mut power, mut factor, mut left) = (1, BASE, other.length);
        while left > 0 {
            if left % 2 == 1 {
                power = times(power, factor);
            }
            factor = times(factor, factor);
            left /= 2;
        }
        Self { hash: plus(times(self.hash, power), other.hash), length: self.length + other.length }
    }

    /// Of what follows this beginning of it.
    #[must_use]
    pub fn behind(self, beginning: Self) -> Self {
        let gone = beginning.followed_by(Self { hash: 0, length: self.length - beginning.length });
        Self { hash: plus(self.hash, MODULUS - gone.hash), length: self.length - beginning.length }
    }

    /// Another byte comes behind it.
    pub(in crate::reconcile) fn push(&mut self, byte: u8) {
        self.hash = plus(times(self.hash, BASE), u64::from(byte) + 1);
        self.length += 1;
    }

    /// Of these bytes, all of which count.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut sum = Self::default();
        for byte in bytes {
            sum.push(*byte);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_field() {
        let numbers = [0, 1, 2, BASE, MODULUS / 2, MODULUS - 2, MODULUS - 1];
        for (one, other) in numbers.iter().flat_map(|one| numbers.iter().map(move |other| (*one, *other))) {
            let product = u128::from(one) * u128::from(other) % u128::from(MODULUS);
            assert_eq!(u128::from(times(one, other)), product, "{one} {other}");
        }
    }

    #[test]
    fn sums_join_as_texts_do() {
        for (one, other) in [("", ""), ("a", ""), ("", "b"), ("ключ ", "会話"), ("x\n\ny", "z\0\u{1}")] {
            assert_eq!(Sum::of(one).followed_by(Sum::of(other)), Sum::of(&format!("{one}{other}")));
        }
    }
}
