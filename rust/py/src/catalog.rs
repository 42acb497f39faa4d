//! The catalog and the types it describes.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_codec::{cbor, json, proto, yaml};
use hydrofoil_merge::{ApplyError, FieldSet, ManagedRequest, apply};
use hydrofoil_schema::{Kind, convert, selectable};

use crate::custom::Custom;
use hydrofoil_store::FieldTarget;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::draft::Draft;
use crate::error::{apply_error, decode_error};
use crate::stored::Stored;

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
            namespaced: false,
            columns: Vec::new(),
            field_selectors: Vec::new(),
        };
        Ok(ResourceType::new(Arc::new(resource), schema, None, None))
    }

    /// The types that a custom resource definition brings, one a version, with the version's name.
    fn custom(&self, definition: &Stored) -> PyResult<Vec<(String, ResourceType)>> {
        let object = definition.value(&definition.typed)?;
        let made = crate::custom::types(&object, self.inner.arena());
        Ok(made.into_iter().map(|(name, typed)| (name, ResourceType { typed: Arc::new(typed) })).collect())
    }

    /// Why schemas of a definition are not structural, as the reason and message of a condition.
    #[staticmethod]
    fn nonstructural(definition: &Stored) -> PyResult<Option<(&'static str, String)>> {
        Ok(hydrofoil_schema::validate::nonstructural(&*definition.value(&definition.typed)?))
    }
}

impl Catalog {
    /// The type in which a resource is stored, when that is another one than its own.
    fn storage(&self, resource: &types::Resource) -> Option<Arc<Typed>> {
        let (group, version, plural) = match (&*resource.group, &*resource.version, &*resource.plural) {
            ("events.k8s.io", _, "events") => ("", "v1", "events"),
            ("autoscaling", "v1", "horizontalpodautoscalers") => ("autoscaling", "v2", "horizontalpodautoscalers"),
            ("apiextensions.k8s.io", "v1beta1", plural) => ("apiextensions.k8s.io", "v1", plural),
            _ => return None,
        };
        let stored = self.inner.resource(group, version, plural)?;
        let schema = self.inner.schema(&stored.type_name)?;
        Some(ResourceType::new(Arc::clone(stored), schema, None, None).typed)
    }
}

impl Catalog {
    /// The other version in which a stored resource is served.
    fn served(&self, resource: &types::Resource) -> Option<(Kind, types::Schema)> {
        let (group, version, plural) = match (&*resource.group, &*resource.version, &*resource.plural) {
            ("", "v1", "events") => ("events.k8s.io", "v1", "events"),
            ("autoscaling", "v2", "horizontalpodautoscalers") => ("autoscaling", "v1", "horizontalpodautoscalers"),
            ("apiextensions.k8s.io", "v1", plural) => ("apiextensions.k8s.io", "v1beta1", plural),
            _ => return None,
        };
        let served = self.inner.resource(group, version, plural)?;
        Some((kind_of(served), self.inner.schema(&served.type_name)?))
    }
}

fn kind_of(resource: &types::Resource) -> Kind {
    Kind {
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        plural: resource.plural.clone(),
        namespaced: resource.namespaced,
    }
}

/// What is known of one resource, shared by all that handle its objects.
#[derive(Debug)]
pub(crate) struct Typed {
    /// Tells it from every other: what is made by a type is kept under it.
    pub(crate) id: u64,
    pub(crate) resource: Arc<types::Resource>,
    pub(crate) schema: types::Schema,
    pub(crate) kind: Kind,
    /// `v1` or `group/version`.
    pub(crate) api_version: types::SmolStr,
    /// The length of `{"kind":"K","apiVersion":"V",`.
    pub(crate) head: usize,
    /// The type in which its objects are stored, when that is another one.
    pub(crate) storage: Option<Arc<Typed>>,
    /// The other version in which its objects are served, when this type is the one that is stored.
    pub(crate) served: Option<(Kind, types::Schema)>,
    /// What its definition says, when it is a custom resource.
    pub(crate) custom: Option<Custom>,
}

/// A name for a type that no other has.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
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
        served: Option<(Kind, types::Schema)>,
    ) -> Self {
        let api_version = if resource.group.is_empty() {
            resource.version.clone()
        } else {
            format!("{}/{}", resource.group, resource.version).into()
        };
        let kind = kind_of(&resource);
        let head = r#"{"kind":"","apiVersion":"","#.len() + kind.kind.len() + api_version.len();
        let typed = Typed { id: next_id(), resource, schema, kind, api_version, head, storage, served, custom: None };
        Self { typed: Arc::new(typed) }
    }
}

