//! An agent sends requests over one connection and reads their answers.

use crate::event::excerpt;
use crate::http::Head;
use crate::plan::Owned;
use crate::world::{Timing, World};
use crate::wrong::Wrong;

/// The next act of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Send the request that was written.
    Send,
    /// Send it; it was due at this time, from which its latency counts.
    Due(u64),
    /// Ask again at this time.
    At(u64),
    /// Nothing more.
    Done,
}

/// Whether an answer is read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    /// The connection is closed, and the agent asked for its next request.
    Leave,
}

/// One connection's use.
pub(crate) trait Agent {
    /// Write the next request.
    fn next(&mut self, world: &mut World, out: &mut Vec<u8>) -> Next;

    /// Whether its first request is sent, and answered, before the measurement.
    fn runs_before_measurement(&self) -> bool {
        false
    }

    /// Whether it begins once the measurement is over and all else has arrived.
    fn runs_after_measurement(&self) -> bool {
        false
    }

    /// Whether each request has a connection of its own, which is opened for it.
    fn reconnects(&self) -> bool {
        false
    }

    /// Whether the run ends without waiting for it.
    fn waits(&self) -> bool {
        false
    }

    /// Whether its answers are read before those of others, which may be thousands: a server that has several writes at a
    /// time does less for each of their events.
    fn urgent(&self) -> bool {
        false
    }

    /// Whether an answer of this status is read by `body` and `end`.
    fn wants(&self, status: u16) -> bool {
        status == 200
    }

    /// The head of an answer that it wants.
    fn head(&mut self, world: &mut World, head: &Head) -> Result<(), Wrong>;

    /// A piece of the body.
    fn body(&mut self, world: &mut World, piece: &[u8]) -> Result<Flow, Wrong>;

    /// The answer is complete.
    fn end(&mut self, world: &mut World, timing: Timing) -> Result<(), Wrong>;

    /// The answer has a status that it does not want.
    fn refuse(&mut self, _: &mut World, status: u16, body: &[u8]) -> Result<(), Wrong> {
        Err(Wrong(format!("{}: status {status}: {}", self.name(), excerpt(body))))
    }

    /// The connection was lost, after the request was sent, and before the answer was complete.
    fn lose(&mut self, _: &mut World) {}

    /// The object whose creation has no answer yet.
    fn pending(&self, _: &World) -> Option<Owned> {
        None
    }

    /// A look at an open answer, several times a second.
    fn idle(&mut self, _: &mut World) -> Result<Flow, Wrong> {
        Ok(Flow::More)
    }

    /// Whether all that it waits for has arrived.
    fn satisfied(&self, _: &World) -> bool {
        true
    }

    /// The object that it waits for in vain.
    fn missing(&self, _: &World) -> String {
        String::new()
    }

    /// Its name in errors.
    fn name(&self) -> String;
}
