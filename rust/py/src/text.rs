//! Small conversions of texts.

use hydrofoil_codec::{cbor, json, openapi, proto, yaml};
use hydrofoil_store::ContinueToken;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::apart::apart;
use crate::error::decode_error;

/// JSON as YAML.
#[pyfunction]
pub(crate) fn json_to_yaml<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let made = apart(py, data.len(), || json::parse(data).map(|parsed| yaml::write(&parsed.value)));
    Ok(PyBytes::new(py, &made.map_err(|e| decode_error(&e))?))
}

/// YAML as JSON.
#[pyfunction]
pub(crate) fn yaml_to_json<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let made = apart(py, data.len(), || yaml::parse(data).map(|parsed| json::encode_any(&parsed.value)));
    Ok(PyBytes::new(py, &made.map_err(|e| decode_error(&e))?))
}

/// JSON as CBOR behind its tag.
#[pyfunction]
pub(crate) fn json_to_cbor<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let made = apart(py, data.len(), || json::parse(data).map(|parsed| cbor::tagged(None, &parsed.value)));
    Ok(PyBytes::new(py, &made.map_err(|e| decode_error(&e))?))
}

/// CBOR as JSON.
#[pyfunction]
pub(crate) fn cbor_to_json<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &apart(py, data.len(), || cbor::to_json(data)).map_err(|e| decode_error(&e))?))
}

/// A watch event of CBOR around a whole object.
#[pyfunction]
pub(crate) fn cbor_event<'py>(py: Python<'py>, kind: &str, object: &[u8]) -> Bound<'py, PyBytes> {
    let mut out = Vec::new();
    cbor::event(kind, object, &mut out);
    PyBytes::new(py, &out)
}

/// An `OpenAPI` document, version 2 or 3, as protobuf.
#[pyfunction]
pub(crate) fn openapi_protobuf<'py>(py: Python<'py>, document: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let form = py.detach(|| openapi::to_protobuf(document)).map_err(|e| decode_error(&e))?;
    Ok(PyBytes::new(py, &form))
}

/// Compact JSON with two spaces of indent a level.
#[pyfunction]
pub(crate) fn pretty<'py>(py: Python<'py>, data: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &apart(py, data.len(), || json::indent(data)))
}

/// A watch frame of protobuf around an enveloped object.
#[pyfunction]
pub(crate) fn protobuf_event<'py>(py: Python<'py>, kind: &str, object: &[u8]) -> Bound<'py, PyBytes> {
    let mut out = Vec::new();
    proto::watch_event(kind, object, &mut out);
    PyBytes::new(py, &out)
}

/// Reads a continue token: its revision and the key to start at.
#[pyfunction]
pub(crate) fn decode_continue(token: &str) -> PyResult<(i64, String)> {
    let token = ContinueToken::decode(token).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok((token.revision, token.start))
}

/// Writes a continue token for a start key as `decode_continue` gives it.
#[pyfunction]
pub(crate) fn encode_continue(revision: i64, start: &str) -> String {
    ContinueToken { revision, start: start.to_owned() }.encode()
}

/// Seconds of a Go duration such as `1h5m` or `1.5s`; `None` when it is none.
#[pyfunction]
pub(crate) fn duration(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        total += number
            * match &rest[..end] {
                "ns" => 1e-9,
                "us" | "µs" | "μs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[end..];
    }
    Some(sign * total)
}
