//! The writes that wait, and those that are under way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hydrofoil_store::{Change, Shard, StoreError, Version};
use parking_lot::{Condvar, Mutex};

use crate::seal::{Readable, Seal};

/// A write that was judged, and is not yet durable.
#[derive(Debug)]
pub(crate) struct Write<T> {
    pub(crate) id: u64,
    pub(crate) ticket: T,
    pub(crate) target: Target,
    pub(crate) change: Change,
}

/// The object of a write.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name of the resource.
    pub resource: Arc<str>,
    /// Its objects.
    pub shard: Arc<Shard>,
    /// The key of the object.
    pub key: Arc<str>,
}

/// Why a write was not done, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no space: nothing was written, and it may succeed later.
    Full(String),
    /// The log has stopped writing: nothing was written.
    Halted(String),
    /// The disk failed during the write: it is unknown whether it was done.
    Lost(String),
    /// The object could not be encrypted: nothing was written, and it may succeed later.
    Unencrypted(String),
}

/// The outcome of a write.
#[derive(Debug)]
pub struct Done<T> {
    /// The number of the write.
    pub id: u64,
    /// The property of its owner.
    pub ticket: T,
    /// The new version or the last state of a deleted object; or why there is none.
    pub outcome: Result<Arc<Version>, Refusal>,
}

/// The answer to a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// It is under way, with a number.
    Begun(u64),
    /// A write of that number to the same object is under way: this one is judged after it.
    After(u64),
    /// It is refused.
    Refused(Refusal),
}

/// The work of the thread that writes.
#[derive(Debug)]
pub(crate) struct Work<T> {
    pub(crate) writes: Vec<Write<T>>,
    pub(crate) compact: bool,
    /// Objects that could not be read, and were read meanwhile.
    pub(crate) readable: Vec<Readable>,
    pub(crate) closing: bool,
    /// The length of a checkpoint that was written, or why it was not.
    pub(crate) state: Option<crate::error::Result<u64>>,
}

#[derive(Debug)]
struct Inner<T> {
    work: Work<T>,
    /// By resource and key, which a client chooses: the hash has a secret.
    under_way: HashMap<(Arc<str>, Arc<str>), u64>,
    next: u64,
    done: Vec<Done<T>>,
    /// Why nothing is written any more.
    halted: Option<String>,
}

/// The writes of a log, between those that ask for them and the thread that does them.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    /// A write is judged and begun under one lock: between the two, the thread could finish a write to the same object,
    /// and the judgement would be of a version that is gone. It is held for look-ups and pushes only; the thread takes
    /// all work at once and does it without the lock.
    inner: Mutex<Inner<T>>,
    /// Work for the thread, which waits for nothing else.
    changed: Condvar,
    seal: Arc<Seal>,
}

/// The bytes after which a group takes no further write.
const ENOUGH: usize = 4 << 20;

impl<T> Work<T> {
    fn none() -> Self {
        Self { writes: Vec::new(), compact: false, readable: Vec::new(), closing: false, state: None }
    }
}

impl<T> Queue<T> {
    pub(crate) fn new(seal: Arc<Seal>) -> Self {
        let (under_way, done) = (HashMap::default(), Vec::new());
        let inner = Inner { work: Work::none(), under_way, next: 1, done, halted: None };
        Self { inner: Mutex::new(inner), changed: Condvar::new(), seal }
    }

    /// Judge a write by the view and by the writes under way, and begin it: `expected` is the revision of the object,
    /// or 0 if it must not exist. The thread takes it once it is woken, or has ended its work.
    pub(crate) fn submit<E: From<StoreError>>(
        &self,
        target: Target,
        expected: u64,
        ticket: T,
        change: impl FnOnce() -> Result<Change, E>,
    ) -> Result<Submitted, E> {
        let mut inner = self.inner.lock();
        if let Some(refused) = inner.refusal() {
            return Ok(Submitted::Refused(refused));
        }
        if let Some(other) = inner.under_way(&target) {
            return Ok(Submitted::After(other));
        }
        // First: an object that becomes readable meanwhile is in the shard before it is taken from those.
        if expected == 0 && self.seal.unread.revision(&target.resource, &target.key).is_some() {
            return Err(StoreError::Exists.into());
        }
        let present = target.shard.get(&target.key).map(|version| version.revision());
        match present {
            Some(_) if expected == 0 => return Err(StoreError::Exists.into()),
            None if expected > 0 => return Err(StoreError::NotFound.into()),
            Some(current) if current != expected => return Err(StoreError::Conflict { current }.into()),
            _ => {}
        }
        let change = change()?;
        Ok(Submitted::Begun(inner.begin(target, ticket, change)))
    }

