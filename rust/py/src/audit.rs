//! Audit events as JSON.

use hydrofoil_audit::{self as audit, Lines, Record, Reference, Request, Stage};
use hydrofoil_types::Timestamp;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

/// The nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The events of one request.
#[pyclass(frozen)]
pub(crate) struct AuditRecord(Record);

/// Return the record of a request; without a resource it has no object.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "each is a member of an event, and a call is cheaper than an object")]
pub(crate) fn audit_record(
    level: u8,
    id: &str,
    uri: &str,
    verb: &str,
    user: &[u8],
    sources: &[u8],
    received: i64,
    resource: Option<&str>,
    namespace: &str,
    name: &str,
    group: &str,
    version: &str,
    subresource: &str,
) -> AuditRecord {
    let object = resource.map(|resource| Reference {
        resource,
        namespace,
        name,
        group,
        version,
        subresource,
        ..Reference::default()
    });
    let received = moment(received);
    AuditRecord(Record::new(&Request { level, id, uri, verb, user, sources, object, received }))
}

/// Return members about a client: the addresses that it came by, and its user agent.
#[pyfunction]
pub(crate) fn audit_sources<'py>(py: Python<'py>, addresses: Vec<PyBackedStr>, agent: &str) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &audit::sources(addresses.iter().map(|address| &**address), agent))
}

#[pymethods]
impl AuditRecord {
    #[allow(clippy::too_many_arguments, reason = "the same")]
    fn referring(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        group: &str,
        version: &str,
        subresource: &str,
        uid: &str,
        resource_version: &str,
    ) -> Self {
        Self(self.0.referring(&Reference {
            resource,
            namespace,
            name,
            uid,
            group,
            version,
            resource_version,
            subresource,
        }))
    }

    fn line<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        at: i64,
        acts: &[u8],
        answer: &[u8],
        notes: &[u8],
    ) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.0.write(&Stage { name, at: moment(at), acts, answer, notes }, &mut out);
        PyBytes::new(py, &out)
    }
}

/// Records of a log that wait to be written.
///
/// The loop adds, the thread that writes takes all at once: neither waits for the disk with the lock.
#[pyclass(frozen)]
pub(crate) struct AuditLines(Mutex<Lines>);

#[pymethods]
impl AuditLines {
    #[new]
    fn new(most: usize, most_bytes: usize) -> Self {
        Self(Mutex::new(Lines::new(most, most_bytes)))
    }

    fn __len__(&self) -> usize {
        self.0.lock().count()
    }

    fn put(&self, line: &[u8]) -> usize {
        self.0.lock().add(|out| out.extend_from_slice(line))
    }

    #[allow(clippy::too_many_arguments, reason = "the same")]
    fn add(&self, record: &AuditRecord, name: &str, at: i64, acts: &[u8], answer: &[u8], notes: &[u8]) -> usize {
        let stage = Stage { name, at: moment(at), acts, answer, notes };
        self.0.lock().add(|out| record.0.write(&stage, out))
    }

    fn take<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Vec<usize>) {
        let (data, ends) = self.0.lock().take();
        (PyBytes::new(py, &data), ends)
    }
}

/// Return a moment of nanoseconds since 1970.
fn moment(nanoseconds: i64) -> Timestamp {
    Timestamp { seconds: nanoseconds.div_euclid(SECOND), nanos: nanoseconds.rem_euclid(SECOND) as u32 }
}
