//! The owner of the truth and its workers.

use std::collections::HashMap;
use std::io::{Error, ErrorKind};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use hydrofoil_engine::{Signal, stored, write};
use hydrofoil_link::{Owner, Reason, Worker};
use hydrofoil_shared as shared;
use hydrofoil_store::{Attachment, StoreError, Version};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::error::{Fallible, RefusedError, with_reason};
use crate::frame::apart;
use crate::handles::{Change, LinkOwner, LinkRequest, LinkWorker, Local, Region, ResourceType, Shard, Stored, View};

/// A place in the feed, the begin of new histories, the time of the state, the names of shards, and the places of blocks
/// with their objects.
type Start = (u64, u64, u64, Vec<String>, Vec<u64>);

/// A request: the worker, its number of it, the resource, the key, the revision that it expects, and the object.
type Asked = (usize, u64, String, String, u64, LinkRequest);

/// The number of a write, its new version, and why there is none.
type Outcome = (u64, Option<Stored>, Option<PyErr>);

/// Return a socket of its own for a descriptor of Python's.
#[allow(unsafe_code, reason = "Python has descriptors as numbers")]
fn socket(fd: RawFd) -> PyResult<UnixStream> {
    if fd < 0 {
        return Err(Error::from(ErrorKind::InvalidInput).into());
    }
    // SAFETY: the caller's socket object keeps the descriptor open during the call, and a duplicate is made of it.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(borrowed.try_clone_to_owned()?.into())
}

#[pymethods]
impl Region {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Self(Arc::new(shared::Region::create()?)))
    }

    #[staticmethod]
    fn open(fd: RawFd, slot: usize) -> PyResult<Self> {
        Ok(Self(Arc::new(shared::Region::open(fd, slot)?)))
    }

    fn fileno(&self) -> RawFd {
        self.0.fileno()
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision()
    }

    fn add(&self, counter: usize, change: i64) {
        self.0.add(counter, change);
    }

    fn counter(&self, name: &str) -> PyResult<usize> {
        self.0.counter(name).ok_or_else(|| Error::from(ErrorKind::OutOfMemory).into())
    }

    fn take(&self, counter: usize, change: i64, limit: i64) -> bool {
        self.0.take(counter, change, limit)
    }

    fn count(&self, counter: usize, slot: usize) -> i64 {
        self.0.count(counter, slot)
    }

    fn total(&self, counter: usize) -> i64 {
        self.0.total(counter)
    }
}

#[pymethods]
impl LinkOwner {
    #[new]
    fn new(py: Python<'_>, region: &Region, view: Py<View>) -> PyResult<Self> {
        let owner = Owner::new(&region.0, view.get().0.store());
        let signal = Arc::new(Signal::new()?);
        Ok(Self { owner, view: view.clone_ref(py), signal })
    }

    fn commit_to(&self, local: &Local) {
        self.owner.commit_to(local.0.clone());
    }

    fn attach(&self, py: Python<'_>, slot: usize, requests: RawFd, outcomes: RawFd) -> PyResult<Start> {
        let (requests, outcomes) = (socket(requests)?, socket(outcomes)?);
        let (view, owner, signal) = (self.view.clone_ref(py), Arc::downgrade(&self.owner), Arc::clone(&self.signal));
        let notify = move || {
            let view = &view.get().0;
            if view.store().has_woken() {
                view.signal().give();
            }
            if owner.upgrade().is_some_and(|owner| owner.has_requests()) {
                signal.give();
            }
        };
        let Attachment { cursor, base, running, names, lists } =
            apart(usize::MAX, || self.owner.attach(slot, requests, outcomes, notify))?;
        Ok((cursor, base, running, names, lists))
    }

    fn detach(&self, slot: usize) {
        apart(usize::MAX, || self.owner.detach(slot));
    }

    fn fileno(&self) -> RawFd {
        self.signal.fileno()
    }

    fn requests(&self) -> PyResult<Vec<Asked>> {
        // First, so that requests of meanwhile are announced again.
        self.signal.clear()?;
        let asked = self.owner.requests().into_iter().map(|asked| {
            let request = asked.request;
            let (resource, key) = (request.resource.clone(), request.key.clone());
            let (ticket, expected) = (request.ticket, request.expected);
            (asked.slot, ticket, resource, key, expected, LinkRequest(Mutex::new(Some(request))))
        });
        Ok(asked.collect())
    }

