//! Decoding and encoding of API objects.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod audit;
pub mod cbor;
pub mod error;
pub mod gzip;
pub mod json;
mod lines;
pub mod openapi;
pub mod proto;
pub mod yaml;

pub use error::{DecodeError, Decoded};
pub use lines::Lines;
