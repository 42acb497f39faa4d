//! Watchers, and the batches that those of one kind share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hydrofoil_codec::{cbor, proto};
use hydrofoil_schema::convert;
use hydrofoil_store as store;
use hydrofoil_store::{Drained, Frame, WatcherId};
use hydrofoil_types::Value;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::render::{Encoding, Form, render_event};
use crate::stored::Stored;
use crate::typed::Typed;

/// How many batches a shard remembers: watchers stand at few different cursors at a time.
const KEPT: usize = 8;

/// What one drain from one cursor gave, for all watchers that stand there.
struct Batch {
    from: u64,
    filter: Arc<str>,
    form: Form,
    api_version: hydrofoil_types::SmolStr,
    made_by: u64,
    framed: bool,
    max: usize,
    bytes: Option<Py<PyBytes>>,
    next: u64,
    seen: u64,
}

/// The latest batches of a shard.
#[derive(Default)]
pub(crate) struct Batches(Vec<Batch>);

/// A cursor into the events of a resource.
#[pyclass(frozen)]
pub(crate) struct Watcher {
    pub(crate) shard: Arc<store::Shard>,
    pub(crate) batches: Arc<Mutex<Batches>>,
    pub(crate) typed: Arc<Typed>,
    pub(crate) form: Form,
    pub(crate) id: WatcherId,
    pub(crate) framed: bool,
    /// Whether the columns of a table are still to be named.
    pub(crate) headless: AtomicBool,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shard.unwatch(self.id);
    }
}

#[pymethods]
impl Watcher {
    /// Waiting events as one piece of the stream of about `max` bytes, and what is left:
    /// 0 nothing, 1 more, 2 the initial state is complete, 3 the history has passed the cursor by.
    fn drain<'py>(&self, py: Python<'py>, max: usize) -> PyResult<(Option<Bound<'py, PyBytes>>, u8)> {
        // The first event of a table stream names the columns, so it is nobody else's.
        let first = self.form.is_table() && !self.headless.load(Ordering::Relaxed);
        let cursor = self.shard.cursor(self.id).filter(|_| !first);
        if let Some((from, filter)) = &cursor {
            let batches = self.batches.lock();
            let found = batches.0.iter().find(|b| {
                b.from == *from
                    && b.max == max
                    && b.framed == self.framed
                    && b.filter == filter.identity
                    && b.form == self.form
                    && b.api_version == self.typed.api_version
                    && b.made_by == self.typed.form()
            });
            if let Some(batch) = found.filter(|b| b.next > *from) {
                self.shard.advance(self.id, batch.next, batch.seen);
                let left = u8::from(batch.next < self.shard.end());
                return Ok((batch.bytes.as_ref().map(|b| b.bind(py).clone()), left));
            }
        }
        let mut out = Vec::with_capacity(4096);
        if self.framed {
            out.extend_from_slice(CHUNK_HEAD);
        }
        let start = out.len();
        let mut failed = None;
        let (left, next, seen) = self.shard.drain(self.id, |frame| {
            if let Err(e) = self.event(frame, &mut out) {
                failed = Some(e);
                return false;
            }
            out.len() < max
        });
        if let Some(e) = failed {
            return Err(e);
        }
        let bytes = (out.len() > start)
            .then(|| if self.framed { PyBytes::new(py, frame_chunk(&mut out)) } else { PyBytes::new(py, &out) });
        if let (Some((from, filter)), Drained::All | Drained::More) = (cursor, left) {
            let mut batches = self.batches.lock();
            if batches.0.len() >= KEPT {
                batches.0.remove(0);
            }
            batches.0.push(Batch {
                from,
                filter: Arc::clone(&filter.identity),
                form: self.form.clone(),
                api_version: self.typed.api_version.clone(),
                made_by: self.typed.form(),
                framed: self.framed,
                max,
                bytes: bytes.as_ref().map(|b| b.clone().unbind()),
                next,
                seen,
            });
        }
        Ok((bytes, told(left)))
    }

    /// What a webhook has yet to convert of `max` objects of the next events, or before it is known whether they are
    /// selected.
    fn pending(&self, max: usize) -> PyResult<Vec<Stored>> {
        let Some(custom) = &self.typed.custom else { return Ok(Vec::new()) };
        let (mut out, mut failed, mut seen) = (Vec::<Stored>::new(), Ok(()), 0);
        self.shard.peek(self.id, |version, undecided| {
            match custom.is_pending(&self.typed.schema, version, undecided) {
                // What one event made is what the next one found.
                Ok(true) if undecided && out.iter().any(|known| Arc::ptr_eq(&known.version, version)) => {}
                Ok(true) => out.push(Stored::new(&self.typed, Arc::clone(version))),
                Ok(false) => {}
                Err(e) => failed = Err(e),
            }
            seen += 1;
            failed.is_ok() && seen < max
        });
        failed.map(|()| out)
    }

    /// Whether something waits to be drained.
    fn waits(&self) -> bool {
        self.shard.waits(self.id)
    }

    /// Up to `max` waiting changes as the versions before and after, and what is left, as `drain` tells it. The present
    /// state comes first, as what came from nothing.
    fn changes(&self, max: usize) -> (Vec<Difference>, u8) {
        let mut out = Vec::new();
        let shown = |version: Option<&Arc<store::Version>>| version.map(|v| Stored::new(&self.typed, Arc::clone(v)));
        let left = self.shard.changes(self.id, |before, now| {
            out.push((shown(before), shown(now)));
            out.len() < max
        });
        (out, told(left))
    }

    /// A BOOKMARK: an empty object at the revision up to which everything was told. `None` while the initial
    /// state is being given.
    fn bookmark<'py>(&self, py: Python<'py>, initial: bool) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(revision) = self.shard.seen(self.id) else { return Ok(None) };
        let mut value = Value::object();
        self.typed.set_type(&mut value);
        value.object_at_mut(&["metadata"]);
        if self.typed.custom.is_none() {
            convert::of_nothing(&self.typed.kind, &mut value);
        }
        if initial {
            value.object_at_mut(&["metadata", "annotations"]).set("k8s.io/initial-events-end", "true");
        }
        let version = store::Version::detached("", revision, self.typed.own_draft(&value));
        let mut out = Vec::with_capacity(256);
        if self.framed {
            out.extend_from_slice(CHUNK_HEAD);
        }
        self.frame("BOOKMARK", &version, &mut out)?;
        Ok(Some(if self.framed { PyBytes::new(py, frame_chunk(&mut out)) } else { PyBytes::new(py, &out) }))
    }
}

