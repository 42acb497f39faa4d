//! Past states, and states with other values of field selectors.

#![allow(clippy::arithmetic_side_effects, reason = "it counts events that are in memory")]

use std::sync::Arc;

use hydrofoil_types::SmolStr;

use crate::view::shard::State;
use crate::{Page, Selector, Shard, Snapshot, StoreError, Transaction, Tree, Version};

/// The number of rebuilt states that a shard caches for paginated lists.
const KEPT_STATES: usize = 16;

/// A state whose objects have other values of field selectors, and the number of the first event not in it.
#[derive(Debug)]
pub struct Reindexed {
    tree: Tree,
    seq: u64,
}

impl Shard {
    /// Return the present state for a reader that may return to its revision: one that does not expire soon.
    pub fn lasting_snapshot(&self) -> Snapshot {
        let state = self.state.lock();
        Snapshot { tree: state.tree.clone(), revision: self.reach.lasting(self.running()) }
    }

    /// Return the state at a revision of the history window.
    pub fn snapshot_at(&self, revision: u64) -> Result<Snapshot, StoreError> {
        let mut state = self.state.lock();
        let current = self.revision();
        if revision > current {
            return Err(StoreError::Future { asked: revision, current });
        }
        let now = self.running();
        state.ring.trim(now);
        let oldest = state.ring.compacted_revision().max(self.reach.oldest(now));
        // Revision 1 is the empty store at every start; it expires with the first event.
        let beginning = revision == 1 && state.ring.base() == 0;
        if revision < oldest && !beginning {
            return Err(StoreError::Expired { asked: revision, oldest });
        }
        Ok(Snapshot { tree: state.tree_at(revision), revision })
    }

    /// Return the version of a key at a revision, if it is the present one or one of the history.
    pub fn version_at(&self, key: &str, revision: u64) -> Option<Arc<Version>> {
        let state = self.state.lock();
        let present = state.tree.get(key).filter(|version| version.revision() == revision);
        present.cloned().or_else(|| {
            let events = (state.ring.after(revision - 1)..state.ring.end()).map_while(|seq| state.ring.get(seq));
            let mut events = events.take_while(|event| event.revision == revision);
            events.find(|event| &**event.current.key() == key).map(|event| Arc::clone(&event.current))
        })
    }

    /// Build the state with other values of field selectors, in linear time and without the lock.
    pub fn reindex(&self, fields: impl Fn(&Version) -> Box<[SmolStr]>) -> Reindexed {
        let (mut tree, seq) = {
            let state = self.state.lock();
            (state.tree.clone(), state.ring.end())
        };
        let snapshot = Snapshot { tree: tree.clone(), revision: 0 };
        Page::new(snapshot, Selector::default(), "", 0).take(|v| {
            drop(tree.insert(self.shared.share(v.with_fields(fields(v)))));
            true
        });
        Reindexed { tree, seq }
    }

    /// Replace the present state by one with other values of field selectors, without events; writes since it was built
    /// are added. Return false if the history no longer has them: then it must be built again.
    pub fn adopt(&self, made: Reindexed, fields: impl Fn(&Version) -> Box<[SmolStr]>) -> bool {
        let mut state = self.state.lock();
        if made.seq < state.ring.base() {
            return false;
        }
        let Reindexed { mut tree, mut seq } = made;
        while let Some(event) = state.ring.get(seq) {
            let key = event.current.key();
            match state.tree.get(key) {
                Some(version) => drop(tree.insert(self.shared.share(version.with_fields(fields(version))))),
                None => drop(tree.remove(key)),
            }
            seq += 1;
        }
        state.tree = tree;
        true
    }
}

impl Transaction<'_> {
    /// End the history up to a revision; events that watchers still need are kept for them.
    pub(crate) fn forget(&mut self, revision: u64) {
        self.publish_forget(revision);
        let State { ring, watchers, past, .. } = &mut *self.state;
        let needed = watchers.iter().flatten().filter(|watcher| !watcher.idle).map(|watcher| watcher.next).min();
        ring.forget(revision, needed.unwrap_or(ring.end()));
        past.clear();
    }
}

impl State {
    /// Return the tree at an available revision: the present one with later events undone.
    fn tree_at(&mut self, revision: u64) -> Tree {
        let seq = self.ring.after(revision);
        if seq == self.ring.end() {
            return self.tree.clone();
        }
        if let Some(at) = self.past.iter().position(|(s, _)| *s == seq) {
            let kept = self.past.remove(at);
            let tree = kept.1.clone();
            self.past.push(kept);
            return tree;
        }
        // The nearest later cached state needs the fewest undone events.
        let (mut at, mut tree) = self
            .past
            .iter()
            .filter(|(s, _)| *s > seq)
            .min_by_key(|(s, _)| *s)
            .map_or_else(|| (self.ring.end(), self.tree.clone()), |(s, t)| (*s, t.clone()));
        while at > seq {
            at -= 1;
            let event = self.ring.get(at).expect("events after a state within reach are kept");
            match &event.previous {
                Some(previous) => drop(tree.insert(Arc::clone(previous))),
                None => drop(tree.remove(event.current.key())),
            }
        }
        if self.past.len() >= KEPT_STATES {
            self.past.remove(0);
        }
        self.past.push((seq, tree.clone()));
        tree
    }
}
