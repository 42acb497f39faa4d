//! The leaves of a tree: adjacent versions, with their cached encodings.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::Arc;

use parking_lot::Mutex;

use crate::Version;
use crate::view::cache::Block;
use crate::view::column::{Column, Source, Wanted};

/// The number of columns of values that a leaf caches: few different selectors are in use at a time.
pub(crate) const COLUMNS: usize = 8;

/// The whole key of a cached encoding: opaque to the store, equal only for encodings that are equal.
pub type BlockKey = Arc<[u8]>;

/// Versions in key order, and their cached joint encodings.
///
/// A clone has the versions only: it is made to be changed.
#[derive(Debug, Default)]
pub struct Leaf {
    versions: Vec<Arc<Version>>,
    /// Found by their whole key, never by a hash of it: clients choose parts of the key, and two keys with one hash
    /// would show one client what another one selected.
    blocks: Mutex<Vec<(BlockKey, Arc<Block>)>>,
    /// The hashes of the values of selectors. A clone that is to be changed has none, so that they never describe other
    /// versions than those beside them.
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

    /// Report whether the hashes of a source are cached.
    pub(crate) fn knows(&self, source: &Source) -> bool {
        self.columns.lock().iter().any(|column| column.source == *source)
    }

    /// Return the block of an encoding, by its key.
    pub fn block(&self, key: &BlockKey) -> Option<Arc<Block>> {
        self.blocks.lock().iter().find(|(known, _)| known == key).map(|(_, block)| Arc::clone(block))
    }

    /// Replace the block of the same encoding; evicted ones are removed.
    pub fn keep(&self, key: &BlockKey, block: Arc<Block>) {
        let mut blocks = self.blocks.lock();
        blocks.retain(|(known, old)| known != key && old.is_held());
        blocks.push((Arc::clone(key), block));
    }

    /// Make a block, or return the one that another maker has finished in the meantime.
    pub fn make<T>(&self, finished: impl Fn(&Self) -> Option<T>, make: impl FnOnce() -> T) -> T {
        let _making = self.making.lock();
        finished(self).unwrap_or_else(make)
    }

    /// Return the places in `from..to` whose value may be a wanted one: all with one, and some hash collisions.
    pub(crate) fn candidates(&self, wanted: &Wanted, from: usize, to: usize, out: &mut Vec<u16>) {
        let column = self.column(&wanted.source);
        let places = column.hashes[from..to].iter().enumerate().filter(|(_, h)| wanted.hashes.contains(h));
        out.extend(places.map(|(i, _)| (from + i) as u16));
    }

    /// Return the hashes of a source, cached until the leaf changes.
    pub(crate) fn column(&self, source: &Source) -> Arc<Column> {
        let mut columns = self.columns.lock();
        if let Some(found) = columns.iter().find(|c| c.source == *source) {
            return Arc::clone(found);
        }
        if columns.len() >= COLUMNS {
            columns.remove(0);
        }
        let made = Arc::new(Column::of(source, self.versions.iter().map(|version| &**version)));
        columns.push(Arc::clone(&made));
        made
    }
}
