//! Failures of an evaluation.

/// The reason why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fail {
    Error(String),
    /// The cost limit of the expression is exceeded.
    Budget,
    /// The decision of an authorizer is not known yet.
    Asked,
}

impl Fail {
    pub fn new(text: impl Into<String>) -> Self {
        Self::Error(text.into())
    }

    pub fn overload() -> Self {
        Self::new("no such overload")
    }

    /// The failure of a name where a list is.
    pub fn list_name() -> Self {
        Self::new("unsupported index type 'string' in list")
    }

    pub fn overflow() -> Self {
        Self::new("integer overflow")
    }

    pub fn unsigned_overflow() -> Self {
        Self::new("unsigned integer overflow")
    }
}

/// The maximum number of items of a list that a run creates, and a tenth of the maximum size of a string in bytes:
/// larger ones exceed the cost limit once upstream charges for them, or take too much memory.
pub(crate) const LARGEST: usize = 1_000_000;

/// Check that a value of a size may be created.
pub(crate) fn check_size(size: usize) -> Result<(), Fail> {
    if size > LARGEST { Err(Fail::Budget) } else { Ok(()) }
}
