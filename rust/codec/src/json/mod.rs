//! JSON: by a schema or free of one, with Go's rules and texts.

mod decode;
mod encode;
mod indent;
mod lex;
mod moment;
mod special;

pub(crate) use special::props;

pub use decode::{decode, parse};
pub use encode::{Stored, encode, encode_any, encode_stored, write_string};
pub use indent::indent;
