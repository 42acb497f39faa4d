//! The results of a decoder.

use std::fmt;

use hydrofoil_types::Value;

/// A body in loose form, and the errors of strict field validation.
#[derive(Debug)]
pub struct Decoded {
    /// The object.
    pub value: Value,
    /// `unknown field "a.b"`, `duplicate field "c"`: in the order of the body, each once.
    pub strict: Vec<String>,
}

/// The error of a body that is not an object of the type.
#[derive(Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The body is malformed; the message is that of upstream's parser.
    Syntax(String),
    /// A value has the wrong type; the message is that of upstream's decoder.
    Type(String),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(m) | Self::Type(m) => f.write_str(m),
        }
    }
}

impl std::error::Error for DecodeError {}
