//! A committed version of an object.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hydrofoil_codec::json;
use hydrofoil_merge as merge;
use hydrofoil_store::{Draft as StoreDraft, Version};
use hydrofoil_types::{MetaView, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::catalog::{ResourceType, Typed};
use crate::draft::Draft;
use crate::error::{decode_error, patch_error};
use crate::render::{Form, Shape, render, value_end};

/// One immutable version of one object.
#[pyclass(frozen)]
pub(crate) struct Stored {
    pub(crate) typed: Arc<Typed>,
    pub(crate) version: Arc<Version>,
    /// The decoded object: one write asks for it several times, and this handle lives no longer than the write.
    decoded: OnceLock<Value>,
}

/// The key of an object in its shard.
pub(crate) fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

impl Stored {
    pub(crate) fn new(typed: &Arc<Typed>, version: Arc<Version>) -> Self {
        Self { typed: Arc::clone(typed), version, decoded: OnceLock::new() }
    }

    /// A version that no store holds.
    pub(crate) fn preview(typed: &Arc<Typed>, key: &str, revision: u64, draft: StoreDraft) -> Self {
        Self::new(typed, Arc::new(Version::detached(key, revision, draft)))
    }

    /// The object in loose form, decoded once for its own type.
    pub(crate) fn value(&self, typed: &Arc<Typed>) -> PyResult<Cow<'_, Value>> {
        if !Arc::ptr_eq(typed, &self.typed) {
            return typed.read(&self.version).map(Cow::Owned);
        }
        if let Some(decoded) = self.decoded.get() {
            return Ok(Cow::Borrowed(decoded));
        }
        let decoded = typed.read(&self.version)?;
        Ok(Cow::Borrowed(self.decoded.get_or_init(|| decoded)))
    }
}

#[pymethods]
impl Stored {
    #[getter]
    fn namespace(&self) -> &str {
        self.version.namespace()
    }

    #[getter]
    fn name(&self) -> &str {
        self.version.name()
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.version.revision()
    }

    #[getter]
    fn uid(&self) -> PyResult<String> {
        Ok(MetaView::of(&*self.value(&self.typed)?).uid().to_owned())
    }

    /// The canonical JSON without a final newline.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.typed.json(&self.version)?))
    }

    /// The body of an answer in a form: `json`, `table:v1:Metadata`, `metadata:v1`, ...
    fn body<'py>(&self, py: Python<'py>, form: &str) -> PyResult<Bound<'py, PyBytes>> {
        let form = Form::parse(form)?;
        if form.is_text() && form.shape == Shape::Object {
            let json = self.typed.json(&self.version)?;
            return PyBytes::new_with(py, json.len() + 1, |out| {
                out[..json.len()].copy_from_slice(&json);
                out[json.len()] = b'\n';
                Ok(())
            });
        }
        let mut out = Vec::new();
        render(&self.typed, &form, &self.version, true, &mut out)?;
        if form.is_text() {
            out.push(b'\n');
        }
        Ok(PyBytes::new(py, &out))
    }

    /// The JSON that a webhook has to convert before the object can be shown, if one has to; known or not.
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(custom) = &self.typed.custom else { return Ok(None) };
        Ok(custom.source(&self.typed.schema, &self.version)?.map(|json| PyBytes::new(py, &json)))
    }

    /// Takes what a webhook made of it.
    fn keep(&self, json: &[u8]) -> PyResult<()> {
        match &self.typed.custom {
            Some(custom) => custom.keep(&self.typed.schema, &self.version, json),
            None => Ok(()),
        }
    }

    /// The same object for change.
    fn thaw(&self) -> PyResult<Draft> {
        let value = self.decoded.get().cloned().map_or_else(|| self.typed.read(&self.version), Ok)?;
        Ok(Draft::new(Arc::clone(&self.typed), value))
    }

    /// The object with a patch laid over it, decoded as a body would be; `kind` is `json`, `merge` or `strategic`.
    fn patch(&self, resource: &ResourceType, kind: &str, patch: &[u8]) -> PyResult<(Draft, Vec<String>)> {
        let typed = &resource.typed;
        let patch = json::parse(patch).map_err(|e| decode_error(&e))?;
        let mut strict = patch.strict;
        let patch = patch.value;
        let text = typed.json(&self.version)?;
        // Most patches leave the owners alone, who make up half of many objects: these are not read and written again.
        let owners = if names_owners(&patch) { None } else { owners(&text) };
        let text = match &owners {
            Some(at) => Cow::Owned([&text[..at.start], &text[at.end..]].concat()),
            None => text,
        };
        let mut value = json::parse(&text).map_err(|e| decode_error(&e))?.value;
        if kind == "json" {
            for text in &mut strict {
                text.insert_str(0, "json patch ");
            }
            strict.extend(merge::json_patch_unknown(&patch));
            merge::json_patch(&mut value, &patch).map_err(|e| patch_error(&e))?;
        } else {
            if patch.as_object().is_none() {
                let found = if patch.as_array().is_some() { "array" } else { "value" };
                let text = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
                return Err(patch_error(&merge::PatchError::Malformed(text)));
            }
            if kind == "merge" {
                merge::json_merge(&mut value, patch);
            } else {
                merge::strategic(typed.owned(), &mut value, patch).map_err(|e| patch_error(&e))?;
            }
        }
        let (mut value, found) = typed.decode(&json::encode_any(&value), "json")?;
        strict.extend(found);
        if owners.is_some()
            && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
            && let Some(kept) = self.value(typed)?.at(&["metadata", "managedFields"])
        {
            metadata.set("managedFields", kept.clone());
        }
        Ok((Draft::new(Arc::clone(typed), value), strict))
    }
}

/// Whether a patch says anything of managed fields, as a member or in a path.
fn names_owners(patch: &Value) -> bool {
    match patch {
        Value::Array(items) => items.iter().any(names_owners),
        Value::Object(members) => members.iter().any(|(name, value)| {
            name == "managedFields"
                || names_owners(value)
                || (matches!(name.as_str(), "path" | "from") && value.as_str().is_some_and(touches))
        }),
        _ => false,
    }
}

/// Whether a pointer of a JSON patch may lead to managed fields: to them, or to what contains them.
fn touches(pointer: &str) -> bool {
    pointer.contains("managedFields") || matches!(pointer, "" | "/metadata")
}

/// Where the member `managedFields` of the metadata stands in the JSON of an object, with one comma.
///
/// Quotes within texts are escaped, so that the name with bare quotes before a list is the member.
fn owners(text: &[u8]) -> Option<Range<usize>> {
    const NAME: &[u8] = br#","managedFields":["#;
    let start = memchr::memmem::find(text, NAME)?;
    let length = value_end(&text[start + NAME.len() - 1..])?;
    Some(start..start + NAME.len() - 1 + length)
}
