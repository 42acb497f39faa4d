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
        self.0.returned()
    }

    fn cheap(&self) -> bool {
        self.0.is_cheap()
    }

    fn short(&self) -> bool {
        self.0.is_short()
    }

    fn chunk(&self, size: usize) -> Fallible<Option<Vec<Bytes>>> {
        Ok(self.0.chunk(size)?)
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

    fn versions(&self, size: usize) -> Vec<Stored> {
        self.0.versions(size).into_iter().map(Stored).collect()
    }

    fn exceeds(&self, size: usize) -> Fallible<bool> {
        Ok(self.0.exceeds(size)?)
    }

    fn packed(&self) -> Self {
        Self(self.0.packed())
    }

    #[getter]
    fn is_packed(&self) -> bool {
        self.0.is_packed()
    }

    fn ahead(&self) -> Fallible<(u64, Rest)> {
        Ok(self.0.ahead()?)
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
        self.0.selector.fields.required(FieldTarget::Name)
    }
}
