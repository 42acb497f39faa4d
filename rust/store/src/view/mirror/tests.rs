//! Views of workers beside that of their owner.

#![allow(clippy::arithmetic_side_effects, reason = "they count what they made")]

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

/// An object comes and goes: a state has it exactly where its revision says so.
#[test]
fn a_state_is_that_of_its_revision() {
    let owner = Owner::new();
    let worker = owner.worker(1);
    let first = worker.view().reached_revision();
    let rounds = 2000;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for _ in 0..rounds {
                owner.put("pods", "a/m", "x");
                owner.remove("pods", "a/m");
            }
        });
        threads.spawn(|| {
            while worker.view().reached_revision() < first + 2 * rounds {
                worker.apply(3).expect("the ring is larger");
            }
        });
        let shard = worker.view().shard("pods");
        loop {
            let state = shard.snapshot();
            assert_eq!(state.tree.len() as u64, (state.revision - first) % 2, "at {}", state.revision - first);
            if state.revision == first + 2 * rounds {
                break;
            }
        }
    });
}