#[pymethods]
impl ResourceType {
    /// Decodes a body; `media` is `json`, `yaml` or `protobuf`. Gives the draft and what a strict reader objects to.
    fn decode(&self, body: &[u8], media: &str) -> PyResult<(Draft, Vec<String>)> {
        let (value, strict) = self.typed.decode(body, media)?;
        Ok((Draft::new(Arc::clone(&self.typed), value), strict))
    }

    /// What server-side apply of a configuration makes of the live object, or of nothing.
    #[pyo3(signature = (live, config, manager, subresource, force))]
    fn apply(
        &self,
        py: Python<'_>,
        live: Option<&Stored>,
        config: &[u8],
        manager: &str,
        subresource: &str,
        force: bool,
    ) -> PyResult<(Draft, Vec<String>)> {
        let (value, strict) = py.detach(|| self.applied(live, config, manager, subresource, force))?;
        Ok((Draft::new(Arc::clone(&self.typed), value), strict))
    }

    /// An empty object of this type.
    fn empty(&self) -> Draft {
        Draft::new(Arc::clone(&self.typed), types::Value::object())
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
    ) -> PyResult<(types::Value, Vec<String>)> {
        let config = yaml::parse(config).map_err(|e| decode_error(&e))?;
        self.check_configured(&config.value)?;
        let live = live.map(|l| l.value(&self.typed)).transpose()?;
        let now = types::Timestamp::now().rfc3339();
        let typed = &*self.typed;
        let request =
            ManagedRequest { manager, api_version: &typed.api_version, subresource, now: &now, versions: typed };
        let ignored = FieldSet::of_fields(self.typed.reset_fields(subresource));
        let applied = apply(self.typed.owned(), live.as_deref(), &config.value, &request, force, &ignored)
            .map_err(|e| apply_error(&e))?;
        let mut value =
            json::decode_stored(&typed.schema, &json::encode_any(&applied)).map_err(|e| decode_error(&e))?;
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

impl Typed {
    pub(crate) fn decode(&self, body: &[u8], media: &str) -> PyResult<(types::Value, Vec<String>)> {
        if media == "protobuf" {
            let mut value = proto::decode(&self.schema, body).map_err(|e| decode_error(&e))?;
            convert::after_decode(&self.kind, &mut value);
            return Ok((value, Vec::new()));
        }
        let transcoded;
        let body = if media == "cbor" {
            transcoded = cbor::typed_to_json(&self.schema, body).map_err(|e| decode_error(&e))?;
            &transcoded
        } else {
            body
        };
        let mut decoded = if media == "yaml" {
            let mut generic = yaml::parse(body).map_err(|e| decode_error(&e))?;
            // Upstream's way to JSON is by maps, whose members stand in order.
            generic.value.sort_members();
            let text = json::encode_any(&generic.value);
            let mut decoded = json::decode(&self.schema, &text).map_err(|e| decode_error(&e))?;
            decoded.strict.splice(0..0, generic.strict);
            decoded
        } else {
            json::decode(&self.schema, body).map_err(|e| decode_error(&e))?
        };
        if let Some(custom) = &self.custom {
            decoded.strict.extend(custom.coerce(&mut decoded.value)?);
            if media == "cbor" {
                // Upstream has no strict reader of custom resources in CBOR.
                decoded.strict.clear();
            }
            return Ok((decoded.value, decoded.strict));
        }
        if media == "cbor"
            && let Some(path) = decoded.strict.first().and_then(|text| text.split('"').nth(1))
        {
            let given = json::parse(body).map_err(|e| decode_error(&e))?.value;
            decoded.strict = vec![cbor::unknown_field(&given, path)];
        }
        convert::after_decode(&self.kind, &mut decoded.value);
        Ok((decoded.value, decoded.strict))
    }

    /// The type of the metadata.
    pub(crate) fn metadata(&self) -> types::Schema {
        self.custom.as_ref().map_or_else(|| self.schema.arena.metadata(), Custom::metadata_type)
    }

    /// The paths that a client cannot set through an endpoint, so that nobody comes to own them.
    pub(crate) fn reset_fields(&self, subresource: &str) -> &'static [&'static [&'static str]] {
        match (&self.custom, subresource) {
            (None, _) => hydrofoil_schema::reset_fields(&self.kind, subresource),
            (Some(custom), "") if custom.version().status => &[&["status"]],
            (Some(_), "status") => &[&["metadata"], &["spec"]],
            (Some(_), _) => &[],
        }
    }

    /// The schema by which fields are owned.
    pub(crate) fn owned(&self) -> &types::Schema {
        self.custom.as_ref().map_or(&self.schema, Custom::owned)
    }

    /// Whether the stored bytes of a version are those of this type.
    pub(crate) fn is_stored_form(&self, version: &hydrofoil_store::Version) -> bool {
        match &self.custom {
            Some(custom) => custom.is_form_of(version),
            None => self.storage.is_none(),
        }
    }

    /// What the bytes of this type are made by: 0 for built-in kinds.
    pub(crate) fn form(&self) -> u64 {
        self.custom.as_ref().map_or(0, |c| c.version().fingerprint)
    }

    /// The target of a field label, or the kind's text that it has none.
    pub(crate) fn field_target(&self, label: &str) -> Result<FieldTarget, String> {
        if let Some(custom) = &self.custom {
            return custom.field_target(label);
        }
        let own = &self.resource.field_selectors;
        match label {
            "metadata.name" => return Ok(FieldTarget::Name),
            // Kinds with labels of their own know the namespace only where they have one.
            "metadata.namespace" if own.is_empty() || self.kind.namespaced => return Ok(FieldTarget::Namespace),
            _ => {}
        }
        let place = |label: &str| match &self.storage {
            // The values stand in the order of the stored type's labels.
            Some(stored) => {
                let old = label
                    .replacen("regarding.", "involvedObject.", 1)
                    .replace("reportingController", "reportingComponent");
                stored.resource.field_selectors.iter().position(|l| *l == old)
            }
            None => own.iter().position(|l| l == label),
        };
        let known = own.iter().any(|l| l == label);
        known.then(|| place(label)).flatten().map(FieldTarget::Index).ok_or_else(|| {
            selectable::unknown(&self.kind.group, &self.kind.version, &self.kind.kind, !own.is_empty(), label)
        })
    }

    /// A stored version as an object of this type.
    pub(crate) fn read(&self, version: &hydrofoil_store::Version) -> PyResult<types::Value> {
        if self.custom.is_some() {
            return json::decode_stored(&self.schema, &self.json(version)?).map_err(|e| decode_error(&e));
        }
        let schema = self.storage.as_ref().map_or(&self.schema, |s| &s.schema);
        let mut value = json::decode_stored(schema, version.json()).map_err(|e| decode_error(&e))?;
        if self.storage.is_some() {
            value = convert::from_storage(&self.kind, value);
            self.set_type(&mut value);
        }
        Ok(value)
    }

    pub(crate) fn set_type(&self, value: &mut types::Value) {
        let map = value.object_at_mut(&[]);
        map.set("kind", self.kind.kind.clone());
        map.set("apiVersion", self.api_version.clone());
    }

    /// The JSON of a stored version in this type, with its resource version.
    pub(crate) fn json<'a>(&self, version: &'a hydrofoil_store::Version) -> PyResult<Cow<'a, [u8]>> {
        if let Some(custom) = &self.custom {
            return custom.json(&self.schema, version);
        }
        if self.storage.is_none() {
            return Ok(Cow::Borrowed(version.json()));
        }
        Ok(Cow::Owned(json::encode(&self.schema, &self.read(version)?)))
    }

