//! Requests for objects like one before: from their bytes to those of the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_engine::Shard as EngineShard;
use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_engine::read::{self, Form};
use hydrofoil_pace::LARGE;
use hydrofoil_repeat as repeat;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::counting::Histogram;
use crate::fairness::Queues;
use crate::flow::Flow;
use crate::frame::Bytes;
use crate::handles::{Clock, ResourceType, Shard, Watcher};

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

/// What was decided about a request for an object; it holds for those of the same client for objects beside it.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Memo {
    resource: Arc<dyn ObjectKind>,
    shard: Arc<EngineShard<Bytes>>,
    namespace: String,
    form: Form,
    head: repeat::AnswerHead,
    /// From when until when it holds, in nanoseconds since 1970. A clock that was set back is before it.
    holds: (i64, i64),
    queues: Py<Queues>,
    flow: Py<Flow>,
    #[pyo3(get)]
    seconds: Py<Histogram>,
    #[pyo3(get)]
    sizes: Py<Histogram>,
    /// Answers that were given and not taken yet.
    answers: AtomicU64,
}

#[pymethods]
impl Memo {
    #[new]
    #[pyo3(signature = (shard, resource, namespace, form, head, audit_id, holds, queues, flow, seconds, sizes))]
    #[allow(clippy::too_many_arguments, reason = "each is a decision of another filter")]
    fn new(
        shard: &Shard,
        resource: &ResourceType,
        namespace: String,
        form: &str,
        head: &[u8],
        audit_id: &str,
        holds: (i64, i64),
        queues: Py<Queues>,
        flow: Py<Flow>,
        seconds: Py<Histogram>,
        sizes: Py<Histogram>,
    ) -> PyResult<Self> {
        let text = "the id is not in the lines once";
        let head = repeat::AnswerHead::new(head, audit_id).ok_or_else(|| PyValueError::new_err(text))?;
        let form = Form::parse(form).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self {
            resource: Arc::clone(&resource.0),
            shard: Arc::clone(&shard.0),
            namespace,
            form,
            head,
            holds,
            queues,
            flow,
            seconds,
            sizes,
            answers: AtomicU64::new(0),
        })
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
        let dropped = inner.memos.insert(identity, &request, memo);
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
    /// Answer by a memo; `None` for an object that is absent or large, and where a request has to wait.
    fn answer_like<'py>(
        &self,
        py: Python<'py>,
        memo: &Memo,
        name: &str,
        now: types::Timestamp,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let queues = memo.queues.get();
        let begun = crate::fairness::now();
        let Some(stored) = memo.shard.get(&memo.resource, &memo.namespace, name) else { return Ok(None) };
        // The long way encodes a large object on a thread, and takes turns for those that wait.
        if stored.size() > LARGE || queues.is_turn_full(py)? {
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
        if length > LARGE || !queues.pass(py, &memo.flow, begun)? {
            return Ok(None);
        }
        let head = {
            let mut inner = self.inner.lock();
            memo.head.with(&self.ids.take(), inner.date.line(now.seconds), length)
        };
        let answer = PyBytes::new_with(py, head.len().saturating_add(length), |out| {
            if let Some((front, back)) = out.split_at_mut_checked(head.len()) {
                front.copy_from_slice(&head);
                if let Some((text, end)) = back.split_at_mut_checked(body.len()) {
                    text.copy_from_slice(body);
                    end.fill(b'\n');
                }
            }
            Ok(())
        })?;
        memo.answers.fetch_add(1, Ordering::Relaxed);
        memo.seconds.get().count(crate::fairness::now() - begun);
        memo.sizes.get().count(length as f64);
        Ok(Some(answer))
    }
}
