//! The built-in kinds: their rules are those of the schema crate.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use hydrofoil_cel::Patience;
use hydrofoil_codec::json::{self, RawForm, scan};
use hydrofoil_codec::{Decoded, cbor};
use hydrofoil_merge::{Unconverted, Versions};
use hydrofoil_schema::prepare::daemon;
use hydrofoil_schema::table::{self, Row};
use hydrofoil_schema::{Kind, Release, Request, convert, default, prepare, selectable, validate, warn};
use hydrofoil_store as store;
use hydrofoil_store::{FieldTarget, Version};
use hydrofoil_types::{Causes, Fingerprint, Resource, Schema, SmolStr, Timestamp, Value};

use super::decode::convertible;
use super::info::{labels, no_metadata};
use super::{
    Media, ObjectKind, Storage, Strategy, Table, Traits, TypeInfo, TypeMismatch, WebhookConversion, shared, type_meta,
};
use crate::error::Result;

/// A built-in resource in one version.
#[derive(Debug)]
pub(super) struct Builtin {
    info: TypeInfo,
    /// The storage version, if it is another one.
    storage: Option<Arc<Self>>,
    /// The other served versions, if this one is the storage version.
    served: Vec<(Kind, Schema)>,
    /// Whether objects have raw members, determined on first use.
    raw: OnceLock<bool>,
}

impl Builtin {
    pub(super) fn new(
        resource: Arc<Resource>,
        release: Release,
        schema: Schema,
        storage: Option<Arc<Self>>,
        served: Vec<(Kind, Schema)>,
    ) -> Self {
        let kind = Kind::of(&resource, release);
        let api_version = if resource.group.is_empty() {
            resource.version.clone()
        } else {
            format!("{}/{}", resource.group, resource.version).into()
        };
        let head = [r#"{"kind":"","apiVersion":"","#, &*kind.kind, &*api_version].map(str::len).iter().sum();
        Self { info: TypeInfo::new(resource, schema, kind, api_version, head), storage, served, raw: OnceLock::new() }
    }

    fn request<'a>(&'a self, old: Option<&'a Value>, subresource: &'a str, now: Timestamp) -> Request<'a> {
        Request { kind: &self.info.kind, subresource, old, now }
    }

    fn served_version(&self, api_version: &str) -> Option<&(Kind, Schema)> {
        self.served.iter().find(|(kind, _)| kind.is_version(api_version))
    }

    /// Return any version of the kind.
    fn find_version(&self, api_version: &str) -> Option<(&Kind, &Schema)> {
        let storage = self.storage.as_deref().unwrap_or(self);
        let whole = [self, storage].into_iter().find(|kind| kind.info.api_version == api_version);
        let whole = whole.map(|kind| (&kind.info.kind, &kind.info.schema));
        whole.or_else(|| storage.served_version(api_version).map(|(kind, schema)| (kind, schema)))
    }

    /// Return the index of a supported field label among the values of stored objects.
    fn place(&self, label: &str) -> Option<usize> {
        let at = |labels: &[SmolStr], label: &str| labels.iter().position(|l| l == label);
        match &self.storage {
            Some(stored) => {
                let old = label
                    .replacen("regarding.", "involvedObject.", 1)
                    .replace("reportingController", "reportingComponent");
                at(&stored.info.resource.field_selectors, &old)
            }
            None => at(&self.info.resource.field_selectors, label),
        }
    }
}

impl Strategy for Builtin {
    fn traits(&self) -> Traits {
        let traits = hydrofoil_schema::traits(&self.info.kind);
        Traits {
            allow_create_on_update: traits.allow_create_on_update,
            allow_unconditional_update: traits.allow_unconditional_update,
            returns_deleted_object: traits.returns_deleted_object,
            graceful_delete: traits.graceful_delete,
        }
    }

    fn reset_fields(&self, subresource: &str) -> &'static [&'static [&'static str]] {
        hydrofoil_schema::reset_fields(&self.info.kind, subresource)
    }

