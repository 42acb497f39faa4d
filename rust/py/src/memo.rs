//! Reads like one before: from the bytes of a request to those of its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_codec::proto::ENVELOPE_TAIL;
use hydrofoil_engine as engine;
use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_engine::read::{self, Encoding, Form};
use hydrofoil_engine::{Frame, Shard as EngineShard};
use hydrofoil_fairness::Work;
use hydrofoil_pace::LARGE;
use hydrofoil_repeat as repeat;
use hydrofoil_store::Filter;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::counting::Histogram;
use crate::fairness::Queues;
use crate::flow::Flow;
use crate::frame::Bytes;
use crate::handles::{Clock, ResourceType, Selector, Shard, Watcher};

/// The longest body of a list, in bytes: longer ones are compressed for many clients, and written in pieces (CP-01).
const LONGEST: usize = 128 << 10;
/// The objects of a list that take one seat (`fairness/estimate.py`).
const OBJECTS: u64 = 100;
/// The nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The ids of requests that came without one.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct AuditIds(Arc<repeat::AuditIds>);

#[pymethods]
impl AuditIds {
    #[new]
    fn new(prefix: &str) -> Self {
        Self(Arc::new(repeat::AuditIds::new(prefix)))
    }

    fn take(&self) -> String {
        self.0.take()
    }
}

/// What the requests of a memo read.
enum Reads {
    /// The object of their name.
    Object,
    /// A list that fits one piece.
    List(List),
}

/// A list that is answered as a whole.
struct List {
    filter: Arc<Filter>,
    /// The most items; 0 means any number.
    limit: usize,
    /// The most seats that it takes, one for each hundred objects of the resource; 0: it takes one, whatever there is.
    seats: u64,
    /// Whether a list without items is written like any other.
    empty: bool,
    /// The objects that lists were taken from, and those in them, that were not taken yet.
    items: [AtomicU64; 2],
}

/// What was decided about a request that reads; it holds for those of the same client for objects beside it, or for the
/// same list.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Memo {
    resource: Arc<dyn ObjectKind>,
    shard: Arc<EngineShard<Bytes>>,
    namespace: String,
    form: Form,
    reads: Reads,
    head: repeat::AnswerHead,
    /// From when until when it holds, in nanoseconds since 1970. A clock that was set back is before it.
    holds: (i64, i64),
    queues: Py<Queues>,
    flow: Py<Flow>,
    /// What counts durations in seconds, and sizes in bytes.
    counts: (Py<Histogram>, Py<Histogram>),
    /// Answers that were given and not taken yet.
    answers: AtomicU64,
}

#[pymethods]
impl Memo {
    #[new]
    #[pyo3(signature = (place, form, head, audit_id, holds, seats, counts, list=None))]
    #[allow(clippy::too_many_arguments, reason = "each is a decision of another filter")]
    fn new(
        place: (PyRef<'_, Shard>, PyRef<'_, ResourceType>, String),
        form: &str,
        head: &[u8],
        audit_id: &str,
        holds: (i64, i64),
        seats: (Py<Queues>, Py<Flow>),
        counts: (Py<Histogram>, Py<Histogram>),
        list: Option<(PyRef<'_, Selector>, usize, u64, bool)>,
    ) -> PyResult<Self> {
        let text = "the id is not in the lines once";
        let head = repeat::AnswerHead::new(head, audit_id).ok_or_else(|| PyValueError::new_err(text))?;
        let form = Form::parse(form).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let (shard, resource, namespace) = place;
        let reads = list.map_or(Reads::Object, |(selector, limit, seats, empty)| {
            Reads::List(List { filter: Arc::clone(&selector.0), limit, seats, empty, items: Default::default() })
        });
        Ok(Self {
            resource: Arc::clone(&resource.0),
            shard: Arc::clone(&shard.0),
            namespace,
            form,
            reads,
            head,
            holds,
            queues: seats.0,
            flow: seats.1,
            counts,
            answers: AtomicU64::new(0),
        })
    }

    fn take_items(&self) -> (u64, u64) {
        let Reads::List(List { items: [fetched, returned], .. }) = &self.reads else { return (0, 0) };
        (fetched.swap(0, Ordering::Relaxed), returned.swap(0, Ordering::Relaxed))
    }

    fn take_answers(&self) -> u64 {
        // Whoever takes them and whoever adds one has the GIL, or counts it later.
        self.answers.swap(0, Ordering::Relaxed)
    }
}

impl Memo {
    fn holds_at(&self, now: types::Timestamp) -> bool {
        let (since, until) = self.holds;
        (since..until).contains(&now.seconds.saturating_mul(SECOND).saturating_add(i64::from(now.nanos)))
    }
}

#[derive(Default)]
struct Inner {
    memos: repeat::Memos<Py<Memo>>,
    /// The watchers of the states that decisions rest on: a change that is not applied yet ends all memos.
    watchers: Vec<Py<Watcher>>,
    date: repeat::Date,
    /// How often all memos were dropped: one that was begun before is not kept after.
    generation: u64,
}

/// The memos of one server.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Memos {
    clock: Arc<types::Clock>,
    ids: Arc<repeat::AuditIds>,
    /// Taken with the GIL held and never across a call of Python: what is dropped is dropped after the lock, since its
    /// end may run code that asks for a memo.
    inner: Mutex<Inner>,
}

