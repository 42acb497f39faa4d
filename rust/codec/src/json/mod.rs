//! JSON: by a schema or free of one, with Go's rules and texts.

mod decode;
mod encode;
mod generic;
mod indent;
mod lex;
mod moment;
mod raw;
mod restore;
pub mod scan;
mod special;
mod tell;

pub(crate) use special::props;

pub use decode::{decode, decode_stored, parse};
pub(crate) use encode::found;
pub use encode::{Stored, encode, encode_any, encode_stored, write_string};
pub use indent::indent;
pub use raw::{RawForm, change_raw, has_raw};
pub use restore::restore;

/// The value of canonical JSON that was kept as text.
pub(crate) fn opened(text: &str) -> hydrofoil_types::Value {
    parse(text.as_bytes()).map(|decoded| decoded.value).unwrap_or_default()
}
