//! Reads: objects and lists of them in the forms of answers.

mod form;
mod list;
mod metadata;
mod render;
mod selector;
mod table;

pub(crate) use form::Rendering;
pub use form::{Encoding, Form, Shape};
pub use list::{ListCursor, Rest};
pub(crate) use render::render_as;
pub use render::{body, render, stored_body};
pub use selector::filter;
