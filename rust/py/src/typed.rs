//! What is known of one resource: how its objects are decoded, read and stored.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hydrofoil_codec::json::RawForm;
use hydrofoil_codec::{cbor, json, proto, yaml};
use hydrofoil_schema::{Kind, convert, selectable};
use hydrofoil_store::FieldTarget;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::custom::Custom;
use crate::error::decode_error;

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
    /// The other versions in which its objects are served, when this type is the one that is stored.
    pub(crate) served: Vec<(Kind, types::Schema)>,
    /// What its definition says, when it is a custom resource.
    pub(crate) custom: Option<Custom>,
    /// Whether it has members that are kept as they were given; found out when first asked.
    pub(crate) raw: OnceLock<bool>,
}

/// A name for a type that no other has.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Typed {
    /// What is known of a built-in resource.
    pub(crate) fn new(
        kind: Kind,
        resource: Arc<types::Resource>,
        schema: types::Schema,
        storage: Option<Arc<Self>>,
        served: Vec<(Kind, types::Schema)>,
    ) -> Self {
        let api_version = if resource.group.is_empty() {
            resource.version.clone()
        } else {
            format!("{}/{}", resource.group, resource.version).into()
        };
        let head = r#"{"kind":"","apiVersion":"","#.len() + kind.kind.len() + api_version.len();
        Self {
            id: next_id(),
            resource,
            schema,
            kind,
            api_version,
            head,
            storage,
            served,
            custom: None,
            raw: OnceLock::new(),
        }
    }

    /// The type alone of a protobuf body that is of another one, which is what is wrong with it.
    fn of_another_type(&self, body: &[u8]) -> Option<types::Value> {
        let (api_version, kind, _) = proto::unwrap(body).ok()?;
        let is_other = |given: &str, own: &str| !given.is_empty() && given != own;
        (is_other(&api_version, &self.api_version) || is_other(&kind, &self.kind.kind)).then(|| {
            let mut value = types::Value::object();
            let map = value.object_at_mut(&[]);
            map.set("apiVersion", api_version);
            map.set("kind", kind);
            value
        })
    }

    pub(crate) fn decode(&self, body: &[u8], media: &str) -> PyResult<(types::Value, Vec<String>)> {
        if media == "protobuf" {
            let mut value = proto::decode(&self.schema, body)
                .or_else(|e| self.of_another_type(body).ok_or(e))
                .map_err(|e| decode_error(&e))?;
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
        if media == "cbor" {
            self.change_raw(&mut decoded.value, RawForm::Ordered);
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

    /// Whether a webhook converts what is stored in other versions.
    pub(crate) fn is_converted(&self) -> bool {
        self.custom.as_ref().is_some_and(|c| c.definition.webhook)
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
        let given = version.given();
        let text = given.as_deref().unwrap_or_else(|| version.json());
        let mut value = json::decode_stored(schema, text).map_err(|e| decode_error(&e))?;
        if self.storage.is_some() {
            value = convert::from_storage(&self.kind, value);
            self.set_type(&mut value);
        }
        Ok(value)
    }

    /// Gives members that are kept as they were given the form that a way through upstream's types leaves them in.
    pub(crate) fn change_raw(&self, value: &mut types::Value, form: RawForm) {
        if self.has_raw() {
            json::change_raw(&self.schema, value, form);
        }
    }

    /// An object without any text that is kept as it was given.
    pub(crate) fn opened<'a>(&self, object: Cow<'a, types::Value>) -> Cow<'a, types::Value> {
        if !self.has_raw() {
            return object;
        }
        let mut open = object.into_owned();
        json::change_raw(&self.schema, &mut open, RawForm::Open);
        Cow::Owned(open)
    }

    /// Texts that are kept as they were given come from Go's maps after an apply, unless that changed nothing: the live
    /// object is then taken with its new owners.
    pub(crate) fn settle_applied(&self, live: Option<&types::Value>, value: &mut types::Value) {
        let bare = |object: &types::Value| {
            let mut bare = self.opened(Cow::Borrowed(object)).into_owned();
            bare.object_at_mut(&["metadata"]).remove("managedFields");
            bare
        };
        let Some(live) = live.filter(|live| bare(live) == bare(value)) else {
            return self.change_raw(value, RawForm::Ordered);
        };
        let owners = value.object_at_mut(&["metadata"]).remove("managedFields");
        *value = live.clone();
        let metadata = value.object_at_mut(&["metadata"]);
        match owners {
            Some(owners) => metadata.set("managedFields", owners),
            None => drop(metadata.remove("managedFields")),
        }
    }

    /// Whether it has members that are kept as they were given.
    pub(crate) fn has_raw(&self) -> bool {
        *self.raw.get_or_init(|| self.custom.is_none() && json::has_raw(&self.schema))
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
            given: encoded.given,
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
            Some(custom) => custom.index(value),
            None => own.iter().map(|l| selectable::value(&self.kind.kind, l, value)).collect(),
        };
        hydrofoil_store::Draft {
            json: encoded.json,
            given: encoded.given,
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
