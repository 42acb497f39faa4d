//! The server: its address, its certificates, and how requests are written to it.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use rustls::pki_types::ServerName;

use crate::known::Known;

/// A server and the credentials for it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its addresses; the first that answers is used.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The value of `Host`.
    pub(crate) host: String,
    /// The value of `Authorization`, if there is one.
    pub(crate) authorization: Option<String>,
    /// The settings of TLS and the name in the certificate.
    pub(crate) tls: Option<(Arc<rustls::ClientConfig>, ServerName<'static>)>,
    /// The seeded objects, as the last run knew them.
    known: Arc<Mutex<Known>>,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) accept: &'a str,
    pub(crate) gzip: bool,
    /// The media type and the body.
    pub(crate) body: Option<(&'a str, &'a [u8])>,
}

impl Target {
    /// A server at these addresses.
    pub fn new(
        addresses: Vec<SocketAddr>,
        host: String,
        authorization: Option<String>,
        tls: Option<(Arc<rustls::ClientConfig>, ServerName<'static>)>,
    ) -> Self {
        Self { addresses, host, authorization, tls, known: Arc::default() }
    }

    /// Take what is known of the objects of a run.
    pub(crate) fn take(&self, run: &str) -> Known {
        let known = std::mem::take(&mut *self.known.lock());
        if known.run == run { known } else { Known::new(run) }
    }

    /// Keep it for the next one.
    pub(crate) fn keep(&self, known: Known) {
        *self.known.lock() = known;
    }

    pub(crate) fn write(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        let mut line = |parts: &[&str]| {
            for part in parts {
                out.extend_from_slice(part.as_bytes());
            }
            out.extend_from_slice(b"\r\n");
        };
        line(&[request.method, " ", request.path, " HTTP/1.1"]);
        line(&["Host: ", &self.host]);
        line(&["User-Agent: hydrofoil-bench"]);
        if let Some(value) = &self.authorization {
            line(&["Authorization: ", value]);
        }
        if !request.accept.is_empty() {
            line(&["Accept: ", request.accept]);
        }
        if request.gzip {
            line(&["Accept-Encoding: gzip"]);
        }
        if let Some((media, body)) = request.body {
            line(&["Content-Type: ", media]);
            line(&["Content-Length: ", &body.len().to_string()]);
        }
        line(&[]);
        if let Some((_, body)) = request.body {
            out.extend_from_slice(body);
        }
    }
}
