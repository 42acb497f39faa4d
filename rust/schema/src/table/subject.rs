//! The object that a row is made of.

use std::cell::Cell;

use hydrofoil_types::{MetaView, Timestamp, Value};

use super::age;
use crate::read::Read;

/// An object and the moment from which its ages are counted.
pub(super) struct Subject<'a> {
    pub(super) object: &'a Value,
    now: Timestamp,
    until: Cell<i64>,
}

impl<'a> Subject<'a> {
    /// An object at some moment.
    pub(super) fn new(object: &'a Value, now: Timestamp) -> Self {
        Self { object, now, until: Cell::new(i64::MAX) }
    }

    /// Until when the ages that were asked for stay the same, in seconds of Unix time.
    pub(super) fn until(&self) -> i64 {
        self.until.get()
    }

    /// `HumanDuration` of the time that has passed since a moment.
    pub(super) fn ago(&self, from: Timestamp) -> String {
        self.until.set(self.until.get().min(age::until(from, self.now)));
        age::between(from, self.now)
    }

    /// The metadata.
    pub(super) fn meta(&self) -> MetaView<'a> {
        MetaView::of(self.object)
    }

    /// The name.
    pub(super) fn name(&self) -> &'a str {
        self.meta().name()
    }

    /// The spec; null when absent.
    pub(super) fn spec(&self) -> &'a Value {
        self.object.sub("spec")
    }

    /// The status; null when absent.
    pub(super) fn status(&self) -> &'a Value {
        self.object.sub("status")
    }

    /// An annotation, when it is there.
    pub(super) fn annotation(&self, key: &str) -> Option<&'a str> {
        self.meta().annotations().find(|(k, _)| k.as_str() == key).map(|(_, v)| v)
    }

    /// Whether deletion has begun.
    pub(super) fn deleting(&self) -> bool {
        age::moment(self.meta().deletion_timestamp()).is_some()
    }

    /// The age.
    pub(super) fn age(&self) -> String {
        self.since(self.object.sub("metadata").s("creationTimestamp"))
    }

    /// `translateTimestampSince` and `translateMicroTimestampSince`.
    pub(super) fn since(&self, time: &str) -> String {
        age::moment(time).map_or_else(|| "<unknown>".to_owned(), |t| self.ago(t))
    }
}
