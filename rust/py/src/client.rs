//! The client of the benchmarks: runs on threads of their own, whose plans and outcomes are JSON.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hydrofoil_client as client;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

create_exception!(_native, ClientError, PyException, "A server could not be asked: why.");

/// A server and the credentials for it.
#[pyclass(frozen)]
pub(crate) struct ClientTarget(client::Target);

/// A run against a server.
#[pyclass(frozen)]
pub(crate) struct ClientRun(client::Run);

type Tls = (String, Option<Vec<u8>>, Option<(Vec<u8>, Vec<u8>)>);

#[pymethods]
impl ClientTarget {
    #[new]
    fn new(
        addresses: Vec<(String, u16)>,
        host: String,
        authorization: Option<String>,
        tls: Option<Tls>,
    ) -> PyResult<Self> {
        let mut read = Vec::new();
        for (address, port) in addresses {
            let address: IpAddr = address.parse().map_err(|_| PyValueError::new_err("not an address"))?;
            read.push(SocketAddr::new(address, port));
        }
        if read.is_empty() {
            return Err(PyValueError::new_err("no address"));
        }
        let tls = match tls {
            None => None,
            Some((name, authorities, identity)) => {
                let identity = identity.as_ref().map(|(chain, key)| (chain.as_slice(), key.as_slice()));
                let given = client::Certificates { authorities: authorities.as_deref(), identity };
                let config = client::settings(&given).map_err(PyValueError::new_err)?;
                Some((config, client::server_name(&name).map_err(PyValueError::new_err)?))
            }
        };
        Ok(Self(client::Target::new(read, host, authorization, tls)))
    }
}

fn phase_name(phase: client::Phase) -> &'static str {
    match phase {
        client::Phase::Opening => "opening",
        client::Phase::Ready => "ready",
        client::Phase::Running => "running",
        client::Phase::Closing => "closing",
        client::Phase::Over => "over",
    }
}

type Progress = (&'static str, usize, u64, f64, u64, u64, Option<(f64, f64)>);

#[pymethods]
impl ClientRun {
    #[new]
    fn new(target: &ClientTarget, plan: &[u8]) -> PyResult<Self> {
        let plan = client::plan(plan).map_err(PyValueError::new_err)?;
        Ok(Self(client::Run::start(&target.0, plan).map_err(ClientError::new_err)?))
    }

    fn go(&self) {
        self.0.go();
    }

    fn stop(&self) {
        self.0.stop();
    }

    /// Wait until the run is past the present phase, or for a while; return the phase.
    fn wait(&self, py: Python<'_>, phase: &str, seconds: f64) -> &'static str {
        let all = [client::Phase::Opening, client::Phase::Ready, client::Phase::Running, client::Phase::Closing];
        let phase = all.into_iter().find(|known| phase_name(*known) == phase).unwrap_or(client::Phase::Over);
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        phase_name(py.detach(|| self.0.wait(phase, patience)))
    }

    /// Return phase, agents that are ready, operations, seconds, bytes received and sent, and recent p50 and p99.
    fn progress(&self) -> Progress {
        let now = self.0.progress();
        (phase_name(now.phase), now.opened, now.ops, now.seconds, now.received, now.sent, now.latency)
    }

    /// Wait for the end; return the outcome, and status and body of a single request.
    #[allow(clippy::type_complexity, reason = "a tuple of plain values")]
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Option<(u16, Bound<'py, PyBytes>)>)> {
        let Some((outcome, answer)) = py.detach(|| self.0.outcome()) else {
            return Err(PyValueError::new_err("the outcome was taken before"));
        };
        let answer = answer.map(|(status, body)| (status, PyBytes::new(py, &body)));
        Ok((PyBytes::new(py, &outcome.json()), answer))
    }
}
