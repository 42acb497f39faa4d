//! Expressions of a policy, checked by the types of the objects that it covers (apiserver
//! `pkg/admission/plugin/policy/validating/typechecking.go`).

use std::sync::Arc;

use crate::decl::Decl;
use crate::environment::{Environment, Named};

/// Return the issues of each expression on one kind of object; none if they have more than `most` bytes together.
/// Variables may each name those before it.
pub fn issues(
    object: &Arc<Decl>,
    params: Option<&Arc<Decl>>,
    variables: &[(String, String)],
    texts: &[String],
    most: usize,
) -> Option<Vec<Option<String>>> {
    let environment = Environment::of_policy(object, params);
    let mut named = Named::default();
    for (name, text) in variables {
        let within = environment.clone().with_variables(&named);
        named.set(name, within.output(text).ok());
    }
    let within = environment.with_variables(&named);
    let mut left = most;
    let mut found = Vec::with_capacity(texts.len());
    for text in texts {
        let why = within.output(text).err();
        left = left.checked_sub(why.as_ref().map_or(0, String::len))?;
        found.push(why);
    }
    Some(found)
}
