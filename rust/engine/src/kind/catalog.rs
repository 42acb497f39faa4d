//! The kinds of a server by name.

use std::sync::Arc;

use hydrofoil_schema::{Kind, Release};
use hydrofoil_types as types;
use hydrofoil_types::{Schema, SmolStr, Value};

use super::ObjectKind;
use super::builtin::Builtin;
use super::custom::Custom;
use crate::error::{Error, Result};

/// Group versions whose kinds have another storage version, if the kind exists there.
const STORED_IN: [(&str, &str, &str); 11] = [
    ("admissionregistration.k8s.io", "v1alpha1", "v1"),
    ("admissionregistration.k8s.io", "v1beta1", "v1"),
    ("apiextensions.k8s.io", "v1beta1", "v1"),
    ("autoscaling", "v1", "v2"),
    ("certificates.k8s.io", "v1alpha1", "v1beta1"),
    ("coordination.k8s.io", "v1alpha2", "v1beta1"),
    ("networking.k8s.io", "v1beta1", "v1"),
    ("resource.k8s.io", "v1alpha3", "v1beta2"),
    ("resource.k8s.io", "v1beta1", "v1"),
    ("resource.k8s.io", "v1beta2", "v1"),
    ("storage.k8s.io", "v1beta1", "v1"),
];

/// The built-in kinds, and the source of the kinds of definitions.
#[derive(Debug)]
pub struct Catalog {
    types: types::Catalog,
    /// The release whose rules its kinds follow.
    release: Release,
}

impl Catalog {
    /// Parse the data of the package; the kinds follow the rules of a release.
    pub fn parse(data: &[u8], release: Release) -> Result<Self> {
        let types = types::Catalog::parse(data).map_err(|e| Error::Invalid(e.to_string()))?;
        Ok(Self { types, release })
    }

    /// Return the kind of a built-in resource.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Result<Arc<dyn ObjectKind>> {
        let unknown = || Error::Unknown(plural.to_owned());
        let resource = self.types.resource(group, version, plural).ok_or_else(unknown)?;
        let schema = self.types.schema(&resource.type_name).ok_or_else(unknown)?;
        Ok(Arc::new(Builtin::new(
            Arc::clone(resource),
            self.release,
            schema,
            self.storage(resource),
            self.served_versions(resource),
        )))
    }

    /// Return a kind that is not stored, such as options or a review: by group, version, kind and type name.
    pub fn kind(&self, group: &str, version: &str, kind: &str, type_name: &str) -> Result<Arc<dyn ObjectKind>> {
        let schema = self.types.schema(type_name).ok_or_else(|| Error::Unknown(type_name.to_owned()))?;
        let resource = types::Resource {
            group: group.into(),
            version: version.into(),
            plural: SmolStr::default(),
            kind: kind.into(),
            type_name: type_name.into(),
            list_kind: SmolStr::default(),
            // The only one of them that upstream validates belongs to workloads.
            namespaced: kind == "Scale",
            columns: Vec::new(),
            field_selectors: Vec::new(),
        };
        Ok(Arc::new(Builtin::new(Arc::new(resource), self.release, schema, None, Vec::new())))
    }

    /// Return the kinds of a definition in loose form, one a version, with the name of the version.
    pub fn custom(&self, definition: &Value) -> Vec<(String, Arc<dyn ObjectKind>)> {
        let kinds = Custom::all(definition, self.types.arena(), self.release);
        kinds.into_iter().map(|(name, kind)| (name, Arc::new(kind) as Arc<dyn ObjectKind>)).collect()
    }

    /// Return the storage version of a resource, if it is another one.
    fn storage(&self, resource: &types::Resource) -> Option<Arc<Builtin>> {
        let (group, version, plural) = (&*resource.group, &*resource.version, &*resource.plural);
        let stored = if (group, plural) == ("events.k8s.io", "events") {
            self.types.resource("", "v1", plural)?
        } else {
            let (.., stored) = STORED_IN.iter().find(|(g, v, _)| (*g, *v) == (group, version))?;
            self.types.resource(group, stored, plural)?
        };
        let schema = self.types.schema(&stored.type_name)?;
        Some(Arc::new(Builtin::new(Arc::clone(stored), self.release, schema, None, self.served_versions(stored))))
    }

    /// Return the other served versions of a stored resource.
    fn served_versions(&self, resource: &types::Resource) -> Vec<(Kind, Schema)> {
        let (group, version, plural) = (&*resource.group, &*resource.version, &*resource.plural);
        let events = ((group, plural) == ("", "events")).then_some(("events.k8s.io", "v1"));
        let others =
            STORED_IN.iter().filter(|(g, _, stored)| (*g, *stored) == (group, version)).map(|(g, v, _)| (*g, *v));
        let found = others.chain(events).filter_map(|(g, v)| self.types.resource(g, v, plural));
        found
            .filter_map(|served| Some((Kind::of(served, self.release), self.types.schema(&served.type_name)?)))
            .collect()
    }
}
