//! Rules that select the requests to intercept.

use hydrofoil_types::{Causes, KeySet, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// `validateRuleWithOperations`.
pub(super) fn validate(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let operations = rule.list("operations");
    let at = path.child("operations");
    if operations.is_empty() {
        causes.need(&at);
    }
    if operations.len() > 1 && has(operations, "*") {
        let detail = "if '*' is present, must not specify other operations";
        causes.invalid(&at, rule.field("operations"), detail);
    }
    for (i, operation) in operations.iter().enumerate() {
        causes.one_of(&at.index(i), operation.as_str().unwrap_or(""), &OPERATIONS);
    }
    for (key, words) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let list = rule.list(key);
        let at = path.child(key);
        if list.is_empty() {
            causes.need(&at);
        }
        if list.len() > 1 && has(list, "*") {
            let detail = format!("if '*' is present, must not specify other {words}");
            causes.invalid(&at, rule.field(key), &detail);
        }
        if key == "apiVersions" {
            for (i, version) in list.iter().enumerate() {
                if version.is_zero() {
                    causes.need(&at.index(i));
                }
            }
        }
    }
    resources(rule, &path.child("resources"), causes);
    if let Some(scope) = rule.opt("scope") {
        let known = ["*", "Cluster", "Namespaced"];
        causes.one_of(&path.child("scope"), scope.as_str().unwrap_or(""), &known);
    }
}

/// `validateResources`.
fn resources(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = rule.list("resources");
    if list.is_empty() {
        causes.need(path);
    }
    let mut wild = KeySet::default();
    let mut wild_sub = KeySet::default();
    // Of the resources without a subresource, the last one decides.
    let mut other = false;
    for (i, resource) in list.iter().enumerate() {
        let text = resource.as_str().unwrap_or("");
        let at = path.index(i);
        if text.is_empty() {
            causes.need(&at);
            continue;
        }
        let Some((resource, sub)) = text.split_once('/') else {
            other = text != "*";
            continue;
        };
        if wild.contains(&resource) {
            causes.invalid_str(&at, text, &format!("if '{resource}/*' is present, must not specify {text}"));
        }
        if wild_sub.contains(&sub) {
            causes.invalid_str(&at, text, &format!("if '*/{sub}' is present, must not specify {text}"));
        }
        if sub == "*" {
            wild.insert(resource);
        }
        if resource == "*" {
            wild_sub.insert(sub);
        }
    }
    if has(list, "*/*") && list.len() > 1 {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.invalid(path, rule.field("resources"), detail);
    }
    if has(list, "*") && other {
        let detail = "if '*' is present, must not specify other resources without subresources";
        causes.invalid(path, rule.field("resources"), detail);
    }
}

/// Report whether a list has a text.
fn has(list: &[Value], text: &str) -> bool {
    list.iter().any(|v| v.as_str() == Some(text))
}
