//! The sockets of all connections: those of urgent agents are looked at before the others.

use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};

/// The token under which urgent connections are ready.
pub(crate) const URGENT: Token = Token(usize::MAX);

#[derive(Debug)]
pub(crate) struct Sockets {
    others: Poll,
    urgent: Poll,
}

impl Sockets {
    pub(crate) fn new() -> Result<Self, String> {
        let poll = || Poll::new().map_err(|e| e.to_string());
        let (others, urgent) = (poll()?, poll()?);
        let descriptor = urgent.as_raw_fd();
        let ready = others.registry().register(&mut SourceFd(&descriptor), URGENT, Interest::READABLE);
        ready.map_err(|e| e.to_string())?;
        Ok(Self { others, urgent })
    }

    /// Return the registry for the connection of an agent.
    pub(crate) fn registry(&self, urgent: bool) -> &Registry {
        if urgent { self.urgent.registry() } else { self.others.registry() }
    }

    /// Wait until a connection is ready; [`URGENT`] stands for all urgent ones.
    pub(crate) fn wait(&mut self, events: &mut Events, most: Duration) -> Result<(), String> {
        self.others.poll(events, Some(most)).or_else(|e| ignore_missing(&e))
    }

    /// Find the urgent connections that are ready.
    pub(crate) fn hurry(&mut self, events: &mut Events) -> Result<(), String> {
        self.urgent.poll(events, Some(Duration::ZERO)).or_else(|e| ignore_missing(&e))
    }
}

fn ignore_missing(error: &Error) -> Result<(), String> {
    if error.kind() == ErrorKind::Interrupted { Ok(()) } else { Err(error.to_string()) }
}
