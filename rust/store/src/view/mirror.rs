//! The view of a worker: what the owner's view published, applied in the same order.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use hydrofoil_shared::{Block, Cursor, Lapped, Record, Region};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::view::publisher::{
    Attachment, DELETE, DISCARD, Entry, FORGET, LOAD, List, NAME, PROGRESS, PUT, TYPE_BITS, entries,
};
use crate::{Event, EventType, Shard, Transaction, Version, View};

/// The bits of a record's type.
const TYPE_MASK: u64 = (1 << TYPE_BITS) - 1;

/// The changes of a shard that are applied under its lock at once.
const PIECE: usize = 256;

/// The reader of a feed. Its own thread reads it, and any request that must see what is published.
#[derive(Debug)]
pub struct Mirror {
    region: Arc<Region>,
    view: Arc<View>,
    /// Held while records are applied: whoever has it is the one reader, and others wait until it has caught up.
    place: Mutex<Place>,
}

#[derive(Debug)]
struct Place {
    cursor: Cursor,
    /// By number; `None` where the name is not known yet.
    shards: Vec<Option<Mirrored>>,
    /// What was told since the owner was last at a revision.
    pending: Vec<Record>,
}

/// A shard, and the revision of the last event that it began with: the feed may tell of it again.
#[derive(Clone, Debug)]
struct Mirrored {
    shard: Arc<Shard>,
    /// The counter of the bytes of cached forms in its history.
    beside: Arc<AtomicUsize>,
    begun: u64,
}

/// The versions of blocks while a worker loads: a process has one value of a block.
type Versions = FxHashMap<u64, Arc<Version>>;

impl Mirror {
    /// Load what a worker begins with into a view without shards.
    pub fn load(region: &Arc<Region>, view: &Arc<View>, start: &Attachment) -> Self {
        view.log_from(start.base, Duration::from_nanos(start.running).saturating_sub(view.running()));
        let mirrored = |name: &String| (!name.is_empty()).then(|| Mirrored::new(view.shard(name)));
        let mut shards: Vec<_> = start.names.iter().map(mirrored).collect();
        let mut versions = Versions::default();
        for list in &start.lists {
            for entry in entries(&Block::at(region, *list)) {
                let [_, number, ..] = entry;
                if let Some(Some(mirrored)) = shards.get_mut(number as usize) {
                    mirrored.begin(region, entry, &mut versions);
                }
            }
        }
        let place = Mutex::new(Place { cursor: Cursor::at(start.cursor), shards, pending: Vec::new() });
        Self { region: Arc::clone(region), view: Arc::clone(view), place }
    }

    /// Return the region.
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// Return the view.
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// Report whether everything that is published is applied, as far as a look without the lock can tell.
    pub fn is_current(&self) -> bool {
        self.view.reached_revision() >= self.region.revision()
    }

    /// Report whether there are records to read.
    pub fn has_records(&self) -> bool {
        self.place.try_lock().is_none_or(|place| place.cursor != self.region.end())
    }

    /// Apply some records at most; return their number.
    pub fn apply(&self, most: usize) -> Result<usize, Lapped> {
        let mut place = self.place.lock();
        for count in 0..most {
            match self.region.read(&mut place.cursor)? {
                Some(record) => self.take(&mut place, record),
                None => return Ok(count),
            }
        }
        Ok(most)
    }

    fn take(&self, place: &mut Place, record: Record) {
        let [word, revision, at, _] = record;
        match word & TYPE_MASK {
            PROGRESS => self.finish(place, revision),
            NAME => {
                let number = (word >> TYPE_BITS) as usize;
                let name = Block::at(&self.region, at);
                if place.shards.len() <= number {
                    place.shards.resize(number.saturating_add(1), None);
                }
                if let Some(shard) = place.shards.get_mut(number)
                    && shard.is_none()
                {
                    *shard = Some(Mirrored::new(self.view.shard(str::from_utf8(&name).unwrap_or_default())));
                }
            }
            _ => place.pending.push(record),
        }
    }

    /// Apply what was told since the last time that the owner was at a revision. Each shard reaches the revision under
    /// the lock under which its state changes: a reader who saw the one without the other would have a state that never
    /// was.
    fn finish(&self, place: &mut Place, revision: u64) {
        let pending = std::mem::take(&mut place.pending);
        let number = |record: &Record| record.first().map_or(0, |word| word >> TYPE_BITS);
        for run in pending.chunk_by(|one, next| number(one) == number(next)) {
            let shard = run.first().and_then(|record| place.shards.get(number(record) as usize));
            let Some(Some(mirrored)) = shard else { continue };
            // Many are applied in pieces: readers wait for the lock.
            let mut pieces = run.chunks(PIECE).peekable();
            while let Some(piece) = pieces.next() {
                let reached = pieces.peek().is_none().then_some(revision);
                mirrored.apply(&self.region, piece, reached);
            }
        }
        self.view.skip(revision);
    }
}

/// A change of a shard, ready to be applied.
enum Told {
    Put(Arc<Version>),
    Deleted(Arc<Version>),
    Loaded(Arc<Version>),
    Discarded(String),
    Forgotten(u64),
}

impl Mirrored {
    fn new(shard: Arc<Shard>) -> Self {
        let beside = shard.state.lock().ring.beside();
        Self { shard, beside, begun: 0 }
    }

