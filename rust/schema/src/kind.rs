//! What is being worked on: a kind, and a request for one of its objects.

use hydrofoil_types::{SmolStr, Value};

/// One kind in one group and version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The API group, empty for core.
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// The name of its resource in URLs.
    pub plural: SmolStr,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Kind {
    /// What rules are looked up by: group and kind.
    pub(crate) fn key(&self) -> (&str, &str) {
        (self.group.as_str(), self.kind.as_str())
    }

    /// Whether it is of an `apiVersion`.
    pub fn is_version(&self, api_version: &str) -> bool {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        (self.group.as_str(), self.version.as_str()) == (group, version)
    }

    /// Group, version and kind.
    pub(crate) fn gvk(&self) -> (&str, &str, &str) {
        (self.group.as_str(), self.version.as_str(), self.kind.as_str())
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
}
