//! The settings of a log.

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_encryption::Transformers;

/// When acknowledged writes are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Before they are acknowledged.
    Always,
    /// After this time at most.
    Interval(Duration),
    /// When the system writes them.
    Never,
}

/// The settings of a log.
#[derive(Clone, Debug)]
pub struct Options {
    /// When writes are durable.
    pub sync: Sync,
    /// The revision after which those of a new folder begin.
    pub first: u64,
    /// The encryption of objects, if any is configured.
    pub transformers: Option<Arc<Transformers>>,
}
