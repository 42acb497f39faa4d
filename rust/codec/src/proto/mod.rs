//! Protobuf by the same schema as JSON: the numbers come from the catalog, no code is generated per kind.

mod decode;
mod encode;
pub(crate) mod wire;

pub use decode::{decode, unwrap};
pub use encode::{ENVELOPE_TAIL, encode, envelope, envelope_head, item, list_head, metadata_message, watch_event};

/// The four bytes at the start of every enveloped body.
pub const MAGIC: &[u8; 4] = b"k8s\0";
