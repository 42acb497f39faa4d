//! The errors of a store.

use std::fmt;

/// A failed precondition or an unavailable revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// An object with that key exists.
    Exists,
    /// No object with that key exists.
    NotFound,
    /// The object is at another revision than expected.
    Conflict {
        /// The revision of the object.
        current: u64,
    },
    /// The history no longer includes that revision.
    Expired {
        /// The requested revision.
        asked: u64,
        /// The oldest available revision.
        oldest: u64,
    },
    /// The revision is not reached yet.
    Future {
        /// The requested revision.
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
