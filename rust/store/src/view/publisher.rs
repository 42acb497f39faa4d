//! What the view of the owner tells the views of workers: every change, once, in the order of revisions.
//!
//! A record is four words: its type and the number of its shard, a revision, the place of a block, and nothing.

use std::sync::Arc;

use hydrofoil_shared::{Block, Cursor, Heap, OWNER, Record, Region};
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;

use crate::{Version, View};

/// A version was put: a block with it.
pub(crate) const PUT: u64 = 1;
/// A version was deleted: a block with its last state at the revision of the deletion.
pub(crate) const DELETE: u64 = 2;
/// A version was loaded, without an event.
pub(crate) const LOAD: u64 = 3;
/// A version left without an event: a block with its key.
pub(crate) const DISCARD: u64 = 4;
/// The history up to a revision ended.
pub(crate) const FORGET: u64 = 5;
/// Everything up to a revision was told.
pub(crate) const PROGRESS: u64 = 6;
/// A shard has a name: a block with it.
pub(crate) const NAME: u64 = 7;

/// The bits of a record's first word that are its type.
pub(crate) const TYPE_BITS: u32 = 8;

/// The owner's end of the feed.
#[derive(Debug)]
pub(crate) struct Publisher {
    heap: Heap,
    /// Held over a commit of the local log, from the choice of its revision to the record that it is complete: the
    /// feed has the commits of all shards one after the other. It is outside of the locks of shards.
    order: Mutex<()>,
    /// Held while records are written, inside of a shard's lock. Whoever attaches a worker holds it: the worker reads
    /// every record from then on, and a snapshot that is taken later has all before.
    feed: Mutex<FxHashMap<Arc<str>, u64>>,
}

/// What a worker begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The place of its first record.
    pub cursor: u64,
    /// The revision after which the histories of new shards begin.
    pub base: u64,
    /// The nanoseconds that the state has been served for: events have their times by it.
    pub running: u64,
    /// The names of shards, by their numbers.
    pub names: Vec<String>,
    /// The places of blocks with entries.
    pub lists: Vec<u64>,
}

/// One part of what a worker begins with: its type, the number of its shard, and three numbers.
///
/// - `LOAD`: the place of a present version.
/// - `PUT`, `DELETE`: an event of the history, with the place of its version, that of the one before or 0, and its time.
/// - `FORGET`: the shard, with the revision up to which its history ended, and that of its last event.
pub(crate) type Entry = [u64; 5];

/// The number of entries in one block of a list.
const ENTRIES: usize = 1 << 13;

impl Publisher {
    pub(crate) fn new(region: &Arc<Region>) -> Self {
        region.attach(OWNER, false);
        Self { heap: Heap::new(region), order: Mutex::new(()), feed: Mutex::default() }
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Begin a commit, which ends with [`Publisher::progress`].
    pub(crate) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// Tell of a version.
    pub(crate) fn version(&self, kind: u64, shard: &Arc<str>, version: &Version) {
        self.tell(shard, |readers, number| {
            let block = version.block()?;
            block.lend(readers);
            Some([kind | number << TYPE_BITS, version.revision(), block.place(), 0])
        });
    }

    /// Tell that a version left without an event.
    pub(crate) fn discard(&self, shard: &Arc<str>, key: &str) {
        self.tell(shard, |readers, number| Some(self.text(DISCARD | number << TYPE_BITS, key, readers)));
    }

    /// Tell that a history ended up to a revision.
    pub(crate) fn forget(&self, shard: &Arc<str>, revision: u64) {
        self.tell(shard, |_, number| Some([FORGET | number << TYPE_BITS, revision, 0, 0]));
    }

    /// Tell that everything up to a revision was told, and wake the workers.
    pub(crate) fn progress(&self, revision: u64) {
        let feed = self.feed.lock();
        let region = self.heap.region();
        if region.readers() != 0 {
            region.append([PROGRESS, revision, 0, 0]);
        }
        region.raise(revision);
        drop(feed);
        region.wake();
    }

    /// Return the number of a shard.
    fn number(&self, shard: &Arc<str>) -> u64 {
        let mut numbers = self.feed.lock();
        let next = numbers.len() as u64;
        *numbers.entry(Arc::clone(shard)).or_insert_with(|| {
            let region = self.heap.region();
            let readers = region.readers();
            if readers != 0 {
                region.append(self.text(NAME | next << TYPE_BITS, shard, readers));
            }
            next
        })
    }

    fn tell(&self, shard: &Arc<str>, record: impl FnOnce(u64, u64) -> Option<Record>) {
        let mut numbers = self.feed.lock();
        let region = self.heap.region();
        // Whoever attaches later has the state with this change.
        let readers = region.readers();
        if readers == 0 {
            return;
        }
        let next = numbers.len() as u64;
        let number = *numbers.entry(Arc::clone(shard)).or_insert_with(|| {
            region.append(self.text(NAME | next << TYPE_BITS, shard, readers));
            next
        });
        if let Some(record) = record(readers, number) {
            region.append(record);
        }
    }

    /// Return a record whose block has a text, and nothing else.
    fn text(&self, word: u64, text: &str, readers: u64) -> Record {
        let block = self.heap.write(&[text.as_bytes()]);
        block.lend(readers);
        [word, 0, block.place(), 0]
    }
}

impl View {
    /// Publish the view in shared memory from now on; it has no objects yet.
    pub fn publish(&self, region: &Arc<Region>) {
        // A second owner of a region would take blocks of the first.
        let published = self.shared.publisher.set(Publisher::new(region));
        debug_assert!(published.is_ok(), "a view is published once");
    }

