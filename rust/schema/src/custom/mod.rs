//! Custom resources: what a definition says of its objects, compiled once.

mod columns;
mod default;
mod definition;
mod embedded;
mod jsonpath;
mod limits;
mod lists;
mod owned;
mod pattern;
mod pike;
mod program;
mod prune;
mod rules;
mod scale;
mod strategy;
mod structural;
mod validate;

pub use columns::Columns;
pub use definition::{Definition, Version};
pub use embedded::ReadMeta;
pub(crate) use rules::attach as attach_rules;
pub use scale::{Scale, nested};
pub use strategy::{begin_create, begin_update, create, decode, fill, prune, update, warnings};
pub use structural::Node;
pub use validate::StringFormat;

use hydrofoil_types::{Causes, Path, Value};

pub(crate) use pattern::problem as pattern_problem;

/// Adds what is wrong with the type and metadata of the resources in a value.
pub(crate) fn check_embedded(value: &Value, schema: &Node, causes: &mut Causes) {
    embedded::check(value, schema, &Path::root(), causes);
}

/// Adds what a schema has against a default of its own.
pub(crate) fn check_default(value: &Value, schema: &Node, path: &Path<'_>, causes: &mut Causes) {
    let before = causes.len();
    embedded::check(value, schema, path, causes);
    if causes.len() == before {
        validate::check(value, None, schema, Some(&path.to_string()), causes);
    }
    if causes.len() == before {
        // A default is its own past, so that rules of transitions are run too.
        rules::check_default(schema, value, path, causes);
    }
    if causes.len() == before {
        // It may also come to be where nothing was, which rules about `oldSelf` may tell apart.
        rules::check(schema, value, None, path, causes);
    }
}
