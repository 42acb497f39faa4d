//! Reads like one before: from the bytes of a request to those of its answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hydrofoil_engine::Frame;
use hydrofoil_engine::read;
use hydrofoil_fairness::Work;
use hydrofoil_pace::LARGE;
use hydrofoil_repeat as repeat;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::handles::{Clock, Watcher};
use crate::memo::{AuditIds, Memo, Reads, parts_of};

/// The objects of a list that take one seat (`fairness/estimate.py`).
const OBJECTS: u64 = 100;

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
