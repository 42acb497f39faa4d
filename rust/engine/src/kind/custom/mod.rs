//! The kinds of definitions: their rules are those of the definition.

mod conversion;
mod metadata;
mod storage;
mod strategy;

use std::sync::Arc;

use hydrofoil_codec::{DecodeError, Decoded};
use hydrofoil_custom::{self as custom, Definition};
use hydrofoil_merge::{Pending, Unconverted, Versions};
use hydrofoil_schema::table::Row;
use hydrofoil_schema::{Kind, Release, selectable};
use hydrofoil_store::FieldTarget;
use hydrofoil_types::{Arena, Resource, Schema, SmolStr, Timestamp, Value};

use super::{Media, ObjectKind, Table, TypeInfo, TypeMismatch};
use crate::error::Result;

/// One version of a definition.
#[derive(Debug)]
pub(super) struct Custom {
    info: TypeInfo,
    definition: Arc<Definition>,
    /// The index of the version in the definition.
    at: usize,
    /// The built-in types, which include the metadata.
    builtin: Arc<Arena>,
}

impl Custom {
    /// Return the kinds of all versions of a definition in loose form, with the names of the versions.
    pub(super) fn all(object: &Value, builtin: &Arc<Arena>, release: Release) -> Vec<(String, Self)> {
        let definition = Arc::new(Definition::compile(object));
        let schema = builtin.custom();
        let made = |at| Self::new(&definition, at, &schema, builtin, release);
        (0..definition.versions.len()).map(made).map(|kind| (kind.version().name.to_string(), kind)).collect()
    }

    fn new(definition: &Arc<Definition>, at: usize, schema: &Schema, builtin: &Arc<Arena>, release: Release) -> Self {
        let version = version(definition, at);
        let resource = Resource {
            group: definition.group.clone(),
            version: version.name.clone(),
            plural: definition.plural.clone(),
            kind: definition.kind.clone(),
            type_name: SmolStr::default(),
            list_kind: definition.list_kind.clone(),
            namespaced: definition.namespaced,
            columns: Vec::new(),
            field_selectors: version.selectable.to_vec(),
        };
        let kind = Kind::custom(&resource, release);
        // Items of lists keep kind and `apiVersion`, like unstructured ones.
        let info = TypeInfo::new(Arc::new(resource), schema.clone(), kind, version.api_version.clone(), 1);
        Self { info, definition: Arc::clone(definition), at, builtin: Arc::clone(builtin) }
    }

    /// Return the version of this kind.
    fn version(&self) -> &custom::Version {
        version(&self.definition, self.at)
    }

    /// Return the storage version.
    fn storage(&self) -> &custom::Version {
        version(&self.definition, self.definition.storage)
    }

    fn is_storage(&self) -> bool {
        self.at == self.definition.storage
    }

    /// Prune an object and set its defaults, by the version that it names. Return its strict errors.
    fn coerce(&self, object: &mut Value) -> Result<Vec<String>> {
        let version = self.definition.version(object.str_at(&["apiVersion"])).unwrap_or_else(|| self.version());
        self.coerce_to(version, object)
    }

    fn coerce_to(&self, version: &custom::Version, object: &mut Value) -> Result<Vec<String>> {
        let read = |metadata: &Value| metadata::read(&self.builtin, metadata);
        Ok(custom::decode(&self.definition, version, object, &read).map_err(DecodeError::Type)?)
    }
}

#[expect(clippy::indexing_slicing, reason = "places are those of versions that the definition has")]
fn version(definition: &Definition, at: usize) -> &custom::Version {
    &definition.versions[at]
}

impl Table for Custom {
    fn columns(&self) -> Vec<Value> {
        self.version().columns.definitions()
    }

    fn row(&self, object: &Value, now: Timestamp) -> Row {
        self.version().columns.row(object, now)
    }
}

impl Versions for Custom {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        Some(self.definition.version(api_version)?.ownership_schema(&self.builtin))
    }

    fn missing(&self, api_version: &str) -> Option<String> {
        Some(format!("request to convert CR to an invalid group/version: {api_version}"))
    }

    /// Convert an object to another version. Without a webhook only its `apiVersion` changes: what the other version does
    /// not declare stays, and is an error of its schema (`nop_converter.go`).
    fn convert(&self, _: &str, to: &str, object: &Value) -> Result<Value, Unconverted> {
        let mut object = object.clone();
        if self.definition.webhook {
            return Err(Unconverted::Pending(Box::new(Pending { object, api_version: to.to_owned() })));
        }
        object.object_at_mut(&[]).set("apiVersion", to);
        Ok(object)
    }
}

impl ObjectKind for Custom {
    fn info(&self) -> &TypeInfo {
        &self.info
    }

    fn ownership_schema(&self) -> &Schema {
        self.version().ownership_schema(&self.builtin)
    }

    fn metadata_schema(&self) -> Schema {
        self.builtin.metadata()
    }

    fn has_raw(&self) -> bool {
        false
    }

    fn field_target(&self, label: &str) -> Result<FieldTarget, String> {
        match label {
            "metadata.name" => return Ok(FieldTarget::Name),
            "metadata.namespace" if self.definition.namespaced => return Ok(FieldTarget::Namespace),
            _ => {}
        }
        let known = self.version().selectable.iter().any(|l| l == label);
        let at = self.definition.selectable.iter().position(|(l, _)| l == label);
        known.then_some(at).flatten().map(FieldTarget::Index).ok_or_else(|| selectable::unsupported_label(label))
    }

    /// Return an empty token, which lists of unstructured objects have at their end.
    fn end_of_list(&self) -> &'static str {
        r#","continue":"""#
    }

    fn complete_decoded(&self, decoded: &mut Decoded, media: Media, _json: &[u8]) -> Result<()> {
        decoded.strict.extend(self.coerce(&mut decoded.value)?);
        if media == Media::Cbor {
            // Upstream has no strict decoder of custom resources in CBOR.
            decoded.strict.clear();
        }
        Ok(())
    }

    fn complete_applied(&self, object: &mut Value) -> Result<()> {
        let read = |metadata: &Value| metadata::read(&self.builtin, metadata);
        custom::fill(self.version(), object, &read).map_err(DecodeError::Type)?;
        Ok(())
    }

    fn complete_empty(&self, _object: &mut Value) {}

    fn clean_strategic(&self, _patch: &mut Value) {}

    /// Accept any type: the decoder of custom resources checks it.
    fn check_type(&self, _object: &Value) -> Result<(), TypeMismatch> {
        Ok(())
    }
}