    fn identify(&self, object: &mut Value) {
        self.info.set_type(object);
    }

    fn default(&self, object: &mut Value, now: Timestamp) {
        default::apply(&self.info.kind, object, now);
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, subresource: &str, now: Timestamp) {
        let request = self.request(old, subresource, now);
        match old {
            Some(_) => prepare::update(&request, object),
            None => prepare::create(&request, object),
        }
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        subresource: &str,
        now: Timestamp,
        _patience: Option<&Patience>,
    ) -> Causes {
        let request = self.request(old, subresource, now);
        match old {
            Some(_) => validate::update(&request, object),
            None => validate::create(&request, object),
        }
    }

    fn complete_unlabelled(&self, object: &mut Value) {
        prepare::complete_unlabelled(&self.info.kind, object);
    }

    fn warnings(&self, object: &Value, old: Option<&Value>, subresource: &str, _passed: Vec<String>) -> Vec<String> {
        let request = self.request(old, subresource, Timestamp::default());
        match old {
            Some(_) => warn::update(&request, object),
            None => warn::create(&request, object),
        }
    }

    fn prepare_warnings(&self, object: &Value) -> Vec<String> {
        warn::on_prepare(&self.request(None, "", Timestamp::default()), object)
    }
}

impl Storage for Builtin {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::BUILTIN
    }

    fn stores_own_version(&self) -> bool {
        self.storage.is_none()
    }

    fn stores_many_versions(&self) -> bool {
        false
    }

    fn is_stored_form(&self, _version: &Version) -> bool {
        self.storage.is_none()
    }

    fn read(&self, version: &Version) -> Result<Value> {
        let schema = self.storage.as_ref().map_or(&self.info.schema, |s| &s.info.schema);
        let given = version.given_text();
        let text = given.as_deref().unwrap_or_else(|| version.json());
        let mut value = json::decode_stored(schema, text)?;
        if self.storage.is_some() {
            value = convert::from_storage(&self.info.kind, value);
            self.info.set_type(&mut value);
        }
        Ok(value)
    }

    fn json<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>> {
        if self.storage.is_none() {
            return Ok(Cow::Borrowed(version.json()));
        }
        Ok(Cow::Owned(json::encode(&self.info.schema, &self.read(version)?)))
    }

    /// Extract the metadata from the stored JSON, without the annotations that conversion to a version adds: upstream
    /// takes the metadata from the internal object.
    fn metadata<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>> {
        let item = version.item().get(r#""metadata":"#.len()..).ok_or_else(no_metadata)?;
        let text = scan::value_end(item).and_then(|end| item.get(..end)).ok_or_else(no_metadata)?;
        let Some(converted) = daemon::converted_annotation(&self.info.kind) else { return Ok(Cow::Borrowed(text)) };
        let mut value = json::parse(text)?.value;
        daemon::drop_annotation(&mut value, converted);
        Ok(Cow::Owned(json::encode_any(&value)))
    }

    fn to_storage(&self, object: &Value) -> store::Draft {
        if let Some(storage) = &self.storage {
            let mut object = convert::to_storage(&self.info.kind, object.clone());
            storage.info.set_type(&mut object);
            return storage.to_storage(&object);
        }
        self.info.encode(object, labels(object), self.select(object), self.fingerprint())
    }

    fn select(&self, object: &Value) -> Box<[SmolStr]> {
        if self.storage.is_some() {
            return self.to_storage(object).fields;
        }
        let selectors = &self.info.resource.field_selectors;
        selectors.iter().map(|l| selectable::value(&self.info.kind, l, object)).collect()
    }

    fn write_shared(&self, draft: &store::Draft) -> Result<Vec<u8>> {
        match &self.storage {
            Some(storage) => storage.write_shared(draft),
            None => shared::encode(&self.info, &self.served, draft),
        }
    }

    fn read_shared(&self, bytes: &[u8], now: Timestamp) -> Result<store::Draft> {
        match &self.storage {
            Some(storage) => storage.read_shared(bytes, now),
            None => Ok(self.to_storage(&shared::decode(&self.info, &self.served, bytes, now)?)),
        }
    }
}

