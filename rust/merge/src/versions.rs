//! Ownership across the versions of one kind: an entry is compared in its own version (`Updater.update` of
//! structured-merge-diff `merge/update.go`, apimachinery `pkg/util/managedfields/internal/versionconverter.go`).

use hydrofoil_types::{Schema, SmolStr, Value};

use crate::compare::Comparison;
use crate::fieldset::FieldSet;
use crate::managed::{Entry, Managed};
use crate::place::Place;

/// The versions of a kind besides the one of a request.
pub trait Versions: std::fmt::Debug {
    /// Return the schema of a version; `None` if the kind has no such version or cannot be converted to it.
    fn schema(&self, api_version: &str) -> Option<&Schema>;

    /// Return the error of an entry in a version without a schema; with `None` the entry is dropped.
    fn missing(&self, _api_version: &str) -> Option<String> {
        None
    }

    /// Convert an object from the request's version to another, which has a schema.
    fn convert(&self, api_version: &str, object: &Value) -> Value;
}

/// A kind of one version.
#[derive(Clone, Copy, Debug)]
pub struct OneVersion;

impl Versions for OneVersion {
    fn schema(&self, _: &str) -> Option<&Schema> {
        None
    }

    fn convert(&self, _: &str, object: &Value) -> Value {
        object.clone()
    }
}

/// The manager, endpoint and time of a write.
#[derive(Clone, Copy, Debug)]
pub struct ManagedRequest<'a> {
    /// The field manager; empty means `unknown`.
    pub manager: &'a str,
    /// The group version of the request, as `apps/v1`.
    pub api_version: &'a str,
    /// The subresource, or empty.
    pub subresource: &'a str,
    /// The time, RFC 3339 in whole seconds.
    pub now: &'a str,
    /// The other versions of the kind, to which entries may belong.
    pub versions: &'a dyn Versions,
}

impl ManagedRequest<'_> {
    /// Return an entry of this manager without paths.
    pub(crate) fn entry(&self, applied: bool) -> Entry {
        let manager = SmolStr::new(if self.manager.is_empty() { "unknown" } else { self.manager });
        Entry::new(manager, applied, self.api_version.into(), self.subresource.into(), self.now.into())
    }
}

impl<'a> ManagedRequest<'a> {
    /// Return the place of the whole object in the version of an entry; `own` is that in the request's version.
    pub(crate) fn place(&self, own: Place<'a>, api_version: &str) -> Place<'a> {
        if api_version == self.api_version {
            return own;
        }
        self.versions.schema(api_version).map_or(own, Place::root)
    }
}

impl Managed {
    /// Drop the entries of versions that the kind does not have, or return the error of one.
    pub(crate) fn settle(&mut self, req: &ManagedRequest<'_>) -> Result<(), String> {
        let known = |e: &Entry| e.api_version == req.api_version || req.versions.schema(&e.api_version).is_some();
        if let Some(error) = self.0.iter().filter(|e| !known(e)).find_map(|e| req.versions.missing(&e.api_version)) {
            return Err(error);
        }
        self.0.retain(known);
        Ok(())
    }
}

/// The written and the removed paths.
pub(crate) type Change = (FieldSet, FieldSet);

/// The changes of a request, in every version with entries.
pub(crate) struct Changes {
    own: Change,
    others: Vec<(SmolStr, Change)>,
}

impl Changes {
    /// Return the changes: `own` in the version of the request, and the same change converted to every other version,
    /// without the `ignored` paths.
    pub fn between(
        own: Change,
        old: &Value,
        new: &Value,
        managed: &Managed,
        req: &ManagedRequest<'_>,
        ignored: &FieldSet,
    ) -> Self {
        let mut others: Vec<(SmolStr, Change)> = Vec::new();
        for entry in managed.0.iter().filter(|e| e.api_version != req.api_version) {
            let version = &entry.api_version;
            if others.iter().any(|(known, _)| known == version) {
                continue;
            }
            if let Some(schema) = req.versions.schema(version) {
                let [old, new] = [old, new].map(|object| req.versions.convert(version, object));
                let place = Place::root(schema);
                let (before, after) = place.differing(&old, &new);
                others.push((version.clone(), Comparison::of(place, &before, &after, ignored).split()));
            }
        }
        Self { own, others }
    }

    /// Return the written and the removed paths in the version of the request.
    pub fn own(&self) -> (&FieldSet, &FieldSet) {
        (&self.own.0, &self.own.1)
    }

    /// Return the same in another version.
    pub fn of(&self, api_version: &str) -> Option<(&FieldSet, &FieldSet)> {
        self.others.iter().find(|(version, _)| version == api_version).map(|(_, (written, removed))| (written, removed))
    }

    /// Return the written paths in the version of an entry.
    pub fn written(&self, api_version: &str) -> &FieldSet {
        self.of(api_version).unwrap_or_else(|| self.own()).0
    }
}
