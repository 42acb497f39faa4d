//! States of the past, and states in which objects are selected by other fields.

#![allow(clippy::arithmetic_side_effects, reason = "it counts events that are in memory")]

use std::sync::Arc;

use hydrofoil_types::SmolStr;

use crate::view::shard::State;
use crate::{Page, Selector, Shard, Snapshot, StoreError, Transaction, Tree, Version};

/// How many rebuilt states a shard keeps for walks that go on.
const KEPT_STATES: usize = 16;

/// A state whose objects have other values of field selectors, and the first event that it does not have.
#[derive(Debug)]
pub struct Reindexed {
    tree: Tree,
    seq: u64,
}

impl Shard {
    /// The present state for a reader who may come back to its revision: one that is not about to expire.
    pub fn lasting_snapshot(&self) -> Snapshot {
        let state = self.state.lock();
        Snapshot { tree: state.tree.clone(), revision: self.reach.lasting(self.clock().elapsed()) }
    }

    /// The state at a revision of the history window.
    pub fn snapshot_at(&self, revision: u64) -> Result<Snapshot, StoreError> {
        let mut state = self.state.lock();
        let current = self.revision();
        if revision > current {
            return Err(StoreError::Future { asked: revision, current });
        }
        let now = self.clock().elapsed();
        state.ring.trim(now);
        let oldest = state.ring.compacted().max(self.reach.oldest(now));
        // Revision 1 is the empty store that every run begins with; it expires with the first event.
        let beginning = revision == 1 && state.ring.base() == 0;
        if revision < oldest && !beginning {
            return Err(StoreError::Expired { asked: revision, oldest });
        }
        Ok(Snapshot { tree: state.tree_at(revision), revision })
    }

    /// Makes the state with other values of field selectors. Takes as long as there are objects, and no lock meanwhile.
    pub fn reindexed(&self, fields: impl Fn(&Version) -> Box<[SmolStr]>) -> Reindexed {
        let (mut tree, seq) = {
            let state = self.state.lock();
            (state.tree.clone(), state.ring.end())
        };
        let snapshot = Snapshot { tree: tree.clone(), revision: 0 };
        Page::new(snapshot, Selector::default(), "", 0).take(|v| {
            drop(tree.insert(Arc::new(v.with_fields(fields(v)))));
            true
        });
        Reindexed { tree, seq }
    }

    /// Puts a state with other values of field selectors in the place of the present one, without an event; what was
    /// written since it was made is added. False when the history does not tell that any more: then it has to be made
    /// again.
    pub fn adopt(&self, made: Reindexed, fields: impl Fn(&Version) -> Box<[SmolStr]>) -> bool {
        let mut state = self.state.lock();
        if made.seq < state.ring.base() {
            return false;
        }
        let Reindexed { mut tree, mut seq } = made;
        while let Some(event) = state.ring.get(seq) {
            let key = event.current.key();
            match state.tree.get(key) {
                Some(version) => drop(tree.insert(Arc::new(version.with_fields(fields(version))))),
                None => drop(tree.remove(key)),
            }
            seq += 1;
        }
        state.tree = tree;
        true
    }
}

impl Transaction<'_> {
    /// Ends the history up to a revision; events that watchers have yet to be given stay for them.
    pub(crate) fn forget(&mut self, revision: u64) {
        let State { ring, watchers, past, .. } = &mut *self.state;
        let needed = watchers.iter().flatten().map(|watcher| watcher.next).min();
        ring.forget(revision, needed.unwrap_or(ring.end()));
        past.clear();
    }
}

impl State {
    /// The tree at a revision within reach: the present one with the later events undone.
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
        // The nearest later state that is kept needs the fewest undone events.
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
