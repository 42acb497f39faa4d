//! Prints of bytes: what was checked once is known again at the speed of memory.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Size and hash of bytes. Two prints are equal if the bytes are; that others are is as rare as a fault of memory.
///
/// The bytes themselves would be as large as the server that is measured. They are that server's choice, so the hash has
/// a secret: no server can make bytes that it answers wrongly have the print of right ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Print {
    size: u32,
    hash: u64,
}

/// Five odd numbers that are drawn for each process.
#[allow(clippy::disallowed_methods, reason = "a secret of the process, which decides about nothing that is shown")]
static KEYS: LazyLock<[u64; 5]> = LazyLock::new(|| {
    let secret = RandomState::new();
    std::array::from_fn(|place| secret.hash_one(place) | 1)
});

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

impl Print {
    /// The print of bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let keys = &*KEYS;
        // Four lanes, none of which waits for another.
        let mut lanes = [keys[0], keys[1], keys[2], keys[3]];
        let mut blocks = bytes.chunks_exact(64);
        for block in &mut blocks {
            for (lane, part) in lanes.iter_mut().zip(block.chunks_exact(16)) {
                *lane = fold(word(part) ^ *lane, word(&part[8..]) ^ keys[4]).wrapping_add(*lane);
            }
        }
        let mut hash = lanes.iter().zip(keys).fold(bytes.len() as u64, |hash, (lane, key)| fold(hash ^ lane, *key));
        for part in blocks.remainder().chunks(8) {
            let mut last = [0; 8];
            last[..part.len()].copy_from_slice(part);
            hash = fold(hash ^ u64::from_le_bytes(last), keys[0]).wrapping_add(keys[1]);
        }
        Self { size: bytes.len() as u32, hash }
    }

    /// The number of bytes; 0 while nothing is known.
    pub(crate) fn size(self) -> usize {
        self.size as usize
    }

    /// The hash alone.
    pub(crate) fn hash(self) -> u64 {
        self.hash
    }

    /// Whether a text begins with these bytes.
    pub(crate) fn begins(self, text: &[u8]) -> bool {
        self.size > 0 && text.get(..self.size()).is_some_and(|text| Self::of(text) == self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_change_of_one_bit_changes_the_print(bytes in prop::collection::vec(any::<u8>(), 1..300), at in any::<usize>()) {
            let mut other = bytes.clone();
            other[at % bytes.len()] ^= 1 << (at % 8);
            prop_assert_ne!(Print::of(&bytes), Print::of(&other));
            prop_assert!(Print::of(&bytes).begins(&[&bytes[..], b"more"].concat()));
            prop_assert!(!Print::of(&bytes).begins(&other) && !Print::of(&bytes).begins(&bytes[1..]));
        }
    }

    #[test]
    fn blocks_that_change_places_change_the_print() {
        let (a, b) = ([1_u8; 64], [2_u8; 64]);
        assert_ne!(Print::of(&[a, b].concat()), Print::of(&[b, a].concat()));
        assert_ne!(Print::of(&[0; 64]), Print::of(&[0; 128]));
        assert!(!Print::default().begins(b"anything"), "nothing is known");
    }
}
