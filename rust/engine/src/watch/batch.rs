//! Batches of events shared by equal watchers.

use std::sync::Arc;

use hydrofoil_types::SmolStr;

use crate::frame::Frame;
use crate::read::Form;

/// The number of batches that a shard caches: watchers are at few different cursors at a time.
const KEPT: usize = 8;

/// The key of a batch: watchers with equal keys receive the same bytes.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    /// The sequence number of the first event.
    pub(super) from: u64,
    /// The identity of the selection.
    pub(super) filter: &'a Arc<str>,
    pub(super) form: &'a Form,
    pub(super) api_version: &'a SmolStr,
    /// The kind that writes the objects, by its number in this process: the columns of its tables and the schemas of
    /// other versions count as well, and none of them changes while the kind lives.
    pub(super) kind: u64,
    /// Whether it is a chunk of an HTTP/1.1 stream.
    pub(super) framed: bool,
    /// The limit of its bytes.
    pub(super) max: usize,
}

/// The result of one drain from one cursor, for all watchers at that cursor.
#[derive(Debug)]
pub(super) struct Batch<F> {
    from: u64,
    filter: Arc<str>,
    form: Form,
    api_version: SmolStr,
    kind: u64,
    framed: bool,
    max: usize,
    /// `None` if no event is selected.
    pub(super) bytes: Option<F>,
    /// The cursor after it, and the revision of the last event.
    pub(super) next: u64,
    pub(super) seen: u64,
    /// The number of its events.
    pub(super) count: u64,
}

/// The end of a drain: the cursor after it, the revision of the last event, and the number of events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    pub(super) next: u64,
    pub(super) seen: u64,
    pub(super) count: u64,
}

impl<F> Batch<F> {
    fn is(&self, asked: &Asked<'_>) -> bool {
        self.from == asked.from
            && self.max == asked.max
            && self.framed == asked.framed
            && self.filter == *asked.filter
            && self.form == *asked.form
            && self.api_version == *asked.api_version
            && self.kind == asked.kind
    }
}

/// The latest batches of a shard.
#[derive(Debug)]
pub(crate) struct Batches<F>(Vec<Batch<F>>);

impl<F> Default for Batches<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<F: Frame> Batches<F> {
    /// Return the cached batch of a key, if it advances the cursor.
    pub(super) fn find(&self, asked: &Asked<'_>) -> Option<&Batch<F>> {
        self.0.iter().find(|batch| batch.is(asked)).filter(|batch| batch.next > asked.from)
    }

    /// Cache a batch in place of the oldest.
    pub(super) fn add(&mut self, asked: &Asked<'_>, bytes: Option<&F>, end: End) {
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(Batch {
            from: asked.from,
            filter: Arc::clone(asked.filter),
            form: asked.form.clone(),
            api_version: asked.api_version.clone(),
            kind: asked.kind,
            framed: asked.framed,
            max: asked.max,
            bytes: bytes.map(Frame::share),
            next: end.next,
            seen: end.seen,
            count: end.count,
        });
    }
}
