//! Ownership across the versions of one kind: an entry is compared in the version that it was made in (`Updater.update`
//! of structured-merge-diff `merge/update.go`, apimachinery `pkg/util/managedfields/internal/versionconverter.go`).

use hydrofoil_types::{Schema, SmolStr, Value};

use crate::compare::Comparison;
use crate::fieldset::FieldSet;
use crate::managed::Managed;
use crate::place::Place;
use crate::track::ManagedRequest;

/// The versions of a kind besides the one of a request.
pub trait Versions: std::fmt::Debug {
    /// The schema of a version; `None` when the kind has no such version, or none that it can be converted to.
    fn schema(&self, api_version: &str) -> Option<&Schema>;

    /// An object of the request's version in another, which has a schema.
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

impl<'a> ManagedRequest<'a> {
    /// The place of the whole object in the version of an entry; `own` is the place in the request's.
    pub(crate) fn place(&self, own: Place<'a>, api_version: &str) -> Place<'a> {
        if api_version == self.api_version {
            return own;
        }
        self.versions.schema(api_version).map_or(own, Place::root)
    }
}

impl Managed {
    /// Drops the entries of versions that the kind does not have.
    pub(crate) fn settle(&mut self, req: &ManagedRequest<'_>) {
        self.0.retain(|e| e.api_version == req.api_version || req.versions.schema(&e.api_version).is_some());
    }
}

/// What was written and what was removed.
pub(crate) type Change = (FieldSet, FieldSet);

/// What a request changes, in every version of which there are entries.
pub(crate) struct Changes {
    own: Change,
    others: Vec<(SmolStr, Change)>,
}

impl Changes {
    /// What `own` is in the version of the request, and the same change of an object in every other version; what is
    /// `ignored` does not count.
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

    /// What was written and what was removed in the version of the request.
    pub fn own(&self) -> (&FieldSet, &FieldSet) {
        (&self.own.0, &self.own.1)
    }

    /// The same in another version.
    pub fn of(&self, api_version: &str) -> Option<(&FieldSet, &FieldSet)> {
        self.others.iter().find(|(version, _)| version == api_version).map(|(_, (written, removed))| (written, removed))
    }

    /// What was written in the version of an entry.
    pub fn written(&self, api_version: &str) -> &FieldSet {
        self.of(api_version).unwrap_or_else(|| self.own()).0
    }
}
