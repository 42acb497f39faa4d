//! The steps of every write, in the order of their declaration here (apiserver `pkg/registry/generic/registry/store.go`
//! and `pkg/registry/rest/{create,update}.go`).

use std::time::Duration;

use hydrofoil_cel::Patience;
use hydrofoil_merge::{ApplyError, ManagedRequest, track_update};
use hydrofoil_schema::{prepare, validate};
use hydrofoil_types::{Causes, MetaView, Timestamp, Value};

use super::conversions::{Answered, Conversions};
use super::draft::Draft;
use crate::error::Result;
use crate::stored::Stored;

impl Draft {
    /// Set the type and the defaults; for a new object in `namespace` (empty: none), remove the members that only the
    /// server sets. Return the resource version in the object.
    pub fn default(&mut self, namespace: Option<&str>, now: Timestamp) -> String {
        self.kind.identify(&mut self.value);
        let version = MetaView::of(&self.value).resource_version().to_owned();
        if let Some(namespace) = namespace {
            self.enter(namespace);
            self.unlabelled = !self.has_labels();
        }
        self.kind.default(&mut self.value, now);
        version
    }

    /// Make `manager` the owner of the fields in the body or, given an old object, of those that it changes.
    ///
    /// Fields that a strategy resets afterwards get no new owner if it lists them ([`Strategy::reset_fields`]).
    ///
    /// [`Strategy::reset_fields`]: crate::kind::Strategy::reset_fields
    pub fn track(
        &mut self,
        old: Option<&Stored>,
        manager: &str,
        subresource: &str,
        now: Timestamp,
        known: Option<&Conversions>,
    ) -> Result<()> {
        let old = old.map(|old| old.value(&self.kind)).transpose()?;
        let versions = Answered { kind: &*self.kind, known };
        own_changes(&versions, old.as_deref(), &mut self.value, manager, subresource, now)
    }

    /// Make `manager` the owner of the fields in the body of an object that is not stored.
    pub fn set_managed_fields(&mut self, manager: &str, subresource: &str, now: Timestamp) -> Result<()> {
        if self.value.get("metadata").is_none() {
            self.value.object_at_mut(&["metadata"]);
        }
        self.kind.default(&mut self.value, now);
        let versions = Answered { kind: &*self.kind, known: None };
        own_changes(&versions, None, &mut self.value, manager, subresource, now)
    }

    /// Keep the allocated values of a service that the update omits.
    pub fn keep_allocated(&mut self, old: &Stored) -> Result<()> {
        prepare::patch_allocated_values(&mut self.value, &*old.value(&self.kind)?);
        Ok(())
    }

    /// Change a new object or an update as its strategy does before validation.
    pub fn prepare(&mut self, old: Option<&Stored>, subresource: &str, now: Timestamp) -> Result<()> {
        let old = old.map(|old| old.value(&self.kind)).transpose()?;
        self.kind.prepare(&mut self.value, old.as_deref(), subresource, now);
        self.prepared = now;
        Ok(())
    }

    /// Return the causes in the addresses of a service, before any are allocated.
    pub fn cluster_ip_causes(&self, old: Option<&Stored>) -> Result<Causes> {
        let old = old.map(|old| old.value(&self.kind)).transpose()?;
        Ok(validate::cluster_ips(&self.value, old.as_deref()))
    }

    /// Return the causes for which the object is rejected; complete a new object that is valid.
    pub fn validate(&mut self, old: Option<&Stored>, subresource: &str) -> Result<Causes> {
        Ok(self.validate_draft(old, subresource, None)?.unwrap_or_else(Causes::new))
    }

    /// Do the same unless the rules of the kind take longer than a caller waits: then nothing is done.
    pub fn validate_within(
        &mut self,
        time: Duration,
        old: Option<&Stored>,
        subresource: &str,
    ) -> Result<Option<Causes>> {
        self.validate_draft(old, subresource, Some(&Patience::of(time)))
    }

    fn validate_draft(
        &mut self,
        old: Option<&Stored>,
        subresource: &str,
        patience: Option<&Patience>,
    ) -> Result<Option<Causes>> {
        let old = old.map(|old| old.value(&self.kind)).transpose()?;
        // Labels that defaults took from another place are the same there, and change with it.
        let shares = self.unlabelled && self.has_labels();
        if shares {
            self.kind.complete_unlabelled(&mut self.value);
        }
        let mut causes = self.kind.validate(&self.value, old.as_deref(), subresource, self.prepared, patience);
        if patience.is_some_and(Patience::is_over) {
            return Ok(None);
        }
        self.passed = causes.take_warnings();
        if self.unlabelled && !shares && causes.as_slice().is_empty() {
            self.kind.complete_unlabelled(&mut self.value);
        }
        Ok(Some(causes))
    }

    fn has_labels(&self) -> bool {
        self.value.get("metadata").and_then(|m| m.get("labels")).is_some_and(|labels| !labels.is_zero())
    }

    /// Return the warnings of a new object that is refused.
    pub fn prepare_warnings(&self) -> Vec<String> {
        self.kind.prepare_warnings(&self.value)
    }

    /// Return the warnings of the kind.
    pub fn warnings(&mut self, old: Option<&Stored>, subresource: &str) -> Result<Vec<String>> {
        let old = old.map(|old| old.value(&self.kind)).transpose()?;
        let passed = std::mem::take(&mut self.passed);
        Ok(self.kind.warnings(&self.value, old.as_deref(), subresource, passed))
    }
}

fn own_changes(
    versions: &Answered<'_>,
    old: Option<&Value>,
    new: &mut Value,
    manager: &str,
    subresource: &str,
    now: Timestamp,
) -> Result<()> {
    if manager.is_empty() {
        return Ok(());
    }
    let kind = versions.kind;
    let (now, api_version) = (now.rfc3339(), &kind.info().api_version);
    let request = ManagedRequest { manager, api_version, subresource, now: &now, versions };
    track_update(kind.ownership_schema(), old, new, &request, kind.reset_fields(subresource))
        .map_err(|conversion| ApplyError::Pending(conversion).into())
}
