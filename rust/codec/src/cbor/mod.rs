//! CBOR: decoded through JSON, encoded from values, with the modes of upstream (apimachinery
//! `pkg/runtime/serializer/cbor/internal/modes`).

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::{to_json, typed_to_json, unknown_field};
pub use encode::{array_head, encode, encode_tagged, event, map_head};

/// The tag that marks the data after it as CBOR.
pub const SELF_DESCRIBED: [u8; 3] = [0xd9, 0xd9, 0xf7];

fn malformed(what: &str) -> crate::DecodeError {
    crate::DecodeError::Syntax(format!("cbor: {what}"))
}
