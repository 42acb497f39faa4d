//! A committed version of an object.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use hydrofoil_store::{Draft as StoreDraft, Version};
use hydrofoil_types::{MetaView, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::apart::apart;
use crate::catalog::ResourceType;
use crate::clock::Clock;
use crate::draft::Draft;
use crate::render::{Form, Shape, render};
use crate::typed::Typed;

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

    /// What tells the version apart from every other one for as long as somebody holds it.
    #[getter]
    fn identity(&self) -> usize {
        Arc::as_ptr(&self.version).addr()
    }

    /// How many bytes its canonical JSON is in the store: what working on it costs.
    #[getter]
    fn size(&self) -> usize {
        self.version.json().len()
    }

    /// The canonical JSON without a final newline.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.typed.json(&self.version)?))
    }

    /// The body of an answer in a form: `json`, `table:v1:Metadata`, `metadata:v1`, ...; the clock tells ages.
    fn body<'py>(&self, py: Python<'py>, form: &str, clock: &Clock) -> PyResult<Bound<'py, PyBytes>> {
        let form = Form::parse(form)?;
        if form.is_text() && form.shape == Shape::Object {
            let json = self.typed.json(&self.version)?;
            return PyBytes::new_with(py, json.len() + 1, |out| {
                out[..json.len()].copy_from_slice(&json);
                out[json.len()] = b'\n';
                Ok(())
            });
        }
        let now = clock.0.now();
        let out = apart(py, self.size(), || {
            let mut out = Vec::new();
            render(&self.typed, &form, &self.version, true, now, &mut out)?;
            if form.is_text() {
                out.push(b'\n');
            }
            Ok::<_, PyErr>(out)
        })?;
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
    fn thaw(&self, py: Python<'_>) -> PyResult<Draft> {
        let read = || self.decoded.get().cloned().map_or_else(|| self.typed.read(&self.version), Ok);
        let value = apart(py, self.size(), read)?;
        Ok(Draft::new(Arc::clone(&self.typed), value, self.size()))
    }

    /// The object with a patch laid over it, decoded as a body would be; `kind` is `json`, `merge` or `strategic`, and
    /// the outcome may name another type when it is `lenient`.
    #[pyo3(signature = (resource, kind, patch, lenient=false))]
    fn patch(
        &self,
        py: Python<'_>,
        resource: &ResourceType,
        kind: &str,
        patch: &[u8],
        lenient: bool,
    ) -> PyResult<(Draft, Vec<String>)> {
        let size = patch.len() + self.size();
        let patched = || crate::patch::patched(self, &resource.typed, kind, patch, lenient);
        let (value, strict) = apart(py, size, patched)?;
        Ok((Draft::new(Arc::clone(&resource.typed), value, size), strict))
    }
}
