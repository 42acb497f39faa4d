//! Defaults against their own schema (apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::custom::{self, Node};
use crate::read::Read;

/// Adds what is wrong with the defaults of a structural schema. Below `additionalProperties` there are none.
pub(super) fn check(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(default) = props.opt("default") {
        let at = path.child("default");
        let mut node = Node::compile(props);
        custom::attach_rules(&mut node, props, props.b("x-kubernetes-embedded-resource"));
        if node.default.as_deref() != Some(default) {
            causes.invalid(&at, default, "must not have unknown fields");
        }
        custom::check_default(default, &node, &at, causes);
    }
    if let Some(items) = props.opt("items").filter(|i| i.as_object().is_some()) {
        check(items, &path.child("items"), causes);
    }
    let at = path.child("properties");
    for (key, value) in props.entries("properties") {
        check(value, &at.key(key), causes);
    }
}
