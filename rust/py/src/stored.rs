//! A committed version of an object.

use std::sync::Arc;

use hydrofoil_codec::json::scan::{member, value_end};
use hydrofoil_engine::read::{self, Form};
use hydrofoil_engine::stored::{graph_members, outline};
use hydrofoil_engine::{Frame, write};
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::{Bytes, apart};
use crate::handles::{Clock, Draft, Made, ResourceType, Stored};

#[pymethods]
impl Stored {
    #[getter]
    fn namespace(&self) -> &str {
        self.0.version().namespace()
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.version().name()
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.0.version().revision()
    }

    #[getter]
    fn uid(&self) -> String {
        self.0.uid()
    }

    #[getter]
    fn identity(&self) -> usize {
        Arc::as_ptr(self.0.version()).addr()
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    #[getter]
    fn json(&self) -> Fallible<Bytes> {
        Ok(Bytes::make(&self.0.json()?))
    }

    fn member(&self, name: &str) -> Fallible<Option<Bytes>> {
        let json = self.0.json()?;
        let found = member(&json, format!("\"{name}\"").as_bytes()).and_then(|text| text.get(..value_end(text)?));
        Ok(found.map(Bytes::make))
    }

    fn graph_members(&self) -> Bytes {
        Bytes::make(&graph_members(self.0.version()))
    }

    fn outline(&self) -> Bytes {
        Bytes::make(&outline(self.0.version().json()))
    }

    fn body(&self, form: &str, clock: &Clock) -> Fallible<Bytes> {
        let form = Form::parse(form)?;
        if form.is_json() {
            return Ok(read::stored_body(&self.0)?);
        }
        let now = clock.0.now();
        Ok(Bytes::make(&apart(self.size(), || read::body(&self.0, &form, now))?))
    }

    fn to_convert(&self) -> Fallible<Option<Vec<u8>>> {
        Ok(self.0.kind().to_convert(self.0.version())?)
    }

    fn set_converted(&self, json: &[u8]) -> Fallible<()> {
        Ok(self.0.kind().set_converted(self.0.version(), json)?)
    }

    fn seen_as(&self, resource: &ResourceType) -> Self {
        Self(self.0.seen_as(&resource.0))
    }

    fn thaw(&self) -> Fallible<Draft> {
        let value = apart(self.size(), || self.0.thaw())?;
        Ok(Draft::new(self.0.kind(), value, self.size()))
    }

    #[pyo3(signature = (resource, kind, patch, lenient=false))]
    fn patch(&self, resource: &ResourceType, kind: &str, patch: &[u8], lenient: bool) -> Fallible<Made> {
        let size = patch.len() + self.size();
        let patch = write::Patch { patch_type: write::PatchType::by_name(kind), text: patch, lenient };
        resource.make_draft(size, || patch.to(&resource.0, &self.0))
    }
}
