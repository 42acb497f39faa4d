//! Decoding and encoding of API objects.
//!
//! JSON, YAML, protobuf, CBOR, `OpenAPI` protobuf, gzip; Go's rules and messages (`json/decode/mod.rs`). YAML is read in
//! the steps of upstream's reader: characters (`yaml/source.rs`), tokens (`yaml/scan/mod.rs`), events
//! (`yaml/grammar.rs`), nodes (`yaml/node.rs`), values (`yaml/decode.rs`, `yaml/resolve.rs`, `yaml/key.rs`); its answers
//! to some hundred texts are recorded beside the tests.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod cbor;
pub mod error;
pub mod gzip;
pub mod json;
pub mod openapi;
pub mod proto;
pub mod yaml;

pub use error::{DecodeError, Decoded};
