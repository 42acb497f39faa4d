//! The view of a worker: what the owner's view published, applied in the same order.

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_shared::{Block, Cursor, Lapped, Record, Region};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::view::publisher::{
    Attachment, DELETE, DISCARD, Entry, FORGET, LOAD, List, NAME, PROGRESS, PUT, TYPE_BITS, entries,
};
use crate::{Event, EventType, Shard, Transaction, Version, View};

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
}

/// A shard, and the revision of the last event that it began with: the feed may tell of it again.
#[derive(Clone, Debug)]
struct Mirrored {
    shard: Arc<Shard>,
    begun: u64,
}

/// The versions of blocks while a worker loads: a process has one value of a block.
type Versions = FxHashMap<u64, Arc<Version>>;

impl Mirror {
    /// Load what a worker begins with into a view without shards.
    pub fn load(region: &Arc<Region>, view: &Arc<View>, start: &Attachment) -> Self {
        view.log_from(start.base, Duration::from_nanos(start.running).saturating_sub(view.running()));
        let mirrored = |name: &String| (!name.is_empty()).then(|| Mirrored { shard: view.shard(name), begun: 0 });
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
        let place = Mutex::new(Place { cursor: Cursor::at(start.cursor), shards });
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

    fn take(&self, place: &mut Place, [word, revision, at, _]: Record) {
        let (kind, number) = (word & ((1 << TYPE_BITS) - 1), (word >> TYPE_BITS) as usize);
        if kind == PROGRESS {
            self.view.skip(revision);
            return;
        }
        if matches!(kind, PUT | DELETE)
            && let Some(Some(Mirrored { begun, .. })) = place.shards.get(number)
            && revision <= *begun
        {
            // The worker began with it, and has a value of the block. One that it began without, since the history had
            // dropped it, stays lent until the process ends.
            return;
        }
        let block = (at != 0).then(|| Block::at(&self.region, at));
        if kind == NAME {
            let name = block.as_deref().and_then(|name| str::from_utf8(name).ok()).unwrap_or_default();
            if place.shards.len() <= number {
                place.shards.resize(number.saturating_add(1), None);
            }
            if let Some(shard) = place.shards.get_mut(number) {
                *shard = Some(Mirrored { shard: self.view.shard(name), begun: 0 });
            }
            return;
        }
        let Some(Some(Mirrored { shard, .. })) = place.shards.get(number) else { return };
        match (kind, block) {
            (PUT | DELETE, Some(block)) => shard.mirror(kind == DELETE, block),
            (LOAD, Some(block)) => shard.load_block(block),
            (DISCARD, Some(key)) => shard.transact(|shard| shard.discard(&String::from_utf8_lossy(&key))),
            (FORGET, _) => shard.transact(|shard| shard.forget(revision)),
            _ => {}
        }
    }
}

impl Mirrored {
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
        for (kind, current, previous, at) in events {
            let kind = if kind == EventType::Deleted { DELETE } else { PUT };
            let previous = previous.map_or(0, |version| list.lend(&version));
            let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
            list.add([kind, number, list.lend(&current), previous, at]);
        }
        tree.each(|version| list.add([LOAD, number, list.lend(version), 0, 0]));
    }

    /// Put the version of a block without an event.
    fn load_block(&self, block: Block) {
        self.transact(|shard| {
            let Ok(version) = Version::of_block(block, None) else { return };
            match shard.get(version.key()) {
                Some(present) if present.has_block_of(&version) => version.keep_lent(),
                Some(present) if present.revision() >= version.revision() => {}
                _ => drop(shard.keep(Arc::new(version))),
            }
        });
    }

    /// Apply the event of a version, unless the shard began with a later one.
    fn mirror(&self, deletes: bool, block: Block) {
        self.transact(|shard| {
            let Ok(version) = Version::of_block(block, Some(shard.state.ring.beside())) else { return };
            let version = Arc::new(version);
            match shard.get(version.key()) {
                Some(present) if present.has_block_of(&version) => {
                    if let Some(version) = Arc::into_inner(version) {
                        version.keep_lent();
                    }
                }
                Some(present) if present.revision() >= version.revision() => {}
                Some(_) if deletes => shard.take_out_version(version),
                None if deletes => {}
                _ => drop(shard.put_version(version)),
            }
        });
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "they count what they made")]
mod tests {
    use super::*;
    use crate::view::testing::draft;
    use crate::{Limits, Local, WatchStart};

    fn view() -> Arc<View> {
        Arc::new(View::new(Limits::default(), None, Arc::default()))
    }

    struct Owner {
        region: Arc<Region>,
        view: Arc<View>,
        log: Local,
    }

    impl Owner {
        fn new() -> Self {
            let region = Arc::new(Region::create().expect("there is memory"));
            let view = view();
            view.publish(&region);
            let log = Local::open(&view, 100);
            Self { region, view, log }
        }

