//! Custom resources: how a type finds what its definition says.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use hydrofoil_codec::json;
use hydrofoil_schema::custom::{self, Definition, Version};
use hydrofoil_schema::{Kind, selectable};
use hydrofoil_store as store;
use hydrofoil_store::{FieldTarget, Shown};
use hydrofoil_types as types;
use hydrofoil_types::{Arena, Schema, SmolStr, Value};
use pyo3::prelude::*;

use crate::error::{conversion_error, decode_error};
use crate::typed::{Typed, next_id};

/// The form of stored bytes that no version shows as they are.
const WITHOUT_DEFAULTS: u64 = u64::MAX;

/// One version of a definition.
#[derive(Debug)]
pub(crate) struct Custom {
    pub(crate) definition: Arc<Definition>,
    at: usize,
    builtin: Arc<Arena>,
}

/// The types of all versions of a definition in loose form.
pub(crate) fn types(object: &Value, builtin: &Arc<Arena>) -> Vec<(String, Typed)> {
    let definition = Arc::new(Definition::compile(object));
    let schema = builtin.custom();
    let typed = |(at, version): (usize, &Version)| {
        let kind = Kind {
            group: definition.group.clone(),
            version: version.name.clone(),
            kind: definition.kind.clone(),
            plural: definition.plural.clone(),
            namespaced: definition.namespaced,
        };
        let resource = types::Resource {
            group: kind.group.clone(),
            version: kind.version.clone(),
            plural: kind.plural.clone(),
            kind: kind.kind.clone(),
            type_name: SmolStr::default(),
            list_kind: definition.list_kind.clone(),
            namespaced: kind.namespaced,
            columns: Vec::new(),
            field_selectors: version.selectable.to_vec(),
        };
        let custom = Custom { definition: Arc::clone(&definition), at, builtin: Arc::clone(builtin) };
        let typed = Typed {
            id: next_id(),
            resource: Arc::new(resource),
            schema: schema.clone(),
            kind,
            api_version: version.api_version.clone(),
            // Items of lists keep their kind and version, as unstructured ones do.
            head: 1,
            storage: None,
            served: Vec::new(),
            custom: Some(custom),
            raw: OnceLock::new(),
        };
        (version.name.to_string(), typed)
    };
    definition.versions.iter().enumerate().map(typed).collect()
}

impl Custom {
    /// The version of this type.
    pub(crate) fn version(&self) -> &Version {
        &self.definition.versions[self.at]
    }

    /// The version in which objects are stored.
    pub(crate) fn storage(&self) -> &Version {
        &self.definition.versions[self.definition.storage]
    }

    /// The schema by which fields are owned.
    pub(crate) fn owned(&self) -> &Schema {
        self.version().owned(&self.builtin)
    }

    /// The schema by which fields are owned in a version of the definition.
    pub(crate) fn owned_in(&self, api_version: &str) -> Option<&Schema> {
        Some(self.definition.version(api_version)?.owned(&self.builtin))
    }

    /// An object in another version. What a webhook would make of it is not asked for: it is taken as it is.
    pub(crate) fn in_version(&self, api_version: &str, object: &Value) -> Value {
        match self.definition.version(api_version) {
            Some(version) if !self.definition.webhook => self.swapped(object.clone(), version),
            _ => object.clone(),
        }
    }

    /// The type of the metadata.
    pub(crate) fn metadata_type(&self) -> Schema {
        self.builtin.metadata()
    }

    /// Prunes and defaults a decoded object; gives what a strict reader objects to.
    pub(crate) fn coerce(&self, value: &mut Value) -> PyResult<Vec<String>> {
        let version = self.definition.version(value.str_at(&["apiVersion"])).unwrap_or_else(|| self.version());
        self.coerce_to(version, value)
    }

    /// Defaults what applying a configuration made.
    pub(crate) fn coerce_applied(&self, value: &mut Value) -> PyResult<()> {
        custom::fill(self.version(), value, &|metadata| self.read_metadata(metadata))
            .map(drop)
            .map_err(|why| decode_error(&hydrofoil_codec::DecodeError::Type(why)))
    }

