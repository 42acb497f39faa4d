//! What a server knows of its resources, and the log that is the view itself.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hydrofoil_codec::json;
use hydrofoil_store as store;
use hydrofoil_types::MetaView;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::change::Change;
use crate::clock::Clock;
use crate::error::store_error;
use crate::shard::Shard;
use crate::stored::Stored;
use crate::watch::Batches;

/// All objects that a server knows.
///
/// What a feed does may come from any thread, and works without Python's lock. Python objects that it drops are set aside
/// by the binding until a thread next takes that lock, which the loop does.
#[pyclass(frozen)]
pub(crate) struct View {
    inner: store::View,
    shards: Mutex<HashMap<String, Py<Shard>>>,
    signal: Signal,
}

/// Tells the loop through a descriptor that a feed has applied something.
struct Signal {
    writer: UnixStream,
    reader: UnixStream,
    given: AtomicBool,
}

impl Signal {
    fn new() -> PyResult<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { writer, reader, given: AtomicBool::new(false) })
    }

    /// Makes the descriptor readable, once until it is cleared.
    fn give(&self) {
        if !self.given.swap(true, Ordering::AcqRel) {
            // It can only fail because a byte waits there already, or because nobody will read it any more.
            let _ = (&self.writer).write(&[1]);
        }
    }

    /// Takes the signal back; what is applied from now on gives it anew.
    fn clear(&self) -> PyResult<()> {
        match (&self.reader).read(&mut [0; 16]) {
            Err(e) if e.kind() != ErrorKind::WouldBlock => return Err(e.into()),
            _ => {}
        }
        self.given.store(false, Ordering::Release);
        Ok(())
    }
}

/// Objects with their revisions, as a feed has them.
type States = Vec<(u64, Py<Change>)>;

#[pymethods]
impl View {
    /// An empty view: the bounds of each history, and of the bytes of encodings that are kept (`None`: by the size of the
    /// objects), and the time.
    #[new]
    fn new(window: f64, events: usize, bytes: usize, cache: Option<usize>, clock: &Clock) -> PyResult<Self> {
        let window = Duration::try_from_secs_f64(window.max(0.0)).unwrap_or(Duration::MAX);
        let limits = store::Limits { window, events, bytes };
        let inner = store::View::new(limits, cache, Arc::clone(&clock.0));
        Ok(Self { inner, shards: Mutex::default(), signal: Signal::new()? })
    }

    /// The shard of that name, made when first asked for.
    fn shard(&self, py: Python<'_>, name: &str) -> PyResult<Py<Shard>> {
        let mut shards = self.shards.lock();
        if let Some(found) = shards.get(name) {
            return Ok(found.clone_ref(py));
        }
        let inner = self.inner.shard(name);
        let batches = Arc::new(Mutex::new(Batches::default()));
        let made = Py::new(py, Shard { name: Arc::from(name), inner, batches, typed: Mutex::new(None) })?;
        shards.insert(name.to_owned(), made.clone_ref(py));
        Ok(made)
    }

    /// Fills a shard that has nothing yet with the state at a revision.
    fn load(&self, py: Python<'_>, name: &str, states: States, revision: u64) -> PyResult<()> {
        let shard = self.shard(py, name)?;
        let (shard, states) = (shard.get(), drafts(shard.get(), &states));
        py.detach(|| shard.inner.load(states, revision));
        self.signal.give();
        Ok(())
    }

    /// Applies the next event of a resource; gives the version that it made or the last state of what went, and `None`
    /// when that is no news.
    fn apply(&self, py: Python<'_>, change: &Change, revision: u64) -> PyResult<Option<Stored>> {
        let shard = self.shard(py, &change.shard.get().name)?;
        let shard = shard.get();
        let made = py.detach(|| {
            let applied = match change.draft() {
                Some(draft) => store::Change::Put(shard.adapted(&change.key, draft)),
                None => store::Change::Delete,
            };
            shard.inner.apply(revision, &change.key, applied)
        });
        self.signal.give();
        Ok(made.map(|version| Stored::new(&change.typed, version)))
    }

    /// No event of a resource up to a revision will follow.
    fn progress(&self, py: Python<'_>, name: &str, revision: u64) -> PyResult<()> {
        let shard = self.shard(py, name)?;
        py.detach(|| shard.get().inner.progress(revision));
        self.signal.give();
        Ok(())
    }

    /// Takes over the state at a revision after the feed lost its place: what differs is told, older history ends.
    fn replace(&self, py: Python<'_>, name: &str, states: States, revision: u64) -> PyResult<()> {
        let shard = self.shard(py, name)?;
        let (shard, states) = (shard.get(), drafts(shard.get(), &states));
        py.detach(|| shard.inner.replace(states, revision, same_uid));
        self.signal.give();
        Ok(())
    }

    /// Ends all history: states and watches can only begin with what is present.
    fn compact(&self) {
        self.inner.compact();
    }

    /// A descriptor that can be read from when something was applied since the signal was last cleared.
    fn fileno(&self) -> i32 {
        self.signal.reader.as_raw_fd()
    }

    /// Takes the signal back.
    fn clear(&self) -> PyResult<()> {
        self.signal.clear()
    }

    /// Whether watchers wait to be drained.
    fn has_woken(&self) -> bool {
        self.inner.has_woken()
    }

    /// The tokens of the watchers that wait to be drained.
    fn take_woken(&self) -> Vec<u64> {
        self.inner.take_woken()
    }
}

fn drafts(shard: &Shard, states: &States) -> Vec<(String, u64, store::Draft)> {
    let draft = |(revision, change): &(u64, Py<Change>)| {
        let change = change.get();
        let draft = shard.adapted(&change.key, change.draft()?);
        Some((change.key.to_string(), *revision, draft))
    };
    states.iter().filter_map(draft).collect()
}

/// Whether a draft is a state of the same object as a version.
fn same_uid(version: &store::Version, draft: &store::Draft) -> bool {
    let uid = |text: &[u8]| json::parse(text).ok().map(|parsed| MetaView::of(&parsed.value).uid().to_owned());
    uid(version.json()) == uid(&draft.json)
}

/// The log of a view that is its own truth.
#[pyclass(frozen)]
pub(crate) struct Local {
    inner: store::Local,
}

#[pymethods]
impl Local {
    /// The log of a view that has no shards yet; its first write gets the revision after `start`.
    #[new]
    fn new(view: &View, start: u64) -> Self {
        Self { inner: store::Local::open(&view.inner, start) }
    }

    /// Judges a change and applies it. Gives the new version, or the last state of an object that went.
    fn commit(&self, change: &Change) -> PyResult<Stored> {
        let shard = &change.shard.get().inner;
        let version = match &change.old {
            None => self.inner.create(shard, &change.key, change.take()?),
            Some(old) if change.deletes => self.inner.delete(shard, &change.key, old.revision()),
            Some(old) => self.inner.update(shard, &change.key, old.revision(), change.take()?),
        };
        Ok(Stored::new(&change.typed, version.map_err(store_error)?))
    }

    /// The latest revision.
    #[getter]
    fn revision(&self) -> u64 {
        self.inner.revision()
    }
}
