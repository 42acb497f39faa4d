//! Decoding and encoding of API objects.

// What comes from outside must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod cbor;
pub mod error;
pub mod gzip;
pub mod json;
pub mod openapi;
pub mod proto;
pub mod yaml;

pub use error::{DecodeError, Decoded};
