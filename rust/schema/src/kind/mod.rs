//! The subject of a call: a kind, and a request for one of its objects.

mod strategy;

use std::fmt;
use std::hash::{Hash, Hasher};

use hydrofoil_types::{SmolStr, Timestamp, Value};

use hydrofoil_rules::Release;
pub use hydrofoil_rules::meta::NameRule;
use hydrofoil_rules::meta::NamedKind;
pub(crate) use strategy::{Change, Conversion, GenerationRule, MetadataCheck, MetadataOrder, Strategy, reset_metadata};

/// One kind in one group and version.
#[derive(Clone)]
pub struct Kind {
    /// The API group, empty for core.
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// The name of its resource in URLs.
    pub plural: SmolStr,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
    /// The release whose rules it follows.
    pub release: Release,
    /// Its behaviour that differs from other kinds.
    pub(crate) strategy: &'static Strategy,
}

impl Kind {
    /// Report whether the kind is of an `apiVersion`.
    pub fn is_version(&self, api_version: &str) -> bool {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        (self.group.as_str(), self.version.as_str()) == (group, version)
    }

    /// Return the fields that identify a kind.
    fn identity(&self) -> (&str, &str, &str, &str, bool) {
        (&self.group, &self.version, &self.kind, &self.plural, self.namespaced)
    }
}

impl NamedKind for Kind {
    fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    fn name_rule(&self) -> NameRule {
        self.strategy.name_rule
    }

    fn has_kube_finalizers(&self) -> bool {
        self.strategy.kube_finalizers
    }

    fn release(&self) -> Release {
        self.release
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Kind {}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("group", &self.group)
            .field("version", &self.version)
            .field("kind", &self.kind)
            .field("plural", &self.plural)
            .field("namespaced", &self.namespaced)
            .finish_non_exhaustive()
    }
}

/// A write of one object.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The kind of the object.
    pub kind: &'a Kind,
    /// The subresource, empty for the object itself.
    pub subresource: &'a str,
    /// The object as it is stored; `None` when it is being created.
    pub old: Option<&'a Value>,
    /// The moment of the write.
    pub now: Timestamp,
}

impl Request<'_> {
    /// Return the release whose rules the write follows.
    pub fn release(&self) -> Release {
        self.kind.release
    }
}
