//! Custom resources: the schemas and rules of a definition, compiled once.

// Input must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod columns;
mod compile;
mod default;
mod definition;
mod durations;
mod embedded;
mod lists;
mod owned;
mod prune;
mod rule;
mod rules;
mod scale;
mod strategy;
mod string_format;
mod structural;
mod validate;

pub use columns::Columns;
pub use definition::{Definition, Version};
pub use durations::{COMPILATIONS, EVALUATIONS};
pub use embedded::ReadMeta;
pub use rules::attach as attach_rules;
pub use scale::{Scale, nested_field};
pub use strategy::{begin_create, begin_update, create, decode, fill, prune, update, warnings};
pub use string_format::StringFormat;
pub use structural::Node;

use hydrofoil_types::{Causes, Path, Value};

pub use hydrofoil_pattern::problem as pattern_problem;

/// Add the causes of invalid types and metadata of the resources in a value.
pub fn check_embedded(value: &Value, schema: &Node, causes: &mut Causes) {
    embedded::check(value, schema, &Path::root(), causes);
}

/// Add the causes of a default that its own schema refuses.
pub fn check_default(value: &Value, schema: &Node, path: &Path<'_>, causes: &mut Causes) {
    let before = causes.len();
    embedded::check(value, schema, path, causes);
    if causes.len() == before {
        validate::check(value, None, schema, Some(&path.to_string()), causes);
    }
    if causes.len() == before {
        // A default is also its own old value, so that transition rules are run too.
        rules::check_default(schema, value, path, causes);
    }
    if causes.len() == before {
        // The object may also be created, which rules with `oldSelf` may distinguish from an update.
        rules::check(schema, value, None, path, None, causes);
    }
}
