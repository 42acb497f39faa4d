//! What was decided about a request that reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_codec::proto::ENVELOPE_TAIL;
use hydrofoil_engine as engine;
use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_engine::read::{self, Encoding, Form};
use hydrofoil_engine::{Frame, Shard as EngineShard};
use hydrofoil_repeat as repeat;
use hydrofoil_store::Filter;
use hydrofoil_types as types;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::counting::Histogram;
use crate::fairness::Queues;
use crate::flow::Flow;
use crate::frame::Bytes;
use crate::handles::{ResourceType, Selector, Shard};

/// The longest body of a list, in bytes: longer ones are compressed for many clients, and written in pieces (CP-01).
const LONGEST: usize = 128 << 10;
/// The nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The ids of requests that came without one.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct AuditIds(pub(crate) Arc<repeat::AuditIds>);

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
pub(crate) enum Reads {
    /// The object of their name.
    Object,
    /// A list that fits one piece.
    List(List),
}

/// A list that is answered as a whole.
pub(crate) struct List {
    filter: Arc<Filter>,
    /// The most items; 0 means any number.
    limit: usize,
    /// The most seats that it takes, one for each hundred objects of the resource; 0: it takes one, whatever there is.
    pub(crate) seats: u64,
    /// Whether a list without items is written like any other.
    empty: bool,
    /// The objects that lists were taken from, and those in them, that were not taken yet.
    pub(crate) items: [AtomicU64; 2],
}

/// What was decided about a request that reads; it holds for those of the same client for objects beside it, or for the
/// same list.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Memo {
    pub(crate) resource: Arc<dyn ObjectKind>,
    pub(crate) shard: Arc<EngineShard<Bytes>>,
    pub(crate) namespace: String,
    pub(crate) form: Form,
    pub(crate) reads: Reads,
    pub(crate) head: repeat::AnswerHead,
    /// From when until when it holds, in nanoseconds since 1970. A clock that was set back is before it.
    holds: (i64, i64),
    pub(crate) queues: Py<Queues>,
    pub(crate) flow: Py<Flow>,
    /// What counts durations in seconds, and sizes in bytes.
    pub(crate) counts: (Py<Histogram>, Py<Histogram>),
    /// Answers that were given and not taken yet.
    pub(crate) answers: AtomicU64,
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
    /// Report whether it holds at a moment.
    pub(crate) fn holds_at(&self, now: types::Timestamp) -> bool {
        let (since, until) = self.holds;
        (since..until).contains(&now.seconds.saturating_mul(SECOND).saturating_add(i64::from(now.nanos)))
    }
}

/// Return the parts of the body of a list, and its cursor; `None` if it is long, goes on, or costs more than copying.
pub(crate) fn parts_of(memo: &Memo, list: &List) -> engine::Result<Option<(Vec<Bytes>, read::ListCursor<Bytes>)>> {
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
