//! Audit events as JSON.

use hydrofoil_codec::audit::{Record, Reference, Request, Stage};
use hydrofoil_types::Timestamp;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

/// The nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// Resource, namespace, name, group, version and subresource of an object, then the uid and version in a body.
type Object<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str, &'a str, &'a str);

/// The events of one request.
#[pyclass(frozen)]
pub(crate) struct AuditRecord(Record);

#[pymethods]
impl AuditRecord {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "each is a member of an event, and a call is cheaper than an object")]
    fn new(
        level: u8,
        id: &str,
        uri: &str,
        verb: &str,
        user: &[u8],
        addresses: Vec<PyBackedStr>,
        agent: &str,
        object: Option<Object<'_>>,
        received: i64,
    ) -> Self {
        let object = object.map(reference);
        let request = Request { level, id, uri, verb, user, agent, object, received: moment(received) };
        Self(Record::new(&request, addresses.iter().map(|address| &**address)))
    }

    #[pyo3(signature = (name, at, acts, answer, notes, object=None))]
    #[allow(clippy::too_many_arguments, reason = "the same")]
    fn line<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        at: i64,
        acts: &[u8],
        answer: &[u8],
        notes: &[u8],
        object: Option<Object<'_>>,
    ) -> Bound<'py, PyBytes> {
        let stage = Stage { name, at: moment(at), acts, object: object.map(reference), answer, notes };
        PyBytes::new(py, &self.0.line(&stage))
    }
}

fn reference(object: Object<'_>) -> Reference<'_> {
    let (resource, namespace, name, group, version, subresource, uid, resource_version) = object;
    Reference { resource, namespace, name, uid, group, version, resource_version, subresource }
}

/// Return a moment of nanoseconds since 1970.
fn moment(nanoseconds: i64) -> Timestamp {
    Timestamp { seconds: nanoseconds.div_euclid(SECOND), nanos: nanoseconds.rem_euclid(SECOND) as u32 }
}
