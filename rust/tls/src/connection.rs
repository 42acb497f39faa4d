//! One connection: bytes in, bytes out.

use std::sync::Arc;

use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus};

use crate::config::Config;

/// The longest input of a handshake that is kept while a part of it is missing.
const UNREAD: usize = 160 << 10;
/// The capacity of buffers that an idle connection keeps.
const KEPT: usize = 1 << 10;

/// The server's side of one connection. All methods return at once; the caller moves the bytes.
pub struct Connection {
    tls: UnbufferedServerConnection,
    /// Input that is no whole record yet.
    unread: Vec<u8>,
    /// Records for the client.
    outgoing: Vec<u8>,
    /// Text of the client.
    plain: Vec<u8>,
    ended: bool,
}

impl Connection {
    /// A connection whose client has sent nothing so far.
    pub fn new(config: &Config) -> Result<Self, String> {
        let tls = UnbufferedServerConnection::new(Arc::clone(&config.0)).map_err(|e| e.to_string())?;
        Ok(Self { tls, unread: Vec::new(), outgoing: Vec::new(), plain: Vec::new(), ended: false })
    }

    /// Whether the handshake is not complete.
    pub fn handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// Whether the client has ended its side.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The chain that the client presented, in DER.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.tls.peer_certificates().unwrap_or_default().iter().map(AsRef::as_ref)
    }

    /// Take bytes of the client. After an error only `take_outgoing` is of use: it has the alert.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.unread.extend_from_slice(bytes);
        let done = self.drive();
        if self.unread.is_empty() && self.unread.capacity() > KEPT {
            self.unread = Vec::new();
        }
        if done.is_err() {
            // The alert, if the protocol has one for the error.
            self.unread.clear();
            let _ = self.drive();
        } else if self.unread.len() > UNREAD {
            return Err("a record or message of the handshake is too long".to_owned());
        }
        done
    }

    /// The text that the client has sent since the last call.
    pub fn take_plain(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.plain)
    }

    /// The records that are to be sent, without those of `seal`.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.outgoing)
    }

    /// The size of the records of a text, of which some are pending from before; then write them to a buffer of this
    /// size.
    pub fn seal<T>(&mut self, text: &[u8], write: impl FnOnce(usize, &mut dyn FnMut(&mut [u8])) -> T) -> Option<T> {
        if text.is_empty() {
            return None;
        }
        let state = self.tls.process_tls_records(&mut []).state;
        let Ok(ConnectionState::WriteTraffic(mut traffic)) = state else { return None };
        let Err(EncryptError::InsufficientSize(InsufficientSizeError { required_size: size })) =
            traffic.encrypt(text, &mut [])
        else {
            return None;
        };
        let mut sealed = false;
        let made = write(size, &mut |out| sealed = traffic.encrypt(text, out).is_ok_and(|n| n == size));
        sealed.then_some(made)
    }

    /// End this side, if the handshake is complete. The notice is in `take_outgoing`.
    pub fn close(&mut self) {
        let state = self.tls.process_tls_records(&mut []).state;
        let Ok(ConnectionState::WriteTraffic(mut traffic)) = state else { return };
        let mut notice = [0; 128];
        if let Ok(size) = traffic.queue_close_notify(&mut notice) {
            self.outgoing.extend_from_slice(&notice[..size]);
        }
    }

    /// Process input, and collect output.
    fn drive(&mut self) -> Result<(), String> {
        let mut start = 0;
        let result = loop {
            let UnbufferedStatus { mut discard, state, .. } = self.tls.process_tls_records(&mut self.unread[start..]);
            let more = match state {
                Err(e) => break Err(e.to_string()),
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        discard += record.discard;
                        self.plain.extend_from_slice(record.payload);
                    }
                    true
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    let size = match data.encode(&mut []) {
                        Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => required_size,
                        _ => 0,
                    };
                    let from = self.outgoing.len();
                    self.outgoing.resize(from + size, 0);
                    let _ = data.encode(&mut self.outgoing[from..]);
                    true
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    true
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.ended = true;
                    true
                }
                Ok(_) => false,
            };
            start += discard;
            if !more {
                break Ok(());
            }
        };
        self.unread.drain(..start);
        result
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("ended", &self.ended).finish_non_exhaustive()
    }
}