    #[pyo3(signature = (slot, ticket, revision, reason="", message=""))]
    fn answer(&self, slot: usize, ticket: u64, revision: u64, reason: &str, message: &str) {
        let failure = (Reason::of(reason), message.to_owned());
        let outcome = if reason.is_empty() { Ok(revision) } else { Err(failure) };
        self.owner.answer(slot, ticket, &outcome);
    }

    fn shared_size(&self) -> (usize, usize) {
        self.view.get().0.store().shared_size()
    }

    fn close(&self) {
        self.signal.close();
    }
}

#[pymethods]
impl LinkRequest {
    /// Return the write for a log. Raise the error that the view shows already.
    fn change(&self, shard: &Shard, resource: &ResourceType) -> Fallible<Change> {
        let Some(request) = self.0.lock().take() else { return Err(hydrofoil_engine::Error::Committed.into()) };
        let present = shard.0.store().get(&request.key);
        let old: Option<Arc<Version>> = match present {
            None if request.expected == 0 => None,
            None => return Err(StoreError::NotFound.into()),
            Some(_) if request.expected == 0 => return Err(StoreError::Exists.into()),
            Some(present) if present.revision() != request.expected => {
                return Err(StoreError::Conflict { current: present.revision() }.into());
            }
            present => present,
        };
        let change = write::Change::of_request(&resource.0, Arc::from(&*request.key), old, request.draft);
        Ok(Change(change, Arc::clone(&shard.0)))
    }
}

#[pymethods]
impl LinkWorker {
    #[new]
    fn new(
        py: Python<'_>,
        region: &Region,
        view: Py<View>,
        start: Start,
        requests: RawFd,
        outcomes: RawFd,
    ) -> PyResult<Self> {
        let (cursor, base, running, names, lists) = start;
        let start = Attachment { cursor, base, running, names, lists };
        let (requests, outcomes) = (socket(requests)?, socket(outcomes)?);
        let given = view.clone_ref(py);
        let notify = move || given.get().0.signal().give();
        let store = view.get().0.store();
        let worker = apart(usize::MAX, || Worker::begin(&region.0, store, &start, requests, outcomes, notify))?;
        Ok(Self { worker, writes: Mutex::new(HashMap::new()) })
    }

    fn submit(&self, number: u64, change: Py<Change>) {
        {
            let Change(change, shard) = change.get();
            change.with_draft(|draft| {
                self.worker.submit(number, shard.name(), change.key(), change.precondition(), draft);
            });
        }
        self.writes.lock().insert(number, change);
    }

    fn send(&self) -> PyResult<bool> {
        Ok(self.worker.send()?)
    }

    fn outcomes(&self) -> PyResult<Vec<Outcome>> {
        let done = self.worker.outcomes()?;
        let mut writes = self.writes.lock();
        let outcomes = done.into_iter().filter_map(|done| {
            let change = writes.remove(&done.ticket)?;
            let Change(change, shard) = change.get();
            Some(match done.outcome {
                Ok(revision) => {
                    // Its event may have left the history already.
                    let found = shard.store().version_at(change.key(), revision);
                    let made = found.or_else(|| change.make_version(revision));
                    let why = made.is_none().then(|| with_reason::<RefusedError>("unknown", "its event was lost"));
                    (done.ticket, made.map(|made| Stored(stored::Stored::new(change.kind(), made))), why)
                }
                Err((reason, why)) => (done.ticket, None, Some(with_reason::<RefusedError>(reason.name(), &why))),
            })
        });
        Ok(outcomes.collect())
    }

    fn catch_up(&self, most: usize) -> bool {
        self.worker.catch_up(most)
    }

    fn await_revision(&self, revision: u64) {
        self.worker.await_revision(revision);
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.worker.region().revision()
    }

    #[getter]
    fn is_lapped(&self) -> bool {
        self.worker.is_lapped()
    }

    fn fileno(&self) -> RawFd {
        self.worker.outcomes_socket().as_raw_fd()
    }

    fn requests_fileno(&self) -> RawFd {
        self.worker.requests_socket().as_raw_fd()
    }

    fn close(&self) {
        apart(usize::MAX, || self.worker.close());
    }
}
