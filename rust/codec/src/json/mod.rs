//! JSON, with or without a schema, with Go's rules and messages.

mod decode;
mod encode;
mod indent;
mod lex;
mod raw;
mod restore;
pub mod scan;

pub(crate) use decode::special::{bytes, props};
pub use decode::{decode, decode_stored, parse};
pub(crate) use encode::find_member;
pub use encode::{Stored, encode, encode_any, encode_exact, encode_stored, write_string};
pub use indent::indent;
pub use raw::{RawForm, change_raw, has_raw};
pub use restore::restore;

/// Parse canonical JSON that was kept as text.
pub(crate) fn parse_raw(text: &str) -> hydrofoil_types::Value {
    parse(text.as_bytes()).map(|decoded| decoded.value).unwrap_or_default()
}
