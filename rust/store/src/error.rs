//! What a store answers when it cannot do what was asked.

use std::fmt;

/// A broken precondition or a version out of reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// An object of that key exists.
    Exists,
    /// No object of that key exists.
    NotFound,
    /// The object stands at another revision than expected.
    Conflict {
        /// The revision it stands at.
        current: u64,
    },
    /// The history no longer reaches back to that revision.
    Expired {
        /// The revision asked for.
        asked: u64,
        /// The oldest revision that can be asked for.
        oldest: u64,
    },
    /// The revision has not been reached yet.
    Future {
        /// The revision asked for.
        asked: u64,
        /// The latest revision.
        current: u64,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("an object of that key exists"),
            Self::NotFound => f.write_str("no object of that key exists"),
            Self::Conflict { current } => write!(f, "the object stands at revision {current}"),
            Self::Expired { asked, oldest } => write!(f, "too old resource version: {asked} ({oldest})"),
            Self::Future { asked, current } => write!(f, "Too large resource version: {asked}, current: {current}"),
        }
    }
}

impl std::error::Error for StoreError {}
