//! A cursor into the events of a resource.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hydrofoil_store as store;
use hydrofoil_store::{Drained, Version, WatcherId};
use hydrofoil_types::Timestamp;
use parking_lot::Mutex;

use super::batch::{Asked, Batches, End};
use super::chunk::Chunk;
use super::event;
use crate::error::Result;
use crate::frame::Frame;
use crate::kind::ObjectKind;
use crate::read::Form;
use crate::stored::Stored;

/// The versions before and after a change.
pub type Difference = (Option<Stored>, Option<Stored>);

/// A watch of a resource in a form; it ends when dropped.
#[derive(Debug)]
pub struct Watcher<F> {
    pub(super) shard: Arc<store::Shard>,
    /// The bytes of the last drains, shared by the watchers of the shard. Not held while a batch is made, so that
    /// making one holds up no other watcher; two may make the same one.
    batches: Arc<Mutex<Batches<F>>>,
    pub(super) kind: Arc<dyn ObjectKind>,
    form: Form,
    pub(super) id: WatcherId,
    /// Whether its output is chunks of an HTTP/1.1 stream.
    pub(super) framed: bool,
    /// Whether the columns of a table were sent.
    headed: AtomicBool,
    /// The number of drained events.
    count: AtomicU64,
}

impl<F> Drop for Watcher<F> {
    fn drop(&mut self) {
        self.shard.unwatch(self.id);
    }
}

impl<F: Frame> Watcher<F> {
    pub(crate) fn new(
        shard: Arc<store::Shard>,
        batches: Arc<Mutex<Batches<F>>>,
        kind: Arc<dyn ObjectKind>,
        form: Form,
        id: WatcherId,
        framed: bool,
    ) -> Self {
        Self { shard, batches, kind, form, id, framed, headed: AtomicBool::new(false), count: AtomicU64::new(0) }
    }

    /// Return waiting events as one piece of the stream of about `max` bytes, and the rest.
    pub fn drain(&self, max: usize) -> Result<(Option<F>, Drained)> {
        // The first event of a table stream has the columns, so it cannot be shared.
        let first = self.form.is_table() && !self.headed.load(Ordering::Relaxed);
        let cursor = self.shard.cursor(self.id).filter(|_| !first);
        let Some((from, filter)) = cursor else {
            return self.make_piece(max).map(|(bytes, left, end)| {
                self.count.fetch_add(end.count, Ordering::Relaxed);
                (bytes, left)
            });
        };
        let asked = Asked {
            from,
            filter: &filter.identity,
            form: &self.form,
            api_version: &self.kind.info().api_version,
            kind: self.kind.info().id,
            framed: self.framed,
            max,
        };
        if let Some(batch) = self.batches.lock().find(&asked) {
            self.shard.advance(self.id, batch.next, batch.seen);
            self.count.fetch_add(batch.count, Ordering::Relaxed);
            let left = if batch.next < self.shard.end() { Drained::More } else { Drained::All };
            return Ok((batch.bytes.as_ref().map(Frame::share), left));
        }
        let (bytes, left, end) = self.make_piece(max)?;
        self.count.fetch_add(end.count, Ordering::Relaxed);
        if let Drained::All | Drained::More = left {
            self.batches.lock().add(&asked, bytes.as_ref(), end);
        }
        Ok((bytes, left))
    }

    /// Return the number of drained events, and the revision up to which everything is drained; `None` during the
    /// initial state.
    pub fn position(&self) -> (u64, Option<u64>) {
        (self.count.load(Ordering::Relaxed), self.shard.seen_revision(self.id))
    }

    /// Make a piece of the stream. Return it, the rest, and its end.
    fn make_piece(&self, max: usize) -> Result<(Option<F>, Drained, End)> {
        let mut chunk = Chunk::new(self.framed, 4096);
        let (mut failed, mut count) = (None, 0_u64);
        let now = self.shard.clock().now();
        let (left, next, seen) = self.shard.drain(self.id, |frame| {
            if let Err(e) = self.event(frame, now, chunk.out()) {
                failed = Some(e);
                return false;
            }
            count = count.saturating_add(1);
            chunk.len() < max
        });
        if let Some(e) = failed {
            return Err(e);
        }
        let bytes = (!chunk.is_empty()).then(|| F::make(chunk.end()));
        Ok((bytes, left, End { next, seen, count }))
    }

    /// Return the objects of the next `max` events that a webhook must convert first, or before their selection is
    /// known.
    pub fn pending(&self, max: usize) -> Result<Vec<Stored>> {
        if !self.kind.has_webhook() {
            return Ok(Vec::new());
        }
        let (mut out, mut failed, mut seen) = (Vec::<Stored>::new(), Ok(()), 0_usize);
        self.shard.peek(self.id, |version, undecided| {
            match self.kind.is_pending(version, undecided) {
                // The version after one event is the one before the next.
                Ok(true) if undecided && out.iter().any(|known| Arc::ptr_eq(known.version(), version)) => {}
                Ok(true) => out.push(Stored::new(&self.kind, Arc::clone(version))),
                Ok(false) => {}
                Err(e) => failed = Err(e),
            }
            seen = seen.saturating_add(1);
            failed.is_ok() && seen < max
        });
        failed.map(|()| out)
    }

    /// Report whether something waits to be drained.
    pub fn waits(&self) -> bool {
        self.shard.waits(self.id)
    }

    /// Return up to `max` waiting changes as the versions before and after, and the rest. The present state is first,
    /// with no versions before.
    pub fn changes(&self, max: usize) -> (Vec<Difference>, Drained) {
        let mut out = Vec::new();
        let shown = |version: Option<&Arc<Version>>| version.map(|v| Stored::new(&self.kind, Arc::clone(v)));
        let left = self.shard.changes(self.id, |before, now| {
            out.push((shown(before), shown(now)));
            out.len() < max
        });
        (out, left)
    }

    fn event(&self, frame: &store::Frame, now: Timestamp, out: &mut Vec<u8>) -> Result<()> {
        let left = match &frame.source {
            Some(source) => self.kind.at_deselection(source, frame.revision)?,
            None => None,
        };
        self.write(frame.kind.wire(), left.as_ref().unwrap_or(&frame.version), now, out)
    }

    pub(super) fn write(&self, event_type: &str, version: &Version, now: Timestamp, out: &mut Vec<u8>) -> Result<()> {
        let columns = !self.headed.swap(true, Ordering::Relaxed);
        event::write(&*self.kind, &self.form, event_type, version, (columns, now), out)
    }
}
