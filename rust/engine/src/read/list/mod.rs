//! Lists, returned in pieces.

mod block;
mod cursor;
mod gather;
mod head;

pub use cursor::{ListCursor, Rest};
