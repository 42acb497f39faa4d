//! The steps of a write session: all work between two awaits of a write is one call, whose caller decides whether it runs
//! on the loop or on a thread (`registry/store.py`).
//!
//! A step that ended early, because a webhook must convert an object first or because the loop has no time left, is run
//! again: what it did before that is done once.

use std::time::Duration;

use hydrofoil_types::{Causes, Timestamp};

use super::conversions::Conversions;
use super::draft::Draft;
use crate::error::Result;
use crate::stored::Stored;

/// The first step: defaults and owners, before admission may change the object (apiserver `endpoints/handlers/create.go`,
/// `update.go`).
#[derive(Debug, Default)]
pub struct Read {
    /// The namespace of a new object (empty: none); `None` for an update.
    pub namespace: Option<String>,
    /// The field manager of the changes; empty if they are not tracked.
    pub manager: String,
    /// The subresource, or empty.
    pub subresource: String,
    /// The time of defaults and of entries of managed fields.
    pub now: Timestamp,
    /// The outcome, once defaults are set: a second set of them would not find a new object as it was sent.
    outcome: Option<Outcome>,
}

/// The result of the first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The uids of the owners that were there twice, and were removed.
    pub duplicates: Vec<String>,
    /// The resource version in the object, or empty.
    pub resource_version: String,
}

impl Outcome {
    /// Return the number of the resource version; 0 for a text that upstream cannot parse into 64 bits.
    pub fn revision(&self) -> u64 {
        let digits = self.resource_version.bytes().all(|b| b.is_ascii_digit());
        self.resource_version.parse().ok().filter(|_| digits).unwrap_or(0)
    }
}

impl Read {
    /// Return the step for a new object in a namespace, or for an update (`None`).
    pub fn new(namespace: Option<&str>, manager: &str, subresource: &str, now: Timestamp) -> Self {
        let (namespace, manager) = (namespace.map(str::to_owned), manager.to_owned());
        Self { namespace, manager, subresource: subresource.to_owned(), now, outcome: None }
    }

    /// Do the step on an object that replaces `old`.
    ///
    /// # Errors
    /// [`Error::Pending`](crate::Error::Pending) if a webhook must convert another object first: then `known` has the
    /// result when the step is done again.
    pub fn run(&mut self, draft: &mut Draft, old: Option<&Stored>, known: &Conversions) -> Result<Outcome> {
        if self.outcome.is_none() {
            let duplicates = draft.dedup_owners();
            let resource_version = draft.default(self.namespace.as_deref(), self.now);
            self.outcome = Some(Outcome { duplicates, resource_version });
        }
        if !self.manager.is_empty() {
            draft.track(old, &self.manager, &self.subresource, self.now, Some(known))?;
        }
        Ok(self.outcome.take().unwrap_or_default())
    }
}

/// The second step: everything between the mutating and the validating admission (`registry/rest/create.go`,
/// `update.go`).
#[derive(Debug)]
pub struct Prepare {
    /// The subresource, or empty.
    pub subresource: String,
    /// The time of the preparation.
    pub now: Timestamp,
    /// Whether the object is validated; what a binding changes is valid.
    pub validates: bool,
    /// Whether the object is prepared, which is done once: a generation would grow twice.
    done: bool,
}

/// The result of the second step.
#[derive(Debug, Default)]
pub struct Prepared {
    /// The causes for which the object is refused.
    pub causes: Causes,
    /// The warnings for the client: those of the kind, or those that a new object has even if it is refused.
    pub warnings: Vec<String>,
    /// Whether the object is being deleted, so that the write may remove it.
    pub deleting: bool,
}

impl Prepare {
    /// Return the step.
    pub fn new(subresource: &str, now: Timestamp, validates: bool) -> Self {
        Self { subresource: subresource.to_owned(), now, validates, done: false }
    }

    /// Do the step on an object that replaces `old`. Return `None` if expressions take longer than `time`.
    pub fn run(&mut self, draft: &mut Draft, old: Option<&Stored>, time: Option<Duration>) -> Result<Option<Prepared>> {
        if !self.done {
            draft.prepare(old, &self.subresource, self.now)?;
            self.done = true;
        }
        let causes = match time {
            _ if !self.validates => Causes::new(),
            None => draft.validate(old, &self.subresource)?,
            Some(time) => match draft.validate_within(time, old, &self.subresource)? {
                Some(causes) => causes,
                None => return Ok(None),
            },
        };
        let warnings = match (causes.as_slice(), old) {
            ([], _) => draft.warnings(old, &self.subresource)?,
            (_, None) => draft.prepare_warnings(),
            // An update that is refused has none.
            (_, Some(_)) => Vec::new(),
        };
        Ok(Some(Prepared { causes, warnings, deleting: draft.is_deleting() }))
    }
}
