//! What the feed of a truth elsewhere does to a shard: it brings events with the revisions that they have there.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{Draft, Shard, Version};

/// What an event does to the object of its key.
#[derive(Debug)]
pub enum Change {
    /// It is this from now on.
    Put(Draft),
    /// It has gone.
    Delete,
}

impl Shard {
    /// Fills a shard that has nothing yet with the state at a revision, told to nobody; history begins there.
    pub fn load(&self, states: impl IntoIterator<Item = (String, u64, Draft)>, revision: u64) {
        self.transact(|shard| {
            for (key, at, draft) in states {
                drop(shard.keep(Arc::new(Version::new(Arc::from(key), at, draft, None))));
            }
            self.reach.raise(revision);
            shard.forget(revision);
        });
    }

    /// Applies the next event: revisions may have gaps. Gives the version that it made, or the last state of what it took
    /// out; `None` when that is no news, because the shard is that far, or nothing was there to take out.
    pub fn apply(&self, revision: u64, key: &str, change: Change) -> Option<Arc<Version>> {
        self.transact(|shard| {
            if revision <= self.reach.revision() {
                return None;
            }
            let made = match change {
                Change::Put(draft) => Some(shard.put(revision, Arc::from(key), draft)),
                Change::Delete => shard.get(key).cloned().map(|old| shard.take_out(revision, &old)),
            };
            self.reach.raise(revision);
            made
        })
    }

    /// No event up to a revision will follow: the shard is that far.
    pub fn progress(&self, revision: u64) {
        // Under the lock, so that no reader takes a state for one of a revision that is still being applied.
        self.transact(|_| self.reach.raise(revision));
    }

    /// Takes over the state at a revision after the feed lost its place: what differs is told, older history ends. `same`
    /// tells whether a draft is a later state of an object, and not another one of its name.
    ///
    /// Nobody knows when objects went. That is told first, at the revision at which the shard stood, so that who has seen
    /// only a part of the events stands before the end of history and has to begin anew.
    pub fn replace(
        &self,
        states: impl IntoIterator<Item = (String, u64, Draft)>,
        revision: u64,
        same: impl Fn(&Version, &Draft) -> bool,
    ) {
        self.transact(|shard| {
            let before = self.reach.revision();
            let (mut present, mut gone, mut changed) = (FxHashSet::default(), Vec::new(), Vec::new());
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
            self.reach.raise(revision);
            shard.forget(revision.max(before));
        });
    }

    /// Ends the history: states and watches can only begin with what is present.
    pub fn compact(&self) {
        self.transact(|shard| shard.forget(self.reach.revision()));
    }
}
