//! The catalog and the types it describes.

use std::borrow::Cow;
use std::sync::Arc;

use hydrofoil_codec::{json, yaml};
use hydrofoil_merge::{ApplyError, FieldSet, ManagedRequest, apply, object_name};
use hydrofoil_schema::{Kind, convert};
use hydrofoil_types as types;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::apart::apart;
use crate::clock::Clock;
use crate::draft::Draft;
use crate::error::{apply_error, decode_error};
use crate::stored::Stored;
use crate::typed::Typed;

/// The built-in types and resources.
#[pyclass(frozen)]
pub(crate) struct Catalog {
    inner: types::Catalog,
}

#[pymethods]
impl Catalog {
    #[new]
    fn new(data: &[u8]) -> PyResult<Self> {
        let inner = types::Catalog::parse(data).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self { inner })
    }

    /// The type of a resource.
    fn resource(&self, group: &str, version: &str, plural: &str) -> PyResult<ResourceType> {
        let found = self.inner.resource(group, version, plural);
        let resource = found.ok_or_else(|| PyKeyError::new_err(plural.to_owned()))?;
        let schema = self.inner.schema(&resource.type_name).ok_or_else(|| PyKeyError::new_err(plural.to_owned()))?;
        Ok(ResourceType::new(Arc::clone(resource), schema, self.storage(resource), self.served(resource)))
    }

    /// A type that is not stored, such as an option or a review: by group, version, kind and type name.
    fn kind(&self, group: &str, version: &str, kind: &str, type_name: &str) -> PyResult<ResourceType> {
        let schema = self.inner.schema(type_name).ok_or_else(|| PyKeyError::new_err(type_name.to_owned()))?;
        let resource = types::Resource {
            group: group.into(),
            version: version.into(),
            plural: types::SmolStr::default(),
            kind: kind.into(),
            type_name: type_name.into(),
            list_kind: types::SmolStr::default(),
            // The only one of them that upstream validates is of workloads.
            namespaced: kind == "Scale",
            columns: Vec::new(),
            field_selectors: Vec::new(),
        };
        Ok(ResourceType::new(Arc::new(resource), schema, None, Vec::new()))
    }

    /// The types that a custom resource definition brings, one a version, with the version's name.
    fn custom(&self, py: Python<'_>, definition: &Stored) -> PyResult<Vec<(String, ResourceType)>> {
        let made = apart(py, definition.version.json().len(), || {
            let object = definition.value(&definition.typed)?;
            Ok::<_, PyErr>(crate::custom::types(&object, self.inner.arena()))
        })?;
        Ok(made.into_iter().map(|(name, typed)| (name, ResourceType { typed: Arc::new(typed) })).collect())
    }

    /// Why schemas of a definition are not structural, as the reason and message of a condition.
    #[staticmethod]
    fn nonstructural(py: Python<'_>, definition: &Stored) -> PyResult<Option<(&'static str, String)>> {
        apart(py, definition.version.json().len(), || {
            Ok(hydrofoil_schema::validate::nonstructural(&*definition.value(&definition.typed)?))
        })
    }
}

impl Catalog {
    /// The type in which a resource is stored, when that is another one than its own.
    fn storage(&self, resource: &types::Resource) -> Option<Arc<Typed>> {
        let (group, version, plural) = (&*resource.group, &*resource.version, &*resource.plural);
        let stored = if (group, plural) == ("events.k8s.io", "events") {
            self.inner.resource("", "v1", plural)?
        } else {
            let (.., stored) = OTHERS.iter().find(|(g, v, _)| (*g, *v) == (group, version))?;
            self.inner.resource(group, stored, plural)?
        };
        let schema = self.inner.schema(&stored.type_name)?;
        Some(ResourceType::new(Arc::clone(stored), schema, None, Vec::new()).typed)
    }

    /// The other versions in which a stored resource is served.
    fn served(&self, resource: &types::Resource) -> Vec<(Kind, types::Schema)> {
        let (group, version, plural) = (&*resource.group, &*resource.version, &*resource.plural);
        let events = ((group, plural) == ("", "events")).then_some(("events.k8s.io", "v1"));
        let others = OTHERS.iter().filter(|(g, _, stored)| (*g, *stored) == (group, version)).map(|(g, v, _)| (*g, *v));
        let found = others.chain(events).filter_map(|(g, v)| self.inner.resource(g, v, plural));
        found.filter_map(|served| Some((kind_of(served), self.inner.schema(&served.type_name)?))).collect()
    }
}

