//! Decoding and encoding of API objects.

pub mod cbor;
pub mod error;
pub mod gzip;
pub mod json;
pub mod openapi;
pub mod proto;
pub mod yaml;

pub use error::{DecodeError, Decoded};