impl WebhookConversion for Builtin {}

impl Table for Builtin {
    fn columns(&self) -> Vec<Value> {
        table::columns(&self.info.kind, &self.info.resource)
    }

    fn row(&self, object: &Value, now: Timestamp) -> Row {
        table::row(&self.info.kind, object, now)
    }
}

impl Versions for Builtin {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        self.find_version(api_version).map(|(_, schema)| schema)
    }

    /// Convert an object between any two versions, through the storage version. It is decoded before that: a conversion
    /// works on values of the types of the kind.
    fn convert(&self, from: &str, to: &str, object: &Value) -> Result<Value, Unconverted> {
        let (Some((given, schema)), Some((wanted, _))) = (self.find_version(from), self.find_version(to)) else {
            return Ok(object.clone());
        };
        let decoded = json::decode(schema, &json::encode_any(object)).map_err(|why| {
            let slash = if from.contains('/') { "" } else { "/" };
            let kind = &given.kind;
            Unconverted::Failed(format!("unable to convert unstructured object to {slash}{from}, Kind={kind}: {why}"))
        })?;
        let stored = convert::to_storage(given, decoded.value);
        let mut converted = convert::from_storage(wanted, stored);
        converted.object_at_mut(&[]).set("apiVersion", to);
        Ok(converted)
    }
}

impl ObjectKind for Builtin {
    fn info(&self) -> &TypeInfo {
        &self.info
    }

    fn ownership_schema(&self) -> &Schema {
        &self.info.schema
    }

    fn metadata_schema(&self) -> Schema {
        self.info.schema.arena.metadata()
    }

    fn has_raw(&self) -> bool {
        *self.raw.get_or_init(|| json::has_raw(&self.info.schema))
    }

    fn field_target(&self, label: &str) -> Result<FieldTarget, String> {
        let (own, kind) = (&self.info.resource.field_selectors, &self.info.kind);
        match label {
            "metadata.name" => return Ok(FieldTarget::Name),
            "metadata.namespace" if selectable::has_namespace(kind, !own.is_empty()) => {
                return Ok(FieldTarget::Namespace);
            }
            _ => {}
        }
        let known = own.iter().any(|l| l == label);
        known
            .then(|| self.place(label))
            .flatten()
            .map(FieldTarget::Index)
            .ok_or_else(|| selectable::unknown(kind, !own.is_empty(), label))
    }

    fn end_of_list(&self) -> &'static str {
        ""
    }

    fn complete_decoded(&self, decoded: &mut Decoded, media: Media, json: &[u8]) -> Result<()> {
        if media == Media::Cbor {
            if let Some(path) = decoded.strict.first().and_then(|text| text.split('"').nth(1)) {
                decoded.strict = vec![cbor::unknown_field(&json::parse(json)?.value, path)];
            }
            if self.has_raw() {
                json::change_raw(&self.info.schema, &mut decoded.value, RawForm::Ordered);
            }
        }
        convert::after_decode(&self.info.kind, &mut decoded.value);
        convertible(&self.info, &decoded.value)
    }

    fn complete_applied(&self, object: &mut Value) -> Result<()> {
        convert::after_decode(&self.info.kind, object);
        convertible(&self.info, object)
    }

    fn complete_empty(&self, object: &mut Value) {
        convert::defaults_of_empty_object(&self.info.kind, object);
    }

    fn clean_strategic(&self, patch: &mut Value) {
        if matches!(patch, Value::Null) {
            *patch = Value::object();
        }
        type_meta::clean(patch);
    }

    fn check_type(&self, object: &Value) -> Result<(), TypeMismatch> {
        type_meta::check(&self.info, object)
    }
}
