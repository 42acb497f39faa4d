//! The object that a row is made of.

use hydrofoil_types::{MetaView, Timestamp, Value};

use super::age;
use crate::read::Read;

/// An object and the moment from which its ages are counted.
pub(super) struct Subject<'a> {
    pub(super) object: &'a Value,
    pub(super) now: Timestamp,
}

impl<'a> Subject<'a> {
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
        age::moment(time).map_or_else(|| "<unknown>".to_owned(), |t| age::between(t, self.now))
    }
}
