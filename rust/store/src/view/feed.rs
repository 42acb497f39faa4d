//! The interface of a shard to the feed of an external source, which delivers events with their revisions.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{Draft, Shard, Version};

/// The change of the object of a key.
#[derive(Debug)]
pub enum Change {
    /// The new object.
    Put(Draft),
    /// The deletion.
    Delete,
}

impl Shard {
    /// Load the state at a revision into an empty shard, without events; history begins there.
    pub fn load(&self, states: impl IntoIterator<Item = (String, u64, Draft)>, revision: u64) {
        self.transact(|shard| {
            for (key, at, draft) in states {
                let version = shard.share(Version::new(Arc::from(key), at, draft, None));
                drop(shard.keep(version));
            }
            self.raise(revision);
            shard.forget(revision);
        });
    }

    /// Apply the next event; revisions may have gaps. Return the new version, or the last state of a deleted object;
    /// `None` if the shard already has the event, or there was nothing to delete.
    pub fn apply(&self, revision: u64, key: &str, change: Change) -> Option<Arc<Version>> {
        self.transact(|shard| {
            if revision <= self.reach.revision() {
                return None;
            }
            let made = match change {
                Change::Put(draft) => Some(shard.put(revision, Arc::from(key), draft)),
                Change::Delete => shard.get(key).cloned().map(|old| shard.take_out(revision, &old)),
            };
            self.raise(revision);
            made
        })
    }

    /// Apply all events of one revision of a log that all shards share. The caller has compared it with the progress of the log.
    /// Return the new version or the last state of a deleted object for each.
    pub fn apply_all(&self, revision: u64, events: Vec<(Arc<str>, Change)>) -> Vec<Option<Arc<Version>>> {
        self.transact(|shard| {
            let made = events.into_iter().map(|(key, change)| match change {
                Change::Put(draft) => Some(shard.put(revision, key, draft)),
                Change::Delete => shard.get(&key).cloned().map(|old| shard.take_out(revision, &old)),
            });
            let made = made.collect();
            self.raise(revision);
            made
        })
    }

    /// Record that no further event up to a revision will follow.
    pub fn progress(&self, revision: u64) {
        // Under the lock, so that no reader takes a state at a revision that is still being applied.
        self.transact(|_| self.raise(revision));
    }

    /// Replace the state with the one at a revision after the feed was interrupted: differences become events, older
    /// history ends. `same` reports whether a draft is a later state of an object, and not another object of the same
    /// name.
    ///
    /// The revisions of deletions are unknown. Their events come first, at the previous revision of the shard, so that
    /// a client that received only a part of the events is before the end of history and has to start again.
    pub fn replace(
        &self,
        states: impl IntoIterator<Item = (String, u64, Draft)>,
        revision: u64,
        same: impl Fn(&Version, &Draft) -> bool,
    ) {
        let before = self.reach.revision();
        self.replace_after(before, states, revision, same);
        self.progress(revision);
    }

    /// Do the same in a shard that others share their progress with, which is recorded when all of them are replaced.
    pub fn replace_after(
        &self,
        before: u64,
        states: impl IntoIterator<Item = (String, u64, Draft)>,
        revision: u64,
        same: impl Fn(&Version, &Draft) -> bool,
    ) {
        self.transact(|shard| {
            let (mut present, mut gone, mut changed) = (HashSet::new(), Vec::new(), Vec::new());
            for (key, at, draft) in states {
                match shard.get(&key) {
                    Some(old) if old.revision() == at => {}
                    Some(old) if !same(old, &draft) => {
                        gone.push(Arc::clone(old));
                        changed.push((at, Arc::from(&*key), draft));
                    }
                    _ => changed.push((at, Arc::from(&*key), draft)),
                }
                present.insert(key);
            }
            shard.state.tree.each(|old| {
                if !present.contains(&**old.key()) {
                    gone.push(Arc::clone(old));
                }
            });
            for old in gone {
                shard.take_out(before, &old);
            }
            changed.sort_by_key(|(at, ..)| *at);
            for (at, key, draft) in changed {
                shard.put(at, key, draft);
            }
            shard.forget(revision.max(before));
        });
    }

    /// End the history: states and watches can only begin at the present.
    pub fn compact(&self) {
        self.transact(|shard| shard.forget(self.reach.revision()));
    }
}
