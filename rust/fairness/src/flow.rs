//! Requests that share a hand of queues.

use std::sync::Arc;

use crate::Counts;

/// The requests of a flow schema with the same distinguisher.
#[derive(Debug)]
pub struct Flow {
    /// The counts of the schema in its level.
    pub counts: Arc<Counts>,
    /// The numbers of its queues.
    pub hand: Box<[usize]>,
}