    /// Begin to tell the process of a slot of all changes. Return what it begins with: it has everything once it has
    /// read the feed up to the present end.
    pub fn attach(&self, slot: usize) -> Attachment {
        let Some(publisher) = self.shared.publisher.get() else { return Attachment::default() };
        let region = publisher.heap.region();
        let mask = 1_u64.checked_shl(slot as u32).unwrap_or_default();
        let cursor: Cursor = {
            let _feed = publisher.feed.lock();
            region.attach(slot, true);
            region.end()
        };
        let mut list = List { publisher, mask, bytes: Vec::new(), places: Vec::new(), made: FxHashMap::default() };
        for (name, shard) in self.all_shards() {
            let number = publisher.number(&Arc::from(&*name));
            shard.tell_all(number, &mut list);
        }
        list.flush();
        self.publish_present();
        let numbers = publisher.feed.lock();
        let mut names = vec![String::new(); numbers.len()];
        for (name, number) in numbers.iter() {
            if let Some(place) = names.get_mut(*number as usize) {
                name.as_ref().clone_into(place);
            }
        }
        let running = u64::try_from(self.running().as_nanos()).unwrap_or(u64::MAX);
        Attachment { cursor: cursor.number(), base: self.begin_of_new(), running, names, lists: list.places }
    }

    /// Tell other processes that everything up to the present revision was told: readers take revisions without an
    /// event, and ends of history have none.
    pub(crate) fn publish_present(&self) {
        if let Some(publisher) = self.shared.publisher.get() {
            // No commit may have taken a revision that is not told of yet.
            let _order = publisher.order();
            publisher.progress(self.reached_revision());
        }
    }

    /// Stop telling the process of a slot, which has ended, and take back everything that it used.
    pub fn detach(&self, slot: usize) {
        let Some(publisher) = self.shared.publisher.get() else { return };
        let region = publisher.heap.region();
        {
            let _feed = publisher.feed.lock();
            region.attach(slot, false);
        }
        publisher.heap.release_all(slot);
        region.forget_counts(slot);
    }

    /// Return the bytes of shared memory that blocks have, and those of it that are free.
    pub fn shared_size(&self) -> (usize, usize) {
        self.shared.publisher.get().map_or((0, 0), |publisher| publisher.heap.size())
    }
}

/// Entries on their way into blocks that a worker uses.
#[derive(Debug)]
pub(crate) struct List<'p> {
    publisher: &'p Publisher,
    mask: u64,
    bytes: Vec<u8>,
    places: Vec<u64>,
    /// The places of blocks that were made, by the addresses of their versions: an event and the one after it have the
    /// same version.
    made: FxHashMap<usize, u64>,
}

impl List<'_> {
    /// Add an entry.
    pub(crate) fn add(&mut self, entry: Entry) {
        for number in entry {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        if self.bytes.len() >= ENTRIES.saturating_mul(size_of::<Entry>()) {
            self.flush();
        }
    }

    /// Lend the block of a version to the worker; return its place. Versions of the past, which have none of their own,
    /// get one that only the worker has.
    pub(crate) fn lend(&mut self, version: &Arc<Version>) -> u64 {
        let place = |block: &Block| {
            block.lend(self.mask);
            block.place()
        };
        if let Some(block) = version.block() {
            return place(block);
        }
        let made = || place(&version.write_block(&self.publisher.heap));
        *self.made.entry(Arc::as_ptr(version).addr()).or_insert_with(made)
    }

    /// Begin with another shard: the versions of the last one may end.
    pub(crate) fn begin_shard(&mut self) {
        self.made.clear();
    }

    fn flush(&mut self) {
        if !self.bytes.is_empty() {
            let block = self.publisher.heap.write(&[&self.bytes]);
            block.lend(self.mask);
            self.places.push(block.place());
            self.bytes.clear();
        }
    }
}

/// Return the entries of a block of [`Attachment::lists`].
pub(crate) fn entries(block: &Block) -> impl Iterator<Item = Entry> {
    block.chunks_exact(size_of::<Entry>()).map(|bytes| {
        let mut entry = Entry::default();
        for (number, bytes) in entry.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        }
        entry
    })
}
