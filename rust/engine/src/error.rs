//! The errors of the engine.

use std::fmt;

use hydrofoil_codec::{DecodeError, json};
use hydrofoil_merge::{ApplyError, PatchError};
use hydrofoil_store::StoreError;

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why the engine rejects a call.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// A body is not an object of its type.
    Decode(DecodeError),
    /// A patch cannot be applied.
    Patch(PatchError),
    /// The result of a patch is not an object of its type.
    Patched {
        /// The message of the decoder.
        message: String,
        /// The whole result, as the message shows it.
        outcome: String,
    },
    /// The result of a patch has another type.
    TypeMeta {
        /// Its `apiVersion`.
        api_version: String,
        /// Its kind.
        kind: String,
        /// The whole result, as the message shows it.
        outcome: String,
    },
    /// A configuration cannot be applied.
    Apply(ApplyError),
    /// A webhook must first convert the object to this version.
    Unconverted(String),
    /// A webhook must first convert another state of the object.
    Pending {
        /// Its JSON.
        object: Vec<u8>,
        /// The version.
        api_version: String,
    },
    /// The object cannot be converted, for this reason.
    Unconvertible(String),
    /// The store rejects a write or a read.
    Store(StoreError),
    /// An expression has no result, for this reason.
    Evaluation(String),
    /// A change is already committed.
    Committed,
    /// The catalog has no such resource or type.
    Unknown(String),
    /// An argument is invalid, for this reason.
    Invalid(String),
}

impl Error {
    /// Return the word by which handlers distinguish errors in a body, a patch or a configuration.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Decode(DecodeError::Syntax(_)) | Self::Patch(PatchError::Malformed(_)) => "syntax",
            Self::Decode(DecodeError::Type(_)) => "type",
            Self::Patch(PatchError::Failed(_)) => "failed",
            Self::Patch(PatchError::TooMany(_)) => "too many",
            Self::Patch(PatchError::Internal(_)) | Self::Apply(ApplyError::Internal(_)) => "internal",
            Self::Apply(ApplyError::BadRequest(_)) => "bad request",
            Self::Apply(ApplyError::Conflict(_)) => "conflict",
            Self::Patched { .. } => "patched",
            Self::TypeMeta { .. } => "type meta",
            Self::Evaluation(_) => "evaluation",
            Self::Unconverted(_) | Self::Pending { .. } | Self::Apply(ApplyError::Pending(_)) => "webhook",
            Self::Unconvertible(_) | Self::Invalid(_) => "invalid",
            Self::Store(_) | Self::Committed => "store",
            Self::Unknown(_) => "unknown",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => error.fmt(f),
            Self::Patch(error) => error.fmt(f),
            Self::Apply(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::TypeMeta { api_version, kind, .. } => write!(f, "the outcome is a {kind} of {api_version}"),
            Self::Pending { api_version, .. } => write!(f, "the object is not known in {api_version}"),
            Self::Committed => f.write_str("a change is committed once"),
            Self::Patched { message: text, .. }
            | Self::Unconverted(text)
            | Self::Unconvertible(text)
            | Self::Evaluation(text)
            | Self::Unknown(text)
            | Self::Invalid(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<PatchError> for Error {
    fn from(error: PatchError) -> Self {
        Self::Patch(error)
    }
}

impl From<ApplyError> for Error {
    fn from(error: ApplyError) -> Self {
        if let ApplyError::Pending(conversion) = error {
            let object = json::encode_any(&conversion.object);
            return Self::Pending { object, api_version: conversion.api_version };
        }
        Self::Apply(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
