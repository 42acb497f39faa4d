//! One connection to the server, which never blocks.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::target::Target;
use crate::tls::Tls;
use crate::wrong::Wrong;

/// Why a connection is of no further use.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It ended or broke: another one may do.
    Lost(String),
    /// Its answer is wrong.
    Wrong(Wrong),
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Lost(why)
    }
}

impl From<Wrong> for Fault {
    fn from(why: Wrong) -> Self {
        Self::Wrong(why)
    }
}

/// Bytes on the wire, TLS included.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

/// The result of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read1 {
    /// There may be more.
    More,
    /// All that has arrived is read.
    Drained,
    /// The server has ended the connection.
    Ended,
}

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    tls: Option<Tls>,
    out: Vec<u8>,
    sent: usize,
    connected: bool,
}

impl Connection {
    pub(crate) fn open(
        target: &Target,
        address: SocketAddr,
        registry: &Registry,
        token: Token,
    ) -> Result<Self, String> {
        let mut stream = TcpStream::connect(address).map_err(|e| e.to_string())?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE).map_err(|e| e.to_string())?;
        let tls = match &target.tls {
            Some((config, name)) => Some(Tls::new(config, name)?),
            None => None,
        };
        Ok(Self { stream, tls, out: Vec::new(), sent: 0, connected: false })
    }

    pub(crate) fn close(mut self, registry: &Registry) {
        let _ = registry.deregister(&mut self.stream);
    }

    /// Whether requests can be sent: the connection is there, and its handshake complete.
    pub(crate) fn ready(&self) -> bool {
        self.connected && self.tls.as_ref().is_none_or(|tls| tls.ready)
    }

    /// Send bytes, as far as the socket takes them; the rest follows once it is writable.
    pub(crate) fn send(&mut self, text: &[u8], meter: &mut Meter) -> Result<(), Fault> {
        match &mut self.tls {
            Some(tls) => tls.send(text, &mut self.out)?,
            None if self.out.is_empty() && self.connected => {
                // The usual case: one call, no copy.
                let written = self.write(text)?;
                meter.sent += written as u64;
                self.out.extend_from_slice(&text[written..]);
                return Ok(());
            }
            None => self.out.extend_from_slice(text),
        }
        self.flush(meter)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        loop {
            match self.stream.write(bytes) {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(0),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Fault::Lost(e.to_string())),
            }
        }
    }

    /// The socket is writable: find out whether it is connected, and send what waits.
    pub(crate) fn writable(&mut self, meter: &mut Meter) -> Result<(), Fault> {
        if !self.connected {
            if let Ok(Some(e)) | Err(e) = self.stream.take_error() {
                return Err(Fault::Lost(e.to_string()));
            }
            match self.stream.peer_addr() {
                Ok(_) => self.connected = true,
                Err(e) if e.kind() == ErrorKind::NotConnected => return Ok(()),
                Err(e) => return Err(Fault::Lost(e.to_string())),
            }
            let _ = self.stream.set_nodelay(true);
            if let Some(tls) = &mut self.tls {
                tls.send(&[], &mut self.out)?;
            }
        }
        self.flush(meter)
    }

    fn flush(&mut self, meter: &mut Meter) -> Result<(), Fault> {
        if !self.connected {
            return Ok(());
        }
        while self.sent < self.out.len() {
            let out = std::mem::take(&mut self.out);
            let written = self.write(&out[self.sent..]);
            self.out = out;
            let written = written?;
            if written == 0 {
                return Ok(());
            }
            self.sent += written;
            meter.sent += written as u64;
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Read once, and visit the text that this gives.
    pub(crate) fn read(
        &mut self,
        buffer: &mut [u8],
        meter: &mut Meter,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<Read1, Fault> {
        let kept = self.tls.as_ref().map_or(0, |tls| tls.restore(buffer));
        let room = buffer.len() - kept;
        let size = loop {
            match self.stream.read(&mut buffer[kept..]) {
                Ok(0) => return Ok(Read1::Ended),
                Ok(n) => break n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Read1::Drained),
                Err(e) if e.kind() == ErrorKind::NotConnected => return Ok(Read1::Drained),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Fault::Lost(e.to_string())),
            }
        };
        meter.received += size as u64;
        match &mut self.tls {
            None => visit(&buffer[..size])?,
            Some(tls) => {
                tls.receive(&mut buffer[..kept + size], &mut self.out, visit)?;
                let ended = tls.ended;
                self.flush(meter)?;
                if ended {
                    return Ok(Read1::Ended);
                }
            }
        }
        Ok(if size == room { Read1::More } else { Read1::Drained })
    }
}