    fn coerce_to(&self, version: &Version, value: &mut Value) -> PyResult<Vec<String>> {
        custom::decode(&self.definition, version, value, &|metadata| self.read_metadata(metadata))
            .map_err(|why| decode_error(&hydrofoil_codec::DecodeError::Type(why)))
    }

    fn read_metadata(&self, metadata: &Value) -> Result<(Value, Vec<String>), String> {
        let schema = self.builtin.metadata();
        let decoded = json::decode(&schema, &json::encode_any(metadata)).map_err(|e| e.to_string())?;
        let mut canonical = json::parse(&json::encode(&schema, &decoded.value)).map_err(|e| e.to_string())?;
        if let Some(owners) = decoded.value.get("managedFields").filter(|owners| !owners.is_zero()) {
            // Their fields stay text, as they are in what the store has.
            canonical.value.object_at_mut(&[]).set("managedFields", owners.clone());
        }
        let path = |text: &String| text.split('"').nth(1).map(str::to_owned);
        Ok((canonical.value, decoded.strict.iter().filter_map(path).collect()))
    }

    /// Whether the stored bytes of a version are those of this type.
    pub(crate) fn is_form_of(&self, version: &store::Version) -> bool {
        version.form() == self.version().fingerprint || matches!(version.other(self.version().view), Some(None))
    }