        fn worker(&self, slot: usize) -> Mirror {
            let region = Arc::new(Region::open(self.region.fileno(), slot).expect("it is the same"));
            Mirror::load(&region, &view(), &self.view.attach(slot))
        }

        fn put(&self, shard: &str, key: &str, app: &str) {
            let shard = self.view.shard(shard);
            let made = match shard.get(key).map(|version| version.revision()) {
                None => self.log.create(&shard, key, draft(app, "up")),
                Some(at) => self.log.update(&shard, key, at, draft(app, "up")),
            };
            made.expect("it is written");
        }

        fn remove(&self, shard: &str, key: &str) {
            let shard = self.view.shard(shard);
            let at = shard.get(key).expect("it is there").revision();
            self.log.delete(&shard, key, at).expect("it is removed");
        }
    }

    fn contents(view: &View) -> Vec<(String, String, u64, Vec<u8>)> {
        let mut out = Vec::new();
        for (name, tree) in view.checkpoint().resources() {
            tree.each(|v| out.push((name.to_owned(), v.key().to_string(), v.revision(), v.json().to_vec())));
        }
        out
    }

    #[test]
    fn workers_have_what_the_owner_has() {
        let owner = Owner::new();
        owner.put("pods", "a/m", "x");
        owner.put("nodes", "n", "x");
        let first = owner.worker(1);
        owner.put("pods", "a/m", "y");
        owner.put("services", "a/s", "x");
        owner.remove("nodes", "n");
        let second = owner.worker(2);
        owner.put("services", "a/t", "x");
        assert!(!first.is_current());
        for worker in [&first, &second] {
            while worker.apply(1).expect("the ring is larger") > 0 {}
            assert!(worker.is_current());
            assert_eq!(contents(worker.view()), contents(&owner.view));
        }
        assert_eq!(first.view().shard("services").snapshot_at(104).expect("it is kept").tree.len(), 1);
    }

    #[test]
    fn workers_begin_with_the_history() {
        let owner = Owner::new();
        owner.put("pods", "a/m", "x");
        owner.put("pods", "a/m", "y");
        owner.remove("pods", "a/m");
        owner.put("pods", "a/n", "x");
        let worker = owner.worker(1);
        owner.put("pods", "a/n", "y");
        worker.apply(usize::MAX).expect("the ring is larger");
        let events = |view: &View| {
            let shard = view.shard("pods");
            let id = shard.watch(Arc::default(), WatchStart::After(101), 7).expect("it is kept");
            let mut out = Vec::new();
            shard.drain(id, |frame| {
                out.push((frame.kind, frame.version.json().to_vec()));
                true
            });
            out
        };
        assert_eq!(events(worker.view()), events(&owner.view));
        assert_eq!(events(worker.view()).len(), 4);
        assert_eq!(worker.view().shard("pods").snapshot_at(102).expect("it is kept").tree.len(), 1);
    }

    /// What is told after the place of the first record, and is in the snapshot as well, has one block.
    #[test]
    fn what_a_worker_is_told_twice_it_has_once() {
        let owner = Owner::new();
        owner.put("pods", "a/m", "x");
        let region = Arc::new(Region::open(owner.region.fileno(), 1).expect("it is the same"));
        let first = owner.view.attach(1);
        owner.put("pods", "a/m", "y");
        owner.put("pods", "a/n", "y");
        // As if the snapshot had been taken after the writes.
        let start = Attachment { cursor: first.cursor, ..owner.view.attach(1) };
        let worker = Mirror::load(&region, &view(), &start);
        worker.apply(usize::MAX).expect("the ring is larger");
        (0..50).for_each(|number| owner.put("pods", &format!("b/{number}"), "z"));
        worker.apply(usize::MAX).expect("the ring is larger");
        assert_eq!(contents(worker.view()), contents(&owner.view));
    }

    #[test]
    fn blocks_are_free_when_nobody_has_them() {
        let owner = Owner::new();
        let worker = owner.worker(1);
        for number in 0..100 {
            owner.put("pods", &format!("a/{number}"), "x");
        }
        for number in 0..100 {
            owner.remove("pods", &format!("a/{number}"));
        }
        worker.apply(usize::MAX).expect("the ring is larger");
        owner.view.compact();
        worker.apply(usize::MAX).expect("the ring is larger");
        assert_eq!(owner.view.shared_size().0, 0, "{:?}", owner.view.shared_size());
        owner.put("pods", "a/m", "x");
        worker.apply(usize::MAX).expect("the ring is larger");
        owner.remove("pods", "a/m");
        owner.view.compact();
        assert_ne!(owner.view.shared_size().0, 0, "the worker has not looked");
        owner.view.detach(1);
        assert_eq!(owner.view.shared_size().0, 0, "it has ended");
    }
}
