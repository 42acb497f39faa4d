//! TLS connections and certificates.

use std::time::Duration;

use hydrofoil_tls as tls;
use parking_lot::Mutex;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::with_fields;

create_exception!(_native, TlsError, PyException, "A connection broke a rule of TLS: what it was.");
create_exception!(_native, CertificateError, PyException, "A certificate is refused: why, in Go's words.");

/// The settings of all TLS connections of a server.
#[pyclass(frozen)]
pub(crate) struct TlsConfig(tls::Config);

/// One TLS connection.
#[pyclass(frozen)]
pub(crate) struct TlsConnection(Mutex<tls::Connection>);

/// The authorities of a bundle of certificates.
#[pyclass(frozen)]
pub(crate) struct ClientCa(tls::ClientCa);

type Named = (Vec<u8>, Vec<u8>, Vec<String>);

#[pymethods]
impl TlsConfig {
    #[new]
    fn new(
        chain: &[u8],
        key: &[u8],
        named: Vec<Named>,
        newest_only: bool,
        suites: Vec<String>,
        authorities: Option<Vec<Vec<u8>>>,
    ) -> PyResult<Self> {
        let named: Vec<_> = named.iter().map(|(chain, key, names)| tls::Pair { chain, key, names }).collect();
        let offer = tls::Offer { newest_only, suites: &suites, authorities: authorities.as_deref() };
        let read = tls::Config::read(&tls::Pair { chain, key, names: &[] }, &named, &offer);
        Ok(Self(read.map_err(PyValueError::new_err)?))
    }
}

#[pymethods]
impl TlsConnection {
    #[new]
    fn new(config: &TlsConfig) -> PyResult<Self> {
        Ok(Self(Mutex::new(tls::Connection::new(&config.0).map_err(PyValueError::new_err)?)))
    }

    /// Take bytes of the client; return its text, and bytes for it. An error has the alert for the client.
    fn receive<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let mut tls = self.0.lock();
        let done = tls.receive(bytes);
        let outgoing = PyBytes::new(py, &tls.take_outgoing());
        match done {
            Ok(()) => Ok((PyBytes::new(py, &tls.take_plain()), outgoing)),
            Err(why) => Err(with_fields::<TlsError>(&why, |fields| fields.set_item("alert", outgoing.unbind()))),
        }
    }

    /// Return the records of a text.
    fn send<'py>(&self, py: Python<'py>, text: &[u8]) -> Bound<'py, PyBytes> {
        let made = self.0.lock().seal(text, |size, fill| {
            PyBytes::new_with(py, size, |out| {
                fill(out);
                Ok(())
            })
        });
        made.and_then(Result::ok).unwrap_or_else(|| PyBytes::new(py, &[]))
    }

    /// Return the notice that this side ends.
    fn close<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut tls = self.0.lock();
        tls.close();
        PyBytes::new(py, &tls.take_outgoing())
    }

    #[getter]
    fn handshaking(&self) -> bool {
        self.0.lock().handshaking()
    }

    #[getter]
    fn ended(&self) -> bool {
        self.0.lock().ended()
    }

    #[getter]
    fn certificates<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.0.lock().certificates().map(|der| PyBytes::new(py, der)).collect()
    }
}

#[pymethods]
impl ClientCa {
    #[new]
    fn new(pem: &[u8]) -> PyResult<Self> {
        Ok(Self(tls::ClientCa::read(pem).map_err(PyValueError::new_err)?))
    }

    #[getter]
    fn names(&self) -> Vec<Vec<u8>> {
        self.0.names().map(<[u8]>::to_vec).collect()
    }

    /// Return name, groups and uid of a client.
    fn verify(&self, chain: Vec<PyBackedBytes>, now: f64) -> PyResult<(String, Vec<String>, String)> {
        let chain: Vec<_> = chain.iter().map(AsRef::as_ref).collect();
        let now = Duration::try_from_secs_f64(now).unwrap_or_default();
        let subject = self.0.verify(&chain, now).map_err(|why| CertificateError::new_err(why.0))?;
        Ok((subject.name, subject.groups, subject.uid))
    }
}

/// Return certificate and key of a new authority.
#[pyfunction]
pub(crate) fn new_authority(now: i64) -> PyResult<(String, String)> {
    let made = tls::authority(now).map_err(PyValueError::new_err)?;
    Ok((made.certificate, made.key))
}

fn purpose<'a>(names: &'a [String], user: Option<&'a (String, String)>) -> tls::Purpose<'a> {
    user.map_or(tls::Purpose::Server(names), |(name, group)| tls::Purpose::Client(name, group))
}

/// Return a certificate and its key for a server with these names, or for a user: name and group.
#[pyfunction]
pub(crate) fn new_certificate(
    authority_key: &[u8],
    names: Vec<String>,
    user: Option<(String, String)>,
    now: i64,
) -> PyResult<(String, String)> {
    let made = tls::identity(authority_key, purpose(&names, user.as_ref()), now).map_err(PyValueError::new_err)?;
    Ok((made.certificate, made.key))
}

/// Report whether a certificate can be used for a while: that of an authority without one above it.
#[pyfunction]
pub(crate) fn usable_certificate(
    certificate: String,
    key: String,
    authority: &[u8],
    names: Vec<String>,
    user: Option<(String, String)>,
    now: i64,
) -> bool {
    let purpose = (!authority.is_empty()).then(|| purpose(&names, user.as_ref()));
    tls::usable(&tls::Identity { certificate, key }, authority, purpose, now)
}

/// Return the last second in which a certificate is valid; `None` for a malformed one.
#[pyfunction]
pub(crate) fn certificate_end(certificate: &[u8]) -> Option<i64> {
    tls::end(certificate)
}

/// Return the SHA-256 under which a token is known.
#[pyfunction]
pub(crate) fn token_digest<'py>(py: Python<'py>, token: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &tls::token::digest(token))
}