#[pymethods]
impl Memos {
    #[new]
    fn new(clock: &Clock, ids: &AuditIds) -> Self {
        Self { clock: Arc::clone(&clock.0), ids: Arc::clone(&ids.0), inner: Mutex::default() }
    }

    /// Return the bytes of the answer to a whole request; `None` without a memo, empty if it has to go the long way.
    fn answer<'py>(&self, py: Python<'py>, identity: u64, data: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        // Most requests of other kinds are no more than looked at.
        let read = if data.starts_with(b"GET ") { repeat::split(data) } else { None };
        let Some(request) = read else { return Ok(None) };
        let inner = self.inner.lock();
        let Some((memo, name)) = inner.memos.get(identity, &request) else { return Ok(None) };
        if inner.watchers.iter().any(|watcher| watcher.get().0.waits()) {
            return Ok(None);
        }
        let memo = memo.clone_ref(py);
        drop(inner);
        let now = self.clock.now();
        if !memo.get().holds_at(now) {
            return Ok(None);
        }
        let answer = self.answer_like(py, memo.get(), name, now)?;
        Ok(Some(answer.unwrap_or_else(|| PyBytes::new(py, b""))))
    }

    /// Keep a memo for requests like one, unless all were dropped since it was begun. Return those it is kept for.
    fn keep(&self, identity: u64, data: &[u8], memo: Py<Memo>, generation: u64) -> Vec<Py<Memo>> {
        let Some(request) = repeat::split(data) else { return vec![memo] };
        let mut inner = self.inner.lock();
        if inner.generation != generation {
            return vec![memo];
        }
        let whole = matches!(memo.get().reads, Reads::List(_));
        let dropped = inner.memos.insert(identity, &request, whole, memo);
        drop(inner);
        dropped
    }

    /// Drop and return all memos.
    fn clear(&self) -> Vec<Py<Memo>> {
        let mut inner = self.inner.lock();
        inner.generation = inner.generation.wrapping_add(1);
        inner.memos.clear()
    }

    fn rest_on(&self, watchers: &Bound<'_, PyTuple>) -> PyResult<()> {
        let found: PyResult<Vec<Py<Watcher>>> = watchers.iter().map(|one| Ok(one.extract()?)).collect();
        let before = std::mem::replace(&mut self.inner.lock().watchers, found?);
        drop(before);
        Ok(())
    }

    #[getter]
    fn generation(&self) -> u64 {
        self.inner.lock().generation
    }

    /// Return all memos.
    fn memos(&self, py: Python<'_>) -> Vec<Py<Memo>> {
        self.inner.lock().memos.values().map(|memo| memo.clone_ref(py)).collect()
    }
}