    /// Begin the deletion of an object of a revision that cannot be read.
    pub(crate) fn discard(&self, target: Target, expected: u64, ticket: T) -> Result<Submitted, StoreError> {
        let mut inner = self.inner.lock();
        if let Some(refused) = inner.refusal() {
            return Ok(Submitted::Refused(refused));
        }
        if let Some(other) = inner.under_way(&target) {
            return Ok(Submitted::After(other));
        }
        match self.seal.unread.revision(&target.resource, &target.key) {
            None => Err(StoreError::NotFound),
            Some(current) if current != expected => Err(StoreError::Conflict { current }),
            Some(_) => Ok(Submitted::Begun(inner.begin(target, ticket, Change::Delete))),
        }
    }

    /// Wake the thread: writes wait.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Wait for work for a time at most, and take it.
    pub(crate) fn take(&self, patience: Option<Duration>) -> Work<T> {
        let mut inner = self.inner.lock();
        let idle = |work: &Work<T>| {
            work.writes.is_empty() && !work.compact && work.readable.is_empty() && !work.closing && work.state.is_none()
        };
        if idle(&inner.work) {
            match patience {
                None => self.changed.wait_while(&mut inner, |inner| idle(&inner.work)),
                Some(time) => drop(self.changed.wait_while_for(&mut inner, |inner| idle(&inner.work), time)),
            }
        }
        let work = &mut inner.work;
        let mut size = 0_usize;
        let few = work.writes.iter().position(|write| {
            let full = size > ENOUGH;
            size = size.saturating_add(write.size());
            full
        });
        let rest = few.map_or_else(Vec::new, |few| work.writes.split_off(few));
        let writes = std::mem::replace(&mut work.writes, rest);
        let closing = work.closing && work.writes.is_empty();
        Work {
            writes,
            compact: std::mem::take(&mut work.compact),
            readable: std::mem::take(&mut work.readable),
            closing,
            state: work.state.take(),
        }
    }

    /// Record outcomes, and forget that the writes are under way.
    pub(crate) fn settle(&self, done: impl IntoIterator<Item = (Target, Done<T>)>) {
        let mut inner = self.inner.lock();
        for (target, done) in done {
            inner.under_way.remove(&(target.resource, target.key));
            inner.done.push(done);
        }
    }

    /// Take the outcomes since the last call.
    pub(crate) fn outcomes(&self) -> Vec<Done<T>> {
        std::mem::take(&mut self.inner.lock().done)
    }

    /// Refuse all writes from now on; return those that wait.
    pub(crate) fn halt(&self, why: &str) -> Vec<Write<T>> {
        let mut inner = self.inner.lock();
        inner.halted = Some(why.to_owned());
        std::mem::take(&mut inner.work.writes)
    }

    pub(crate) fn halt_reason(&self) -> Option<String> {
        self.inner.lock().halted.clone()
    }

    /// Change the work, and wake the thread.
    pub(crate) fn ask(&self, change: impl FnOnce(&mut Work<T>)) {
        change(&mut self.inner.lock().work);
        self.changed.notify_one();
    }
}

impl<T> Inner<T> {
    /// Return why no write is taken, if none is.
    fn refusal(&self) -> Option<Refusal> {
        match &self.halted {
            Some(why) => Some(Refusal::Halted(why.clone())),
            None if self.work.closing => Some(Refusal::Halted("the server is stopping".to_owned())),
            None => None,
        }
    }

    /// Return the number of the write to an object that is under way.
    fn under_way(&self, target: &Target) -> Option<u64> {
        self.under_way.get(&(Arc::clone(&target.resource), Arc::clone(&target.key))).copied()
    }

    fn begin(&mut self, target: Target, ticket: T, change: Change) -> u64 {
        let id = self.next;
        self.next = id.wrapping_add(1);
        self.under_way.insert((Arc::clone(&target.resource), Arc::clone(&target.key)), id);
        self.work.writes.push(Write { id, ticket, target, change });
        id
    }
}

impl<T> Write<T> {
    fn size(&self) -> usize {
        match &self.change {
            Change::Put(draft) => draft.json.len().saturating_add(draft.given.as_ref().map_or(0, Vec::len)),
            Change::Delete => self.target.key.len(),
        }
    }
}
