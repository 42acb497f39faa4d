//! Label and field selectors of one request.

use std::sync::Arc;

use hydrofoil_store as store;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::apart::apart;
use crate::catalog::ResourceType;
use crate::custom::Custom;
use crate::stored::Stored;

/// What a list or watch selects.
#[pyclass(frozen)]
pub(crate) struct Selector {
    pub(crate) inner: Arc<store::Filter>,
}

#[pymethods]
impl Selector {
    /// Parses the selectors; the error's text is upstream's. `namespace` is empty for all of them.
    #[new]
    fn new(py: Python<'_>, resource: &ResourceType, namespace: &str, labels: &str, fields: &str) -> PyResult<Self> {
        let parsed = apart(py, labels.len() + fields.len(), || {
            let labels = store::LabelSelector::parse(labels)?;
            Ok((labels, store::FieldSelector::parse(fields, |l| resource.typed.field_target(l))?))
        });
        let (labels_parsed, fields_parsed) = parsed.map_err(PyValueError::new_err::<String>)?;
        let selector = store::Selector {
            namespace: (!namespace.is_empty()).then(|| Arc::from(namespace)),
            labels: labels_parsed,
            fields: fields_parsed.seen_in(resource.typed.custom.as_ref().and_then(Custom::view)),
        };
        let identity = Arc::from(format!("{namespace}\0{labels}\0{fields}"));
        Ok(Self { inner: Arc::new(store::Filter { selector, identity }) })
    }

    /// Whether it selects an object.
    fn matches(&self, stored: &Stored) -> bool {
        self.inner.selector.matches(&stored.version)
    }

    /// Whether it selects all objects of its namespace.
    #[getter]
    fn plain(&self) -> bool {
        self.inner.selector.is_plain()
    }

    /// The name that `metadata.name=` requires.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.inner.selector.fields.required(store::FieldTarget::Name)
    }
}
