//! The object that a row is made of.

use std::cell::Cell;

use hydrofoil_types::{MetaView, Timestamp, Value};

use super::age;
use hydrofoil_types::read::Read;

/// An object and the moment from which its ages are counted.
pub struct Subject<'a> {
    /// The object.
    pub object: &'a Value,
    now: Timestamp,
    until: Cell<i64>,
}

impl<'a> Subject<'a> {
    /// Make the subject of an object at a time.
    pub fn new(object: &'a Value, now: Timestamp) -> Self {
        Self { object, now, until: Cell::new(i64::MAX) }
    }

    /// Return until when the requested ages stay the same, in Unix seconds.
    pub fn until(&self) -> i64 {
        self.until.get()
    }

    /// `HumanDuration` of the time that has passed since a moment.
    pub fn ago(&self, from: Timestamp) -> String {
        self.until.set(self.until.get().min(age::until(from, self.now)));
        age::between(from, self.now)
    }

    /// Return the metadata.
    pub fn meta(&self) -> MetaView<'a> {
        MetaView::of(self.object)
    }

    /// Return the name.
    pub fn name(&self) -> &'a str {
        self.meta().name()
    }

    /// Return the spec; null when absent.
    pub fn spec(&self) -> &'a Value {
        self.object.field("spec")
    }

    /// Return the status; null when absent.
    pub fn status(&self) -> &'a Value {
        self.object.field("status")
    }

    /// Return an annotation, when it is there.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.meta().annotations().find(|(k, _)| k.as_str() == key).map(|(_, v)| v)
    }

    /// Report whether deletion has begun.
    pub fn deleting(&self) -> bool {
        age::moment(self.meta().deletion_timestamp()).is_some()
    }

    /// Return the age.
    pub fn age(&self) -> String {
        self.since(self.object.field("metadata").text("creationTimestamp"))
    }

    /// `translateTimestampSince` and `translateMicroTimestampSince`.
    pub fn since(&self, time: &str) -> String {
        age::moment(time).map_or_else(|| "<unknown>".to_owned(), |t| self.ago(t))
    }
}
