//! The client's side of one TLS connection: records are decrypted where they were received.

use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus};

/// One connection.
pub(crate) struct Tls {
    connection: UnbufferedClientConnection,
    /// The start of a record whose end has not arrived.
    unread: Vec<u8>,
    /// Text that waits for the end of the handshake.
    waiting: Vec<u8>,
    pub(crate) ready: bool,
    pub(crate) ended: bool,
}

impl Tls {
    pub(crate) fn new(config: &Arc<rustls::ClientConfig>, name: &ServerName<'static>) -> Result<Self, String> {
        let connection =
            UnbufferedClientConnection::new(Arc::clone(config), name.clone()).map_err(|e| e.to_string())?;
        Ok(Self { connection, unread: Vec::new(), waiting: Vec::new(), ready: false, ended: false })
    }

    /// Put the start of a record before the bytes that arrive next; return its size.
    pub(crate) fn restore(&self, buffer: &mut [u8]) -> usize {
        buffer[..self.unread.len()].copy_from_slice(&self.unread);
        self.unread.len()
    }

    /// Send a text, now or after the handshake.
    pub(crate) fn send(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        self.waiting.extend_from_slice(text);
        self.drive(&mut [], out, &mut |_| Ok::<(), String>(()))
    }

    /// Take records, with the start that `restore` put before them.
    pub(crate) fn receive<E: From<String>>(
        &mut self,
        records: &mut [u8],
        out: &mut Vec<u8>,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.unread.clear();
        self.drive(records, out, visit)
    }

    fn drive<E: From<String>>(
        &mut self,
        records: &mut [u8],
        out: &mut Vec<u8>,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        loop {
            let UnbufferedStatus { mut discard, state, .. } =
                self.connection.process_tls_records(&mut records[start..]);
            let more = match state {
                Err(e) => return Err(E::from(format!("TLS: {e}"))),
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(|e| E::from(format!("TLS: {e}")))?;
                        discard += record.discard;
                        visit(record.payload)?;
                    }
                    true
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    let size = match data.encode(&mut []) {
                        Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => required_size,
                        _ => 0,
                    };
                    let from = out.len();
                    out.resize(from + size, 0);
                    let _ = data.encode(&mut out[from..]);
                    true
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    true
                }
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    self.ready = true;
                    if !self.waiting.is_empty() {
                        let from = out.len();
                        if let Err(EncryptError::InsufficientSize(InsufficientSizeError { required_size })) =
                            traffic.encrypt(&self.waiting, &mut [])
                        {
                            out.resize(from + required_size, 0);
                            let _ = traffic.encrypt(&self.waiting, &mut out[from..]);
                        }
                        self.waiting.clear();
                    }
                    false
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.ended = true;
                    true
                }
                Ok(_) => false,
            };
            start += discard;
            if !more {
                break;
            }
        }
        self.unread.extend_from_slice(&records[start..]);
        if self.unread.is_empty() && self.unread.capacity() > 1 << 10 {
            self.unread = Vec::new();
        }
        Ok(())
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("ready", &self.ready).finish_non_exhaustive()
    }
}