impl Memos {
    /// Answer by a memo; `None` for an object that is absent, for what is large, and where a request has to wait.
    fn answer_like<'py>(
        &self,
        py: Python<'py>,
        memo: &Memo,
        name: &str,
        now: types::Timestamp,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let begun = crate::fairness::now();
        if memo.queues.get().is_turn_full(py)? {
            return Ok(None);
        }
        let list = match &memo.reads {
            Reads::Object => return self.answer_object(py, memo, name, now, begun),
            Reads::List(list) => list,
        };
        // What fails here fails again on the long way, which answers it.
        let Ok(Some((parts, cursor))) = parts_of(memo, list) else { return Ok(None) };
        let length = parts.iter().map(|part| part.read(<[u8]>::len)).sum();
        let objects = memo.shard.store().size().0 as u64;
        let work = Work { first: objects.div_ceil(OBJECTS).min(list.seats).max(1), ..Work::ONE };
        let answer = self.finish(py, memo, (work, begun), now, length, |mut out| {
            for part in &parts {
                part.read(|bytes| {
                    if let Some((front, back)) = std::mem::take(&mut out).split_at_mut_checked(bytes.len()) {
                        front.copy_from_slice(bytes);
                        out = back;
                    }
                });
            }
        })?;
        if answer.is_some() {
            let [fetched, returned] = &list.items;
            fetched.fetch_add(cursor.fetch_count(), Ordering::Relaxed);
            returned.fetch_add(cursor.item_count(), Ordering::Relaxed);
        }
        Ok(answer)
    }

    fn answer_object<'py>(
        &self,
        py: Python<'py>,
        memo: &Memo,
        name: &str,
        now: types::Timestamp,
        begun: f64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(stored) = memo.shard.get(&memo.resource, &memo.namespace, name) else { return Ok(None) };
        // The long way encodes a large object on a thread.
        if stored.size() > LARGE {
            return Ok(None);
        }
        let (json, made);
        let (body, newline): (&[u8], bool) = if memo.form.is_json() {
            let Ok(found) = stored.json() else { return Ok(None) };
            json = found;
            (&json, true)
        } else {
            let Ok(found) = read::body(&stored, &memo.form, now) else { return Ok(None) };
            made = found;
            (&made, false)
        };
        let length = body.len().saturating_add(usize::from(newline));
        if length > LARGE {
            return Ok(None);
        }
        self.finish(py, memo, (Work::ONE, begun), now, length, |out| {
            if let Some((text, end)) = out.split_at_mut_checked(body.len()) {
                text.copy_from_slice(body);
                end.fill(b'\n');
            }
        })
    }

    /// Return an answer with a body of a length, once the request has had its seats; `None` if it has to wait for them.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        memo: &Memo,
        (work, begun): (Work, f64),
        now: types::Timestamp,
        length: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        if !memo.queues.get().pass(py, &memo.flow, work, begun)? {
            return Ok(None);
        }
        let head = memo.head.with(&self.ids.take(), self.inner.lock().date.line(now.seconds), length);
        let answer = PyBytes::new_with(py, head.len().saturating_add(length), |out| {
            if let Some((front, back)) = out.split_at_mut_checked(head.len()) {
                front.copy_from_slice(&head);
                write(back);
            }
            Ok(())
        })?;
        memo.answers.fetch_add(1, Ordering::Relaxed);
        let (seconds, sizes) = &memo.counts;
        seconds.get().count(crate::fairness::now() - begun);
        sizes.get().count(length as f64);
        Ok(Some(answer))
    }
}

/// Return the parts of the body of a list, and its cursor; `None` if it is long, goes on, or costs more than copying.
fn parts_of(memo: &Memo, list: &List) -> engine::Result<Option<(Vec<Bytes>, read::ListCursor<Bytes>)>> {
    let shard = &memo.shard;
    let cursor = shard.list(&memo.resource, &list.filter, memo.form.clone(), list.limit, 0, "")?;
    if !cursor.is_cheap() || cursor.exceeds(LONGEST, true)? != Some(false) {
        return Ok(None);
    }
    let binary = memo.form.encoding == Encoding::Protobuf;
    let (mut begin, mut end) = (Vec::new(), b"]}\n".as_slice());
    if binary || list.limit > 0 {
        let Some((length, None)) = cursor.ahead(true)? else { return Ok(None) };
        if binary {
            (begin, end) = (cursor.protobuf_head(length, "", None), ENVELOPE_TAIL.as_slice());
        }
    }
    if begin.is_empty() {
        begin = cursor.head("");
    }
    let mut parts = vec![Bytes::make(&begin)];
    loop {
        if !cursor.is_cheap() {
            return Ok(None);
        }
        let Some(more) = cursor.chunk(LONGEST, true)? else { break };
        parts.extend(more);
    }
    if cursor.item_count() == 0 && !list.empty {
        return Ok(None);
    }
    parts.push(Bytes::make(end));
    Ok(Some((parts, cursor)))
}
