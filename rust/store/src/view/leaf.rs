//! The leaves of a tree: adjacent versions, with their cached encodings.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHasher;
use smol_str::SmolStr;
use std::hash::Hasher;

use crate::Version;
use crate::view::cache::Block;

/// The number of columns of values that a leaf caches: few different selectors are in use at a time.
const COLUMNS: usize = 8;

/// The source of the values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The value of a label.
    Label(SmolStr),
    /// The value at an index of [`Version::fields`].
    Field(usize),
}

/// One value of each version of a leaf, hashed, so that a selector reads 4 bytes a version.
#[derive(Debug)]
struct Column {
    source: Source,
    hashes: Box<[u32]>,
}

/// Versions in key order, and their cached joint encodings.
///
/// A clone has the versions only: it is made to be changed.
#[derive(Debug, Default)]
pub struct Leaf {
    versions: Vec<Arc<Version>>,
    blocks: Mutex<Vec<(u64, Arc<Block>)>>,
    columns: Mutex<Vec<Arc<Column>>>,
    /// Locked while a block is made, so that no block is made twice at a time.
    making: Mutex<()>,
}

impl Clone for Leaf {
    fn clone(&self) -> Self {
        Self::new(self.versions.clone())
    }
}

impl Leaf {
    pub(crate) fn new(versions: Vec<Arc<Version>>) -> Self {
        Self { versions, ..Self::default() }
    }

    /// Return the versions.
    pub fn versions(&self) -> &[Arc<Version>] {
        &self.versions
    }

    /// Return the versions for change; cached data is dropped.
    pub(crate) fn versions_mut(&mut self) -> &mut Vec<Arc<Version>> {
        self.blocks.get_mut().clear();
        self.columns.get_mut().clear();
        &mut self.versions
    }

    /// Return the block of an encoding, by its key.
    pub fn block(&self, key: u64) -> Option<Arc<Block>> {
        self.blocks.lock().iter().find(|(known, _)| *known == key).map(|(_, block)| Arc::clone(block))
    }

    /// Replace the block of the same encoding; evicted ones are removed.
    pub fn keep(&self, key: u64, block: Arc<Block>) {
        let mut blocks = self.blocks.lock();
        blocks.retain(|(known, old)| *known != key && old.is_held());
        blocks.push((key, block));
    }

    /// Make a block, or return the one that another maker has finished in the meantime.
    pub fn make<T>(&self, finished: impl Fn(&Self) -> Option<T>, make: impl FnOnce() -> T) -> T {
        let _making = self.making.lock();
        finished(self).unwrap_or_else(make)
    }

    /// Return the places in `from..to` whose value may be `value`: all with it, and some hash collisions.
    pub(crate) fn candidates(&self, source: &Source, value: &str, from: usize, to: usize, out: &mut Vec<u16>) {
        let column = self.column(source);
        let wanted = hash(value);
        let places = column.hashes[from..to].iter().enumerate().filter(|(_, h)| **h == wanted);
        out.extend(places.map(|(i, _)| (from + i) as u16));
    }

    fn column(&self, source: &Source) -> Arc<Column> {
        let mut columns = self.columns.lock();
        if let Some(found) = columns.iter().find(|c| c.source == *source) {
            return Arc::clone(found);
        }
        let hashes = self
            .versions
            .iter()
            .map(|v| match source {
                Source::Label(key) => label(v, key).map_or(0, hash),
                Source::Field(index) => hash(v.fields().get(*index).map_or("", SmolStr::as_str)),
            })
            .collect();
        if columns.len() >= COLUMNS {
            columns.remove(0);
        }
        let made = Arc::new(Column { source: source.clone(), hashes });
        columns.push(Arc::clone(&made));
        made
    }
}

fn label<'a>(version: &'a Version, key: &str) -> Option<&'a str> {
    let labels = version.labels();
    labels.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok().map(|i| labels[i].1.as_str())
}

/// Return the hash of a value; never 0, which marks an absent label.
fn hash(value: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(value.as_bytes());
    (hasher.finish() as u32).max(1)
}
