//! The view of a worker: what the owner's view published, applied in the same order.

use std::sync::Arc;

use hydrofoil_shared::{Block, Cursor, Lapped, Record, Region};
use parking_lot::Mutex;

use crate::view::publisher::{Attachment, DELETE, DISCARD, FORGET, LOAD, NAME, PROGRESS, PUT, TYPE_BITS, pairs};
use crate::{Shard, Version, View};

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
    shards: Vec<Option<Arc<Shard>>>,
}

impl Mirror {
    /// Load what a worker begins with into a view without shards.
    pub fn load(region: &Arc<Region>, view: &Arc<View>, start: &Attachment) -> Self {
        let revision = region.revision();
        view.log_from(revision, std::time::Duration::ZERO);
        let shards: Vec<_> = start.names.iter().map(|name| (!name.is_empty()).then(|| view.shard(name))).collect();
        for list in &start.lists {
            for (number, place) in pairs(&Block::at(region, *list)) {
                let block = Block::at(region, place);
                if let Some(Some(shard)) = shards.get(number as usize) {
                    shard.load_block(block);
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
        let block = (at != 0).then(|| Block::at(&self.region, at));
        if kind == PROGRESS {
            self.view.skip(revision);
            return;
        }
        if kind == NAME {
            let name = block.as_deref().and_then(|name| str::from_utf8(name).ok()).unwrap_or_default();
            if place.shards.len() <= number {
                place.shards.resize(number.saturating_add(1), None);
            }
            if let Some(shard) = place.shards.get_mut(number) {
                *shard = Some(self.view.shard(name));
            }
            return;
        }
        let Some(Some(shard)) = place.shards.get(number) else { return };
        match (kind, block) {
            (PUT | DELETE, Some(block)) => shard.mirror(kind == DELETE, block),
            (LOAD, Some(block)) => shard.load_block(block),
            (DISCARD, Some(key)) => shard.transact(|shard| shard.discard(&String::from_utf8_lossy(&key))),
            (FORGET, _) => shard.transact(|shard| shard.forget(revision)),
            _ => {}
        }
    }
}

impl Shard {
    /// Put the version of a block without an event.
    fn load_block(&self, block: Block) {
        self.transact(|shard| {
            if let Ok(version) = Version::of_block(block, None)
                && shard.get(version.key()).is_none_or(|present| present.revision() < version.revision())
            {
                drop(shard.keep(Arc::new(version)));
            }
        });
    }

    /// Apply the event of a version, unless the shard began with a later one.
    fn mirror(&self, deletes: bool, block: Block) {
        self.transact(|shard| {
            let Ok(version) = Version::of_block(block, Some(shard.state.ring.beside())) else { return };
            let version = Arc::new(version);
            match shard.get(version.key()) {
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
    use crate::{Limits, Local};

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
