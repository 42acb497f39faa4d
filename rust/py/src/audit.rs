//! Audit events as JSON.

use hydrofoil_codec::audit::{Event, Reference};
use hydrofoil_types::Timestamp;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

/// The nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// Resource, namespace, name, group, version and subresource of an object, then the uid and version in a body.
type Object<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str, &'a str, &'a str);

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "each is a member of an event, and a call is cheaper than an object")]
pub(crate) fn audit_event<'py>(
    py: Python<'py>,
    level: u8,
    id: &str,
    stage: &str,
    uri: &str,
    verb: &str,
    user: &[u8],
    acts: &[u8],
    addresses: Vec<PyBackedStr>,
    agent: &str,
    object: Option<Object<'_>>,
    answer: &[u8],
    received: i64,
    at: i64,
    notes: &[u8],
) -> Bound<'py, PyBytes> {
    let object = object.map(|(resource, namespace, name, group, version, subresource, uid, resource_version)| {
        Reference { resource, namespace, name, uid, group, version, resource_version, subresource }
    });
    let (received, at) = (moment(received), moment(at));
    let event = Event { level, id, stage, uri, verb, user, acts, agent, object, answer, received, at, notes };
    PyBytes::new(py, &event.line(addresses.iter().map(|address| &**address)))
}

/// Return a moment of nanoseconds since 1970.
fn moment(nanoseconds: i64) -> Timestamp {
    Timestamp { seconds: nanoseconds.div_euclid(SECOND), nanos: nanoseconds.rem_euclid(SECOND) as u32 }
}
