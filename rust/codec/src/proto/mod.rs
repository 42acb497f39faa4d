//! Protobuf by the same schema as JSON: the numbers come from the catalog, no code is made per kind.

mod decode;
mod encode;
mod special;
pub(crate) mod wire;

pub use decode::{decode, unwrap};
pub use encode::{encode, envelope, item, list_head, watch_event};

/// The four bytes that every enveloped body begins with.
pub const MAGIC: &[u8; 4] = b"k8s\0";
