//! Hashes of one value of each version of a leaf, and a value to look for in them.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use smol_str::SmolStr;

use crate::Version;

/// The source of the values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The value of a label.
    Label(SmolStr),
    /// The value at an index of [`Version::fields`].
    Field(usize),
}

/// The few values of which all selected versions have one.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) source: Source,
    pub(crate) hashes: Box<[u32]>,
}

impl Wanted {
    pub(crate) fn new(source: Source, values: &[SmolStr]) -> Self {
        Self { source, hashes: values.iter().map(|value| hash(value)).collect() }
    }
}

/// One value of each version of a leaf, hashed, so that a selector reads 4 bytes a version.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) source: Source,
    pub(crate) hashes: Box<[u32]>,
}

impl Column {
    pub(crate) fn of<'v>(source: &Source, versions: impl Iterator<Item = &'v Version>) -> Self {
        let hashes = versions
            .map(|v| match source {
                Source::Label(key) => label(v, key).map_or(ABSENT, hash),
                Source::Field(index) => hash(v.fields().get(*index).map_or("", SmolStr::as_str)),
            })
            .collect();
        Self { source: source.clone(), hashes }
    }
}

/// The mark of an absent label, which no value has as its hash.
pub(crate) const ABSENT: u32 = 0;

fn label<'a>(version: &'a Version, key: &str) -> Option<&'a str> {
    let (_, value) = version.labels().get(version.labels().binary_search_by(|(k, _)| k.as_str().cmp(key)).ok()?)?;
    Some(value.as_str())
}

#[cfg(test)]
thread_local! {
    /// The bits of a hash that count in a test: with few of them most values collide.
    pub(crate) static BITS: std::cell::Cell<u32> = const { std::cell::Cell::new(u32::MAX) };
}

/// Return a hash of a value, by which versions are only looked for: clients choose values, so a selector always compares
/// the values themselves as well.
fn hash(value: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(value.as_bytes());
    let hash = hasher.finish() as u32;
    #[cfg(test)]
    let hash = hash & BITS.get();
    hash.max(ABSENT.saturating_add(1))
}