/// Groups and versions whose kinds are stored in another version, where that has them.
const OTHERS: [(&str, &str, &str); 11] = [
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

fn kind_of(resource: &types::Resource) -> Kind {
    Kind {
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        plural: resource.plural.clone(),
        namespaced: resource.namespaced,
    }
}

/// One resource at one version: decodes bodies and resolves field labels.
#[pyclass(frozen)]
pub(crate) struct ResourceType {
    pub(crate) typed: Arc<Typed>,
}

impl ResourceType {
    fn new(
        resource: Arc<types::Resource>,
        schema: types::Schema,
        storage: Option<Arc<Typed>>,
        served: Vec<(Kind, types::Schema)>,
    ) -> Self {
        let kind = kind_of(&resource);
        Self { typed: Arc::new(Typed::new(kind, resource, schema, storage, served)) }
    }
}

#[pymethods]
impl ResourceType {
    /// Decodes a body; `media` is `json`, `yaml` or `protobuf`. Gives the draft and what a strict reader objects to.
    fn decode(&self, py: Python<'_>, body: &[u8], media: &str) -> PyResult<(Draft, Vec<String>)> {
        let (value, strict) = apart(py, body.len(), || self.typed.decode(body, media))?;
        Ok((Draft::new(Arc::clone(&self.typed), value, body.len()), strict))
    }

    /// What server-side apply of a configuration makes of the live object, or of nothing.
    #[pyo3(signature = (clock, live, config, manager, subresource, force))]
    #[expect(clippy::too_many_arguments, reason = "the options of an apply, and the time")]
    fn apply(
        &self,
        py: Python<'_>,
        clock: &Clock,
        live: Option<&Stored>,
        config: &[u8],
        manager: &str,
        subresource: &str,
        force: bool,
    ) -> PyResult<(Draft, Vec<String>)> {
        let size = config.len() + live.map_or(0, |live| live.version.json().len());
        let now = clock.0.now().rfc3339();
        let (value, strict) = apart(py, size, || self.applied(live, config, manager, subresource, force, &now))?;
        Ok((Draft::new(Arc::clone(&self.typed), value, size), strict))
    }

    /// An empty object of this type.
    fn empty(&self) -> Draft {
        Draft::new(Arc::clone(&self.typed), types::Value::object(), 0)
    }

    #[getter]
    fn kind(&self) -> &str {
        &self.typed.kind.kind
    }

    /// Equal for types whose objects have the same schema; 0 for built-in kinds.
    #[getter]
    fn form(&self) -> u64 {
        self.typed.form()
    }

    #[getter]
    fn api_version(&self) -> &str {
        &self.typed.api_version
    }

    /// What differs by kind in the generic flows, by upstream's names of strategy methods.
    fn traits(&self) -> (bool, bool, bool, bool) {
        if self.typed.custom.is_some() {
            return (false, false, false, false);
        }
        let t = hydrofoil_schema::traits(&self.typed.kind);
        (t.allow_create_on_update, t.allow_unconditional_update, t.returns_deleted_object, t.graceful_delete)
    }
}

impl ResourceType {
    /// The object that an apply makes, and what a strict reader of the configuration objects to.
    fn applied(
        &self,
        live: Option<&Stored>,
        config: &[u8],
        manager: &str,
        subresource: &str,
        force: bool,
        now: &str,
    ) -> PyResult<(types::Value, Vec<String>)> {
        let config = yaml::parse(config).map_err(|e| decode_error(&e))?;
        self.check_configured(&config.value)?;
        let given = live.map(|l| l.value(&self.typed)).transpose()?;
        let live = given.as_deref().map(|live| self.typed.opened(Cow::Borrowed(live)));
        let typed = &*self.typed;
        let request = ManagedRequest { manager, api_version: &typed.api_version, subresource, now, versions: typed };
        let ignored = FieldSet::of_fields(self.typed.reset_fields(subresource));
        let applied = apply(self.typed.owned(), live.as_deref(), &config.value, &request, force, &ignored)
            .map_err(|e| apply_error(&e))?;
        let mut value = json::decode_stored(&typed.schema, &json::encode_any(&applied))
            .map_err(|e| apply_error(&unconverted(typed, &config.value, &e)))?;
        if typed.has_raw() {
            typed.settle_applied(given.as_deref(), &mut value);
        }
        match &typed.custom {
            Some(custom) => custom.coerce_applied(&mut value)?,
            None => convert::after_decode(&typed.kind, &mut value),
        }
        Ok((value, config.strict))
    }

    /// The type of a configuration must be this one (`managedfields/internal/versioncheck.go`).
    fn check_configured(&self, config: &types::Value) -> PyResult<()> {
        let (version, kind) = (config.str_at(&["apiVersion"]), config.str_at(&["kind"]));
        if version == self.typed.api_version && kind == self.typed.kind.kind {
            return Ok(());
        }
        let slash = if version.contains('/') { "" } else { "/" };
        let text = format!("invalid object type: {slash}{version}, Kind={kind}");
        Err(apply_error(&ApplyError::BadRequest(text)))
    }
}

/// What is said of an object that fits its schema and still is none of its Go type
/// (`managedfields/internal/structuredmerge.go`, `unstructuredscheme`).
fn unconverted(typed: &Typed, config: &types::Value, why: &hydrofoil_codec::DecodeError) -> ApplyError {
    let slash = if typed.api_version.contains('/') { "" } else { "/" };
    let kind = format!("{slash}{}, Kind={}", typed.api_version, typed.kind.kind);
    ApplyError::Internal(format!(
        "failed to convert new object {} to proper version: unable to convert unstructured object to {kind}: {why}",
        object_name(config)
    ))
}
