//! Ownership across the versions of one kind: an entry is compared in its own version (`Updater.update` of
//! structured-merge-diff `merge/update.go`, apimachinery `pkg/util/managedfields/internal/versionconverter.go`).

use std::borrow::Cow;

use hydrofoil_types::{Schema, SmolStr, Value};

use crate::compare::Comparison;
use crate::fieldset::FieldSet;
use crate::managed::{Entry, Managed};
use crate::place::Place;
use crate::typed;

/// The versions of a kind besides the one of a request.
pub trait Versions: std::fmt::Debug {
    /// Return the schema of a version; `None` if the kind has no such version.
    fn schema(&self, api_version: &str) -> Option<&Schema>;

    /// Return the error of an entry in a version without a schema; with `None` the entry is dropped.
    fn missing(&self, _api_version: &str) -> Option<String> {
        None
    }

    /// Convert an object from one version to another, one of them that of the request; both have a schema.
    ///
    /// # Errors
    /// [`Unconverted`].
    fn convert(&self, from: &str, to: &str, object: &Value) -> Result<Value, Unconverted>;
}

/// The reason why an object is not known in a version.
#[derive(Clone, Debug, PartialEq)]
pub enum Unconverted {
    /// It cannot be converted, for this reason.
    Failed(String),
    /// Another server must convert it first.
    Pending(Box<Pending>),
}

/// A conversion by another server.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// The object, in the version that it names.
    pub object: Value,
    /// The version asked for.
    pub api_version: String,
}

impl Unconverted {
    /// Return the same with the step that failed before the reason.
    #[must_use]
    pub(crate) fn within(self, what: &str) -> Self {
        match self {
            Self::Failed(why) => Self::Failed(format!("{what}: {why}")),
            pending @ Self::Pending(_) => pending,
        }
    }
}

/// A kind of one version.
#[derive(Clone, Copy, Debug)]
pub struct OneVersion;

impl Versions for OneVersion {
    fn schema(&self, _: &str) -> Option<&Schema> {
        None
    }

    fn convert(&self, _: &str, _: &str, object: &Value) -> Result<Value, Unconverted> {
        Ok(object.clone())
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

    /// Convert an object from one version to another, through that of the request (`versionConverter.Convert`): an
    /// object that does not match the schema of its new version is not converted.
    pub(crate) fn convert<'v>(&self, object: &'v Value, from: &str, to: &str) -> Result<Cow<'v, Value>, Unconverted> {
        if from == to {
            return Ok(Cow::Borrowed(object));
        }
        let mut found = Cow::Borrowed(object);
        for (from, to) in [(from, self.api_version), (self.api_version, to)] {
            if from != to {
                found = Cow::Owned(self.versions.convert(from, to, &found)?);
            }
        }
        let Some(schema) = self.versions.schema(to) else { return Ok(found) };
        let place = Place::root(schema);
        if place.is_struct() {
            return Ok(Cow::Owned(place.canonical(&found)));
        }
        typed::problem(schema, &found).map_or(Ok(found), |why| Err(Unconverted::Failed(why)))
    }
}

impl Managed {
    /// Drop the entries of versions that the kind does not have, or return the error of one, or of the object in its
    /// version (`reconcileManagedFieldsWithSchemaChanges`).
    pub(crate) fn settle(&mut self, req: &ManagedRequest<'_>, live: &Value) -> Result<(), Unconverted> {
        let known = |e: &Entry| e.api_version == req.api_version || req.versions.schema(&e.api_version).is_some();
        if let Some(error) = self.0.iter().filter(|e| !known(e)).find_map(|e| req.versions.missing(&e.api_version)) {
            return Err(Unconverted::Failed(error));
        }
        self.0.retain(known);
        let mut seen = req.api_version;
        for entry in self.0.iter().filter(|e| e.api_version != req.api_version) {
            if entry.api_version != seen {
                seen = &entry.api_version;
                req.convert(live, req.api_version, seen)?;
            }
        }
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
    ) -> Result<Self, Unconverted> {
        let mut others: Vec<(SmolStr, Change)> = Vec::new();
        for entry in managed.0.iter().filter(|e| e.api_version != req.api_version) {
            let version = &entry.api_version;
            if others.iter().any(|(known, _)| known == version) {
                continue;
            }
            if let Some(schema) = req.versions.schema(version) {
                let converted = |object, what: &str| {
                    let found = req.convert(object, req.api_version, version);
                    found.map_err(|why| why.within(&format!("failed to convert {what} object")))
                };
                let (old, new) = (converted(old, "old")?, converted(new, "new")?);
                let place = Place::root(schema);
                let (before, after) = place.differing(&old, &new);
                others.push((version.clone(), Comparison::of(place, &before, &after, ignored).split()));
            }
        }
        Ok(Self { own, others })
    }

    /// Return the written and the removed paths in the version of the request.
    pub fn own(&self) -> (&FieldSet, &FieldSet) {
        (&self.own.0, &self.own.1)
    }

    /// Return the written paths in the version of the request, once nothing else is asked for.
    pub fn into_written(self) -> FieldSet {
        self.own.0
    }

    /// Return the same in another version.
    pub fn of(&self, api_version: &str) -> Option<(&FieldSet, &FieldSet)> {
        self.others.iter().find(|(version, _)| version == api_version).map(|(_, (written, removed))| (written, removed))
    }

    /// Return the written paths in the version of an entry.
    pub fn written_paths(&self, api_version: &str) -> &FieldSet {
        self.of(api_version).unwrap_or_else(|| self.own()).0
    }
}
