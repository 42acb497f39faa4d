//! The catalog and its types.

use std::sync::Arc;

use hydrofoil_codec::json;
use hydrofoil_engine::Result;
use hydrofoil_engine::kind::{self, Media};
use hydrofoil_engine::write;
use hydrofoil_schema::{Release, validate};
use hydrofoil_types::Value;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::error::Fallible;
use crate::frame::apart;
use crate::handles::{Catalog, Clock, Draft, Made, ObjectMeta, ResourceType, Stored};
use crate::step::{Configuration, Step, Work};

#[pymethods]
impl Catalog {
    #[new]
    fn new(data: &[u8], minor: u8, gates: Vec<PyBackedStr>) -> Fallible<Self> {
        let release = Release::new(minor, gates.iter().map(|name| &**name));
        Ok(Self(kind::Catalog::parse(data, release)?))
    }

    fn resource(&self, group: &str, version: &str, plural: &str) -> Fallible<ResourceType> {
        Ok(ResourceType(self.0.resource(group, version, plural)?))
    }

    fn kind(&self, group: &str, version: &str, kind: &str, type_name: &str) -> Fallible<ResourceType> {
        Ok(ResourceType(self.0.kind(group, version, kind, type_name)?))
    }

    fn custom(&self, definition: &Stored) -> Fallible<Vec<(String, ResourceType)>> {
        let made = || definition.0.object().map(|object| self.0.custom(&object));
        let made = apart(definition.0.size(), made)?;
        Ok(made.into_iter().map(|(name, kind)| (name, ResourceType(kind))).collect())
    }

    fn custom_of(&self, definition: &[u8]) -> Fallible<Vec<(String, ResourceType)>> {
        let object = json::parse(definition).map_err(hydrofoil_engine::Error::from)?.value;
        Ok(self.0.custom(&object).into_iter().map(|(name, kind)| (name, ResourceType(kind))).collect())
    }

    #[staticmethod]
    fn nonstructural(definition: &Stored) -> Fallible<Option<(&'static str, String)>> {
        let why = || definition.0.object().map(|object| validate::nonstructural(&object));
        Ok(apart(definition.0.size(), why)?)
    }
}

#[pymethods]
impl ResourceType {
    /// Decode a body; return its metadata, too.
    fn read(&self, body: &[u8], media: &str) -> Fallible<(Draft, ObjectMeta, Vec<String>)> {
        let (draft, strict) = self.decode(body, media)?;
        let meta = draft.metadata();
        Ok((draft, meta, strict))
    }

    fn decode(&self, body: &[u8], media: &str) -> Fallible<Made> {
        let media = Media::by_name(media);
        self.make_draft(body.len(), || self.0.decode(body, media))
    }

    #[allow(clippy::too_many_arguments, reason = "they are those of the request")]
    fn apply(
        &self,
        clock: &Clock,
        live: Option<Py<Stored>>,
        config: PyBackedBytes,
        manager: String,
        subresource: String,
        force: bool,
    ) -> Step {
        let (kind, now) = (Arc::clone(&self.0), clock.0.now().rfc3339());
        Step::new(Work::Apply(Configuration { kind, live, text: config, manager, subresource, force, now }))
    }

    fn overlay(&self, object: &[u8], config: &[u8]) -> Fallible<Vec<u8>> {
        Ok(apart(object.len(), || write::overlay(&*self.0, object, config))?)
    }

    fn empty(&self) -> Draft {
        Draft::new(&self.0, Value::object(), 0)
    }

    #[getter]
    fn kind(&self) -> &str {
        &self.0.info().kind.kind
    }

    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.fingerprint().digest().unwrap_or_default())
    }

    #[getter]
    fn api_version(&self) -> &str {
        &self.0.info().api_version
    }

    fn traits(&self) -> Vec<&'static str> {
        self.0.traits().names()
    }
}

/// An object in loose form, and its errors of strict field validation.
type Decoded = (Value, Vec<String>);

impl ResourceType {
    /// Return the draft of an object decoded from a number of bytes.
    pub(crate) fn make_draft(&self, size: usize, make: impl FnOnce() -> Result<Decoded> + Send) -> Fallible<Made> {
        let (value, strict) = apart(size, make)?;
        Ok((Draft::new(&self.0, value, size), strict))
    }
}
