//! The resources of a server, and the interface of feeds.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use hydrofoil_store as store;
use hydrofoil_store::{Checkpoint, Limits, Local};
use hydrofoil_types::Clock;
use parking_lot::Mutex;

use crate::frame::Frame;
use crate::shard::Shard;
use crate::signal::Signal;
use crate::stored::{Stored, same_object, same_uid};
use crate::write::Change;

/// All objects of a server.
///
/// Feeds may run on any thread, and their work does not block the runtime of frames.
#[derive(Debug)]
pub struct View<F> {
    store: Arc<store::View>,
    /// One shard a resource, whoever asks first: a feed on its thread or a request on the loop.
    shards: Mutex<HashMap<String, Arc<Shard<F>>>>,
    signal: Signal,
}

impl<F: Frame> View<F> {
    /// Return an empty view with the limits of each history and of the bytes of cached encodings (`None`: by the size
    /// of the objects), and the clock.
    pub fn new(limits: Limits, cache: Option<usize>, clock: Arc<Clock>) -> io::Result<Self> {
        let store = Arc::new(store::View::new(limits, cache, clock));
        Ok(Self { store, shards: Mutex::default(), signal: Signal::new()? })
    }

    /// Return the objects in the store.
    pub fn store(&self) -> &Arc<store::View> {
        &self.store
    }

    /// Return the signal that feeds set.
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// Return the shard of a resource, created on first use.
    pub fn shard(&self, name: &str) -> Arc<Shard<F>> {
        let mut shards = self.shards.lock();
        if let Some(found) = shards.get(name) {
            return Arc::clone(found);
        }
        let made = Arc::new(Shard::new(name, self.store.shard(name)));
        shards.insert(name.to_owned(), Arc::clone(&made));
        made
    }

    /// Drop a resource: its objects are freed with their last reader.
    pub fn forget(&self, name: &str) {
        self.shards.lock().remove(name);
        F::apart(|| self.store.forget(name));
    }

    /// Load the state at a revision into an empty shard.
    pub fn load<'c>(&self, name: &str, states: impl Iterator<Item = (u64, &'c Change)>, revision: u64) {
        self.feed(name, states, |shard, states| shard.load(states, revision));
    }

    /// Replace the state with the one at a revision after the feed was interrupted: differences become events, older
    /// history ends.
    pub fn replace<'c>(&self, name: &str, states: impl Iterator<Item = (u64, &'c Change)>, revision: u64) {
        self.feed(name, states, |shard, states| shard.replace(states, revision, same_uid));
    }

    /// Record that no further event of a resource up to a revision will follow.
    pub fn progress(&self, name: &str, revision: u64) {
        self.feed(name, std::iter::empty(), |shard, _| shard.progress(revision));
    }

    /// Apply the next event of a resource. Return the new version or the last state of a deleted object; `None` if the
    /// shard already has it.
    pub fn apply(&self, name: &str, change: &Change, revision: u64) -> Option<Stored> {
        let shard = self.shard(name);
        let made = F::apart(|| change.apply(&*shard, revision));
        self.signal.give();
        made
    }

    /// Return to a state of this view by a log. Return the number of differences.
    pub fn restore(&self, log: &Local, state: &Checkpoint) -> usize {
        log.restore(&self.store, state, same_object)
    }

    fn feed<'c>(
        &self,
        name: &str,
        states: impl Iterator<Item = (u64, &'c Change)>,
        work: impl FnOnce(&store::Shard, Vec<(String, u64, store::Draft)>) + Send,
    ) {
        let shard = self.shard(name);
        let states = states.filter_map(|(revision, change)| change.state(&*shard, revision)).collect();
        F::apart(|| work(shard.store(), states));
        self.signal.give();
    }
}
