//! Why a value was not converted.

use std::fmt;

/// The status of a failure that no plug-in has reported.
pub(crate) const LOCAL: &str = "unknown-non-grpc";

/// A conversion that failed: one line with upstream's message, which has no part of a key or value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    texts: Vec<String>,
    status: &'static str,
}

/// The result of a conversion.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Return a failure with its message.
    pub fn new(text: impl Into<String>) -> Self {
        Self { texts: vec![text.into()], status: LOCAL }
    }

    /// Return the failure of a call, with the name of its gRPC status.
    pub(crate) fn of_call(text: impl Into<String>, status: &'static str) -> Self {
        Self { texts: vec![text.into()], status }
    }

    /// Return several failures as one (apimachinery `utilerrors.NewAggregate`).
    pub(crate) fn all(failures: Vec<Self>) -> Option<Self> {
        let status = failures.first()?.status;
        let mut texts: Vec<String> = Vec::new();
        for text in failures.into_iter().flat_map(|failure| failure.texts) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Some(Self { texts, status })
    }

    /// Return the same failure with a text in front.
    pub(crate) fn within(self, text: &str) -> Self {
        let whole = format!("{text}{self}");
        Self { texts: vec![whole], status: self.status }
    }

    /// Return the name of the gRPC status, for metrics.
    pub(crate) fn status(&self) -> &'static str {
        self.status
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.texts.as_slice() {
            [text] => f.write_str(text),
            texts => write!(f, "[{}]", texts.join(", ")),
        }
    }
}

impl std::error::Error for Failure {}
