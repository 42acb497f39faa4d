//! The catalog and its types.

use hydrofoil_engine::kind::{self, Media};
use hydrofoil_engine::write::{self, Apply};
use hydrofoil_engine::{Result, stored};
use hydrofoil_schema::validate;
use hydrofoil_types::Value;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Fallible;
use crate::frame::apart;
use crate::handles::{Catalog, Clock, Conversions, Draft, Made, ResourceType, Stored};

#[pymethods]
impl Catalog {
    #[new]
    fn new(data: &[u8]) -> Fallible<Self> {
        Ok(Self(kind::Catalog::parse(data)?))
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

    #[staticmethod]
    fn nonstructural(definition: &Stored) -> Fallible<Option<(&'static str, String)>> {
        let why = || definition.0.object().map(|object| validate::nonstructural(&object));
        Ok(apart(definition.0.size(), why)?)
    }
}

#[pymethods]
impl ResourceType {
    fn decode(&self, body: &[u8], media: &str) -> Fallible<Made> {
        let media = Media::named(media);
        self.made(body.len(), || self.0.decode(body, media))
    }

    #[pyo3(signature = (clock, live, config, manager, subresource, force, known=None))]
    #[allow(clippy::too_many_arguments, reason = "they are those of the request")]
    fn apply(
        &self,
        clock: &Clock,
        live: Option<&Stored>,
        config: &[u8],
        manager: &str,
        subresource: &str,
        force: bool,
        known: Option<&Conversions>,
    ) -> Fallible<Made> {
        let live = live.map(|live| &live.0);
        let size = config.len() + live.map_or(0, stored::Stored::size);
        let known = known.map(|known| &known.0);
        let apply = Apply { config, manager, subresource, force, now: &clock.0.now().rfc3339(), known };
        let (value, strict) = apart(size, || apply.to(&self.0, live))?;
        Ok((Draft::of_apply(&self.0, value, size), strict))
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
    pub(crate) fn made(&self, size: usize, make: impl FnOnce() -> Result<Decoded> + Send) -> Fallible<Made> {
        let (value, strict) = apart(size, make)?;
        Ok((Draft::new(&self.0, value, size), strict))
    }
}
