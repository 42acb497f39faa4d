//! Lists, returned in pieces.

mod block;
mod cursor;
mod gather;
mod head;
mod key;
mod search;

pub use cursor::{ListCursor, Rest};
