//! Lists, returned in pieces, and their selections.

use std::sync::Arc;

use hydrofoil_engine::read::{self, Rest};
use hydrofoil_store::FieldTarget;
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::{Bytes, apart};
use crate::handles::{ListCursor, ResourceType, Selector, Stored};

#[pymethods]
impl ListCursor {
    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision()
    }

    #[getter]
    fn returned(&self) -> u64 {
        self.0.item_count()
    }

    #[getter]
    fn fetched(&self) -> u64 {
        self.0.fetch_count()
    }

    fn cheap(&self) -> bool {
        self.0.is_cheap()
    }

    fn short(&self) -> bool {
        self.0.is_short()
    }

    fn near(&self) -> bool {
        self.0.is_near()
    }

    #[pyo3(signature = (size, near = false))]
    fn chunk(&self, size: usize, near: bool) -> Fallible<Option<Vec<Bytes>>> {
        Ok(self.0.chunk(size, near)?)
    }

    fn open(&self, text: &[u8]) -> Bytes {
        self.0.open(text)
    }

    fn close(&self, text: &[u8]) -> Bytes {
        self.0.close(text)
    }

    fn pending(&self) -> Fallible<Vec<Stored>> {
        Ok(self.0.pending()?.into_iter().map(Stored).collect())
    }

    #[pyo3(signature = (size, near = false))]
    fn versions(&self, size: usize, near: bool) -> Vec<Stored> {
        self.0.versions(size, near).into_iter().map(Stored).collect()
    }

    #[pyo3(signature = (size, near = false))]
    fn exceeds(&self, size: usize, near: bool) -> Fallible<Option<bool>> {
        Ok(self.0.exceeds(size, near)?)
    }

    fn packed(&self) -> Self {
        Self(self.0.with_gzip())
    }

    #[getter]
    fn is_packed(&self) -> bool {
        self.0.is_packed()
    }

    #[pyo3(signature = (near = false))]
    fn ahead(&self, near: bool) -> Fallible<Option<(u64, Rest)>> {
        Ok(self.0.ahead(near)?)
    }

    fn envelope(&self, items: u64, token: &str, remaining: Option<i64>) -> Vec<u8> {
        self.0.protobuf_head(items, token, remaining)
    }

    fn cbor_head(&self, items: u64, rest: &str) -> Fallible<Vec<u8>> {
        Ok(self.0.cbor_head(items, rest)?)
    }

    fn head(&self, rest: &str) -> Vec<u8> {
        self.0.head(rest)
    }
}

#[pymethods]
impl Selector {
    #[new]
    fn new(resource: &ResourceType, namespace: &str, labels: &str, fields: &str) -> Fallible<Self> {
        let parse = || read::filter(&*resource.0, namespace, labels, fields);
        Ok(Self(Arc::new(apart(labels.len() + fields.len(), parse)?)))
    }

    fn matches(&self, stored: &Stored) -> bool {
        self.0.selector.matches(stored.0.version())
    }

    #[getter]
    fn plain(&self) -> bool {
        self.0.selector.is_plain()
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.0.selector.fields.required_value(FieldTarget::Name)
    }
}
