//! The identity of the schema that wrote an object, or of the conversion that shows it.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::RwLock;

/// The identity of a schema or a conversion: equal only for equal texts.
///
/// A client chooses the text (a definition's schema), so 64 bits of a hash would not do: two schemas with one hash are
/// found by chance in minutes, and objects of the one would be read as if the other had pruned and defaulted them. In
/// memory a fingerprint is the number of a digest of 256 bits in a table of the process, since a million objects have
/// one each; on a disk and in saved states it is the digest itself. The table only grows, by one line a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint(u32);

/// A digest of the text that a fingerprint stands for.
pub type Digest = [u8; 32];

#[derive(Default)]
struct Table {
    numbers: HashMap<Digest, u32>,
    digests: Vec<Digest>,
}

/// Read by every write, written by the first object of a schema. A number, once given, never changes: a reader needs no
/// lock beyond its look-up.
static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

/// The number of fingerprints that have no digest.
const RESERVED: u32 = 2;

impl Fingerprint {
    /// Of built-in kinds, whose form never changes.
    pub const BUILTIN: Self = Self(0);

    /// Of objects that no present schema is known to have written: they are read anew by each.
    pub const UNKNOWN: Self = Self(1);

    /// Return the fingerprint of a text by its digest.
    pub fn of(digest: Digest) -> Self {
        if let Some(number) = TABLE.read().numbers.get(&digest) {
            return Self(*number);
        }
        let mut table = TABLE.write();
        let next = RESERVED.saturating_add(u32::try_from(table.digests.len()).unwrap_or(u32::MAX));
        if next == u32::MAX {
            return Self::UNKNOWN;
        }
        // Another thread may have added it between the two locks.
        let Table { numbers, digests } = &mut *table;
        let number = *numbers.entry(digest).or_insert_with(|| {
            digests.push(digest);
            next
        });
        Self(number)
    }

    /// Return the digest; `None` for built-in kinds and unknown schemas.
    pub fn digest(self) -> Option<Digest> {
        let place = self.0.checked_sub(RESERVED)?;
        TABLE.read().digests.get(place as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn equal_digests_have_one_fingerprint() {
        let (a, b) = (Fingerprint::of([1; 32]), Fingerprint::of([2; 32]));
        assert_eq!((a, a.digest()), (Fingerprint::of([1; 32]), Some([1; 32])));
        assert!(a != b && a != Fingerprint::BUILTIN && a != Fingerprint::UNKNOWN);
        assert_eq!(Fingerprint::BUILTIN.digest(), None);
        assert_eq!(Fingerprint::UNKNOWN.digest(), None);
    }
}
