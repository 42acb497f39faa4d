//! Rules of what is intercepted, and the conditions on top of them.

use hydrofoil_types::{Again, Causes, Path, Seen, Value, Whole};

use super::expression::{About, Compiler};
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{label, name};
use crate::validate::selector;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

fn has(list: &[Value], text: &str) -> bool {
    list.iter().any(|v| v.as_str() == Some(text))
}

/// `validateRuleWithOperations`.
pub(super) fn with_operations(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let operations = rule.list("operations");
    let at = path.child("operations");
    if operations.is_empty() {
        causes.need(&at);
    }
    if operations.len() > 1 && has(operations, "*") {
        let detail = "if '*' is present, must not specify other operations";
        causes.invalid(&at, rule.sub("operations"), detail);
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
            causes.invalid(&at, rule.sub(key), &detail);
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
    if has(list, "*/*") && list.len() > 1 {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.invalid(path, rule.sub("resources"), detail);
    }
    let mut wild = Seen::default();
    let mut wild_sub = Seen::default();
    for (i, resource) in list.iter().enumerate() {
        let text = resource.as_str().unwrap_or("");
        let at = path.index(i);
        if text.is_empty() {
            causes.need(&at);
            continue;
        }
        if text == "*" || text == "*/*" {
            continue;
        }
        let Some((resource, sub)) = text.split_once('/') else { continue };
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
    if list.len() > 1 && has(list, "*") {
        let others = list.iter().any(|r| r.as_str().is_some_and(|t| t != "*" && !t.contains('/')));
        if others {
            let detail = "if '*' is present, must not specify other resources without subresources";
            causes.invalid(path, rule.sub("resources"), detail);
        }
    }
}

/// `validateMatchConditions`; `params` says whether there are parameters.
pub(super) fn match_conditions(list: &[Value], params: bool, path: &Path<'_>, causes: &mut Causes) {
    if list.len() > 64 {
        causes.too_many(path, list.len(), 64);
    }
    let again = Again::of(list, |v| v.s("name"));
    for (i, condition) in list.iter().enumerate() {
        let at = path.index(i);
        match condition.s("expression").trim() {
            "" => causes.need(&at.child("expression")),
            text => Compiler::plain(params).check(text, About::Authorizer, &["bool"], &at.child("expression"), causes),
        }
        let own = condition.s("name");
        if own.is_empty() {
            causes.need(&at.child("name"));
        } else {
            causes.format(&at.child("name"), own, label::key);
            if again.at(i) {
                causes.duplicate_str(&at.child("name"), own);
            }
        }
    }
}

/// `validateMatchResources`.
pub(super) fn match_resources(resources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("matchPolicy");
    match resources.opt("matchPolicy") {
        None => causes.need(&at),
        Some(policy) => causes.one_of(&at, policy.as_str().unwrap_or(""), &["Equivalent", "Exact"]),
    }
    for key in ["namespaceSelector", "objectSelector"] {
        match resources.opt(key) {
            None => causes.need(&path.child(key)),
            Some(value) => selector::label_selector(value, &path.child(key), causes),
        }
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        let at = path.child(key);
        for (i, rule) in resources.list(key).iter().enumerate() {
            let at = at.index(i);
            with_operations(rule, &at, causes);
            let names = rule.list("resourceNames");
            let names_at = at.child("resourceNames");
            let again = Again::of(names, Whole);
            for (j, one) in names.iter().enumerate() {
                let text = one.as_str().unwrap_or("");
                causes.format(&names_at.index(j), text, name::path_segment);
                if again.at(j) {
                    causes.duplicate_str(&names_at.index(j), text);
                }
            }
        }
    }
}

/// Whether a text is an identifier of CEL that is no reserved word.
pub(super) fn is_identifier(text: &str) -> bool {
    const RESERVED: [&str; 21] = [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "namespace",
        "null",
        "package",
        "return",
        "true",
        "var",
        "void",
        "while",
    ];
    let b = text.as_bytes();
    b.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_')
        && b.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_')
        && !RESERVED.contains(&text)
}
