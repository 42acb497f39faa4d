//! Lists, given in pieces.

use std::sync::Arc;

use hydrofoil_codec::proto;
use hydrofoil_store::Page;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::catalog::Typed;
use crate::render::{Form, render, table_head};
use crate::stored::Stored;

/// The cursor of one list.
#[pyclass(frozen)]
pub(crate) struct ListCursor {
    typed: Arc<Typed>,
    form: Form,
    state: Mutex<(Page, bool)>,
}

impl ListCursor {
    pub(crate) fn new(typed: Arc<Typed>, form: Form, page: Page) -> Self {
        Self { typed, form, state: Mutex::new((page, false)) }
    }
}

#[pymethods]
impl ListCursor {
    /// The revision of the list.
    #[getter]
    fn revision(&self) -> u64 {
        self.state.lock().0.revision()
    }

    /// About `size` bytes of items, comma-joined with what went before; `None` at the end.
    fn chunk<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = self.state.lock();
        let (page, begun) = &mut *state;
        let mut out = Vec::with_capacity(size + size / 4);
        let mut failed = None;
        if !page.is_full() {
            page.take(|version| {
                if std::mem::replace(begun, true) && self.form != Form::Protobuf {
                    out.push(b',');
                }
                if let Err(e) = render(&self.typed, &self.form, version, false, &mut out) {
                    failed = Some(e);
                    return false;
                }
                out.len() < size
            });
        }
        match failed {
            Some(e) => Err(e),
            None => Ok((!out.is_empty()).then(|| PyBytes::new(py, &out))),
        }
    }

    /// The versions selected, at most `size` of them.
    fn versions(&self, size: usize) -> Vec<Stored> {
        let mut out = Vec::new();
        self.state.lock().0.take(|v| {
            out.push(Stored::new(&self.typed, Arc::clone(v)));
            out.len() < size
        });
        out
    }

    /// After a full page: the key to go on at and how many objects follow, if that is known.
    fn rest(&self) -> Option<(String, Option<usize>)> {
        let state = self.state.lock();
        state.0.rest().map(|(last, remaining)| (format!("{last}\0"), remaining))
    }

    /// A protobuf list of items that `chunk` gave: the whole envelope.
    fn protobuf<'py>(&self, py: Python<'py>, items: &[u8], token: &str, remaining: Option<i64>) -> Bound<'py, PyBytes> {
        let mut raw = proto::list_head(&self.revision().to_string(), token, remaining);
        raw.extend_from_slice(items);
        PyBytes::new(py, &proto::envelope(&self.typed.api_version, &self.typed.resource.list_kind, &raw))
    }

    /// What stands before the first item. `rest` holds further members of the metadata.
    fn head<'py>(&self, py: Python<'py>, rest: &str) -> Bound<'py, PyBytes> {
        let revision = self.revision().to_string();
        let (kind, version) = match &self.form {
            Form::Table { version, .. } => {
                return PyBytes::new(py, &table_head(&self.typed, version, &revision, rest, true));
            }
            Form::Metadata(version) => ("PartialObjectMetadataList", format!("meta.k8s.io/{version}")),
            Form::Json | Form::Protobuf => (self.typed.resource.list_kind.as_str(), self.typed.api_version.to_string()),
        };
        let head = format!(
            r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{{"resourceVersion":"{revision}"{rest}}},"items":["#
        );
        PyBytes::new(py, head.as_bytes())
    }
}