    /// The JSON of a stored version in this type.
    pub(crate) fn json<'a>(&self, schema: &Schema, version: &'a store::Version) -> PyResult<Cow<'a, [u8]>> {
        if version.form() == self.version().fingerprint {
            return Ok(Cow::Borrowed(version.json()));
        }
        let view = self.version().view;
        match version.other(view) {
            Some(None) => return Ok(Cow::Borrowed(version.json())),
            Some(Some(json)) => return Ok(Cow::Owned(json.to_vec())),
            None => {}
        }
        let value = self.as_stored(schema, version)?;
        if self.definition.webhook && value.str_at(&["apiVersion"]) != self.version().api_version {
            return Err(conversion_error("webhook", &self.version().api_version));
        }
        let value = self.swapped(value, self.version());
        let json = json::encode(schema, &value);
        version.keep_other(view, &json, self.definition.fields(&value));
        Ok(Cow::Owned(json))
    }

    /// The JSON of a stored version that a webhook has to convert before this type can show it.
    pub(crate) fn source(&self, schema: &Schema, version: &store::Version) -> PyResult<Option<Vec<u8>>> {
        if !self.definition.webhook || version.form() == self.version().fingerprint {
            return Ok(None);
        }
        let value = self.as_stored(schema, version)?;
        let needed = value.str_at(&["apiVersion"]) != self.version().api_version;
        Ok(needed.then(|| json::encode(schema, &value)))
    }

    /// Whether a webhook has yet to convert a stored version. Where none has to, but what field selectors look at is
    /// `undecided`, that is found out.
    pub(crate) fn is_pending(&self, schema: &Schema, version: &store::Version, undecided: bool) -> PyResult<bool> {
        if version.other(self.version().view).is_some() {
            return Ok(false);
        }
        let pending = self.source(schema, version)?.is_some();
        if undecided && !pending {
            self.json(schema, version)?;
        }
        Ok(pending)
    }

    /// Takes what a webhook made of a stored version.
    pub(crate) fn keep(&self, schema: &Schema, version: &store::Version, converted: &[u8]) -> PyResult<()> {
        let mut value = json::decode(schema, converted).map_err(|e| decode_error(&e))?.value;
        custom::prune(&mut value, self.version());
        version.keep_other(self.version().view, &json::encode(schema, &value), self.definition.fields(&value));
        Ok(())
    }

    /// What a webhook made of an object for the store.
    pub(crate) fn converted(&self, schema: &Schema, converted: &[u8]) -> PyResult<Value> {
        let mut value = json::decode(schema, converted).map_err(|e| decode_error(&e))?.value;
        custom::prune(&mut value, self.storage());
        Ok(value)
    }

    /// Whether a webhook has to convert an object before it is stored.
    pub(crate) fn is_foreign(&self) -> bool {
        self.definition.webhook && self.at != self.definition.storage
    }

    /// A stored version as its own API version shows it today.
    pub(crate) fn as_stored(&self, schema: &Schema, version: &store::Version) -> PyResult<Value> {
        let mut value = json::decode(schema, version.json()).map_err(|e| decode_error(&e))?.value;
        let own = value.str_at(&["apiVersion"]);
        let Some(source) = self.definition.version(own) else {
            let text = format!("request to convert CR from an invalid group/version: {own}");
            return Err(conversion_error("invalid", &text));
        };
        self.coerce_to(source, &mut value)?;
        Ok(value)
    }

    /// The same object in another version under the conversion that changes nothing.
    fn swapped(&self, mut value: Value, version: &Version) -> Value {
        if value.str_at(&["apiVersion"]) != version.api_version {
            value.object_at_mut(&[]).set("apiVersion", version.api_version.clone());
            if !self.definition.preserve {
                custom::prune(&mut value, version);
            }
        }
        value
    }

    /// The form of what this type stores. What was written in another version is without the defaults of the stored
    /// one, which reading fills.
    pub(crate) fn stored_form(&self) -> u64 {
        if self.at == self.definition.storage { self.storage().fingerprint } else { WITHOUT_DEFAULTS }
    }

    /// A value of this type in the form that is stored.
    pub(crate) fn to_storage<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        if value.str_at(&["apiVersion"]) == self.storage().api_version {
            return Cow::Borrowed(value);
        }
        Cow::Owned(self.swapped(value.clone(), self.storage()))
    }

    /// What reading a value of this type would show once it were stored. A webhook is not asked.
    pub(crate) fn as_read<'a>(&self, value: &'a Value) -> PyResult<Cow<'a, Value>> {
        let Cow::Owned(mut stored) = self.to_storage(value) else { return Ok(Cow::Borrowed(value)) };
        if self.definition.webhook {
            return Ok(Cow::Borrowed(value));
        }
        self.coerce_to(self.storage(), &mut stored)?;
        Ok(Cow::Owned(self.swapped(stored, self.version())))
    }

    /// The target of a field label, or the text that it has none.
    pub(crate) fn field_target(&self, label: &str) -> Result<FieldTarget, String> {
        match label {
            "metadata.name" => return Ok(FieldTarget::Name),
            "metadata.namespace" if self.definition.namespaced => return Ok(FieldTarget::Namespace),
            _ => {}
        }
        let known = self.version().selectable.iter().any(|l| l == label);
        let at = self.definition.selectable.iter().position(|(l, _)| l == label);
        known.then_some(at).flatten().map(FieldTarget::Index).ok_or_else(|| selectable::unsupported(label))
    }

    /// The values of field selectors of a stored version, as its own API version shows it.
    pub(crate) fn fields(&self, schema: &Schema, version: &store::Version) -> Box<[SmolStr]> {
        self.as_stored(schema, version).map(|value| self.definition.fields(&value)).unwrap_or_default()
    }

    /// The values of field selectors of an object in its stored form, as reading will show it.
    pub(crate) fn index(&self, stored: &Value) -> Box<[SmolStr]> {
        if self.at == self.definition.storage || self.definition.selectable.is_empty() {
            return self.definition.fields(stored);
        }
        let mut read = stored.clone();
        let shown = self.coerce_to(self.storage(), &mut read).map(|_| &read);
        self.definition.fields(shown.unwrap_or(stored))
    }

    /// The form in which field selectors of this type see objects, where it is not the stored one: what a webhook makes
    /// of them may have other values. Without one, what a version shows of a path is what the others show.
    pub(crate) fn view(&self) -> Option<Shown> {
        let foreign = self.at != self.definition.storage || self.definition.stored_in > 1;
        let view = Shown { stored: self.version().fingerprint, form: self.version().view };
        (self.definition.webhook && foreign).then_some(view)
    }
}