    /// Apply records of the shard; with a revision it is at that one.
    fn apply(&self, region: &Arc<Region>, records: &[Record], reached: Option<u64>) {
        // What versions are made of is read without the lock.
        let told: Vec<Told> = records.iter().filter_map(|record| self.read(region, *record)).collect();
        self.shard.transact(|shard| {
            for told in told {
                match told {
                    Told::Put(version) => shard.mirror_put(version),
                    Told::Deleted(version) => shard.mirror_deletion(version),
                    Told::Loaded(version) => shard.mirror_load(version),
                    Told::Discarded(key) => shard.discard(&key),
                    Told::Forgotten(revision) => shard.forget(revision),
                }
            }
            if let Some(revision) = reached {
                shard.raise(revision);
            }
        });
    }

    fn read(&self, region: &Arc<Region>, [word, revision, at, _]: Record) -> Option<Told> {
        let kind = word & TYPE_MASK;
        if kind == FORGET {
            return Some(Told::Forgotten(revision));
        }
        if matches!(kind, PUT | DELETE) && revision <= self.begun {
            // The worker began with it, and has a value of the block. One that it began without, since the history had
            // dropped it, stays lent until the process ends.
            return None;
        }
        let block = Block::at(region, at);
        if kind == DISCARD {
            return Some(Told::Discarded(String::from_utf8_lossy(&block).into_owned()));
        }
        let history = (kind != LOAD).then(|| Arc::clone(&self.beside));
        let version = Arc::new(Version::of_block(block, history).ok()?);
        Some(match kind {
            PUT => Told::Put(version),
            DELETE => Told::Deleted(version),
            _ => Told::Loaded(version),
        })
    }

    /// Take an entry of what a worker begins with.
    fn begin(&mut self, region: &Arc<Region>, entry: Entry, versions: &mut Versions) {
        let [kind, _, first, second, at] = entry;
        let mut version = |place: u64| {
            if let Some(known) = versions.get(&place) {
                return Some(Arc::clone(known));
            }
            let made = (place != 0).then(|| Version::of_block(Block::at(region, place), None).ok()).flatten();
            let made = Arc::new(made?);
            versions.insert(place, Arc::clone(&made));
            Some(made)
        };
        match kind {
            LOAD => {
                if let Some(version) = version(first) {
                    self.shard.transact(|shard| drop(shard.keep(version)));
                }
            }
            FORGET => {
                self.begun = second;
                self.shard.transact(|shard| shard.forget(first));
            }
            _ => {
                let (current, previous) = (version(first), version(second));
                if let Some(current) = current {
                    let at = Duration::from_nanos(at);
                    self.shard.transact(|shard| shard.remember(kind == DELETE, current, previous, at));
                }
            }
        }
    }
}

impl Transaction<'_> {
    /// Put a version without an event.
    fn mirror_load(&mut self, version: Arc<Version>) {
        match self.get(version.key()) {
            Some(present) if present.has_block_of(&version) => keep_lent(version),
            Some(present) if present.revision() >= version.revision() => {}
            _ => drop(self.keep(version)),
        }
    }

    /// Apply the event of a version, unless the shard has a later one.
    fn mirror_put(&mut self, version: Arc<Version>) {
        match self.get(version.key()) {
            Some(present) if present.has_block_of(&version) => keep_lent(version),
            Some(present) if present.revision() >= version.revision() => {}
            _ => drop(self.put_version(version)),
        }
    }

    /// Apply the event of a deletion.
    fn mirror_deletion(&mut self, version: Arc<Version>) {
        if self.get(version.key()).is_some_and(|present| present.revision() < version.revision()) {
            self.take_out_version(version);
        }
    }

    /// Add an event to the history that the tree has already.
    fn remember(&mut self, deletes: bool, current: Arc<Version>, previous: Option<Arc<Version>>, at: Duration) {
        let kind = match previous {
            _ if deletes => EventType::Deleted,
            None => EventType::Added,
            Some(_) => EventType::Modified,
        };
        current.count_in(&self.state.ring.beside());
        self.state.ring.push(current.revision(), kind, current, previous, at);
    }
}

/// End a second value of a block.
fn keep_lent(version: Arc<Version>) {
    if let Some(version) = Arc::into_inner(version) {
        version.keep_lent();
    }
}

impl Shard {
    /// Add all that a worker begins with: the history, and the present versions.
    pub(crate) fn tell_all(&self, number: u64, list: &mut List<'_>) {
        // Under the lock only what is looked up; the list is made without it.
        let (tree, events, ended) = {
            let state = self.state.lock();
            let event =
                |(event, at): (&Event, Duration)| (event.kind, Arc::clone(&event.current), event.previous.clone(), at);
            (state.tree.clone(), state.ring.all().map(event).collect::<Vec<_>>(), state.ring.compacted_revision())
        };
        let last = events.last().map_or(0, |(_, current, ..)| current.revision());
        list.add([FORGET, number, ended, last, 0]);
        list.begin_shard();
        for (kind, current, previous, at) in &events {
            let kind = if *kind == EventType::Deleted { DELETE } else { PUT };
            let (current, previous) = (list.lend(current), previous.as_ref().map_or(0, |version| list.lend(version)));
            let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
            list.add([kind, number, current, previous, at]);
        }
        tree.each(|version| {
            let place = list.lend(version);
            list.add([LOAD, number, place, 0, 0]);
        });
    }
}

#[cfg(test)]
mod tests;