    /// A value in the form of this very type, which no store keeps.
    pub(crate) fn own_draft(&self, value: &types::Value) -> hydrofoil_store::Draft {
        if self.custom.is_none() {
            return self.stored_draft(value);
        }
        let encoded = json::encode_stored(&self.schema, value);
        let labels = Box::default();
        hydrofoil_store::Draft {
            json: encoded.json,
            rv_at: encoded.rv_at,
            head: self.head,
            labels,
            fields: Box::default(),
            form: self.form(),
        }
    }

    /// A value as the store takes it.
    pub(crate) fn stored_draft(&self, value: &types::Value) -> hydrofoil_store::Draft {
        if let Some(storage) = &self.storage {
            let mut value = convert::to_storage(&self.kind, value.clone());
            storage.set_type(&mut value);
            return storage.stored_draft(&value);
        }
        let stored;
        let (value, form) = match &self.custom {
            Some(custom) => {
                stored = custom.to_storage(value);
                (&*stored, custom.stored_form())
            }
            None => (value, 0),
        };
        let encoded = json::encode_stored(&self.schema, value);
        let meta = types::MetaView::of(value);
        let mut labels: Vec<_> = meta.labels().map(|(k, v)| (k.clone(), types::SmolStr::new(v))).collect();
        labels.sort();
        let own = &self.resource.field_selectors;
        let fields = match &self.custom {
            Some(custom) => custom.definition.fields(value),
            None => own.iter().map(|l| selectable::value(&self.kind.kind, l, value)).collect(),
        };
        hydrofoil_store::Draft {
            json: encoded.json,
            rv_at: encoded.rv_at,
            head: self.head,
            labels: labels.into_boxed_slice(),
            fields,
            form,
        }
    }
}

/// A lock around a value that Python may hold in several places.
pub(crate) type Cell = Mutex<types::Value>;
