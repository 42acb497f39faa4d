//! An agent with its connection.

use crate::agent::Agent;
use crate::connection::Connection;
use crate::exchange::{Exchange, Stage};

pub(crate) struct Slot {
    pub(crate) exchange: Exchange,
    pub(crate) connection: Option<Connection>,
    /// Whether it is one of the connections that are being opened.
    pub(crate) opening: bool,
    /// Whether it was ready for the measurement once.
    pub(crate) ready: bool,
    /// Whether the agent has nothing more to do.
    pub(crate) done: bool,
    pub(crate) failures: u32,
}

impl Slot {
    pub(crate) fn new(agent: Box<dyn Agent>) -> Self {
        let exchange = Exchange::new(agent);
        Self { exchange, connection: None, opening: false, ready: false, done: false, failures: 0 }
    }

    /// Whether its agent may be asked for a request.
    pub(crate) fn is_free(&self) -> bool {
        !self.done && self.exchange.stage == Stage::Free
    }
}