impl Watcher {
    fn event(&self, frame: &Frame, out: &mut Vec<u8>) -> PyResult<()> {
        if let (Some(source), Some(_)) = (&frame.source, &self.typed.custom) {
            // What is known of the version before in other forms is not known of its copy at a later revision.
            let draft = self.typed.own_draft(&self.typed.read(source)?);
            let shown = store::Version::detached(source.key(), frame.revision, draft);
            return self.frame(frame.kind.wire(), &shown, out);
        }
        self.frame(frame.kind.wire(), &frame.version, out)
    }

    fn frame(&self, kind: &str, version: &store::Version, out: &mut Vec<u8>) -> PyResult<()> {
        let columns = !self.headless.swap(true, Ordering::Relaxed);
        let now = self.shard.clock().now();
        if !self.form.is_text() {
            let mut object = Vec::new();
            render_event(&self.typed, &self.form, version, true, columns, now, &mut object)?;
            match self.form.encoding {
                Encoding::Cbor => cbor::event(kind, &object, out),
                _ => proto::watch_event(kind, &object, out),
            }
            return Ok(());
        }
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(br#"","object":"#);
        render_event(&self.typed, &self.form, version, true, columns, now, out)?;
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

/// A version before and the one after.
type Difference = (Option<Stored>, Option<Stored>);

/// What is left, as Python reads it.
fn told(left: Drained) -> u8 {
    match left {
        Drained::All => 0,
        Drained::More => 1,
        Drained::InitialEnd => 2,
        Drained::Lapped => 3,
    }
}

/// Room for the length of a chunk, written when it is known.
const CHUNK_HEAD: &[u8] = b"00000000\r\n";

/// Frames a buffer that begins with room for its head as one HTTP/1.1 chunk.
fn frame_chunk(out: &mut Vec<u8>) -> &[u8] {
    let length = out.len() - CHUNK_HEAD.len();
    let head = format!("{length:x}\r\n");
    out.extend_from_slice(b"\r\n");
    let start = CHUNK_HEAD.len() - head.len();
    out[start..CHUNK_HEAD.len()].copy_from_slice(head.as_bytes());
    &out[start..]
}
