//! Validating and mutating admission policies.

use hydrofoil_types::{Causes, Path, Value};

use super::rules;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::name;
use crate::validate::small;

const SPEC: Path<'static> = Path::new("spec");

/// The spec of a policy.
pub(crate) fn policy(object: &Value, mutating: bool, causes: &mut Causes) {
    let spec = object.sub("spec");
    let at = SPEC.child("failurePolicy");
    match spec.opt("failurePolicy") {
        None => causes.need(&at),
        Some(policy) => causes.one_of(&at, policy.as_str().unwrap_or(""), &["Fail", "Ignore"]),
    }
    if let Some(kind) = spec.opt("paramKind") {
        param_kind(kind, &SPEC.child("paramKind"), causes);
    }
    let at = SPEC.child("matchConstraints");
    match spec.opt("matchConstraints") {
        None => causes.need(&at),
        Some(constraints) => {
            rules::match_resources(constraints, &at, causes);
            if constraints.list("resourceRules").is_empty() {
                causes.need(&at.child("resourceRules"));
            }
            if mutating {
                mutable_operations(constraints, &at, causes);
            }
        }
    }
    rules::match_conditions(spec.list("matchConditions"), &SPEC.child("matchConditions"), causes);
    variables(spec, causes);
    if mutating {
        let at = SPEC.child("reinvocationPolicy");
        causes.one_of_required(&at, spec.s("reinvocationPolicy"), &["IfNeeded", "Never"]);
        mutations(spec, causes);
    } else {
        validations(spec, causes);
    }
}

/// Objects that go cannot be mutated.
pub(super) fn mutable_operations(resources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("resourceRules");
    for rule in resources.list("resourceRules") {
        for operation in rule.list("operations").iter().filter_map(Value::as_str) {
            if !matches!(operation, "*" | "CREATE" | "UPDATE" | "CONNECT") {
                let known = ["*", "CONNECT", "CREATE", "UPDATE"];
                causes.unsupported(&at.child("operations"), operation, &known);
            }
        }
    }
}

fn param_kind(kind: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (at, version) = (path.child("apiVersion"), kind.s("apiVersion"));
    if version.is_empty() {
        causes.need(&at);
    } else if version.bytes().filter(|b| *b == b'/').count() > 1 {
        causes.invalid_str(&at, version, &format!("unexpected GroupVersion string: {version}"));
    } else {
        let (group, number) = version.split_once('/').unwrap_or(("", version));
        if !group.is_empty() {
            causes.format(&at, group, name::subdomain);
        }
        if number.is_empty() {
            causes.required(&at, "version must be specified");
        } else {
            causes.format(&at, number, name::label_1035);
        }
    }
    let (at, text) = (path.child("kind"), kind.s("kind"));
    if text.is_empty() {
        causes.need(&at);
    } else {
        name::label_1035(&text.to_lowercase(), &mut |detail| {
            let detail = format!("may have mixed case, but should otherwise match: {detail}");
            causes.invalid_str(&at, text, &detail);
        });
    }
}

fn variables(spec: &Value, causes: &mut Causes) {
    let path = SPEC.child("variables");
    for (i, variable) in spec.list("variables").iter().enumerate() {
        let at = path.index(i);
        let own = variable.s("name");
        if own.is_empty() {
            causes.required(&at.child("name"), "name is not specified");
        } else if !rules::is_identifier(own) {
            causes.invalid_str(&at.child("name"), own, "must be a valid CEL identifier");
        }
        if variable.s("expression").trim().is_empty() {
            causes.required(&at.child("expression"), "expression is not specified");
        }
    }
}

fn validations(spec: &Value, causes: &mut Causes) {
    let path = SPEC.child("validations");
    let (list, audits) = (spec.list("validations"), spec.list("auditAnnotations"));
    let audit_path = SPEC.child("auditAnnotations");
    if list.is_empty() && audits.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        causes.required(&path, detail);
        causes.required(&audit_path, detail);
        return;
    }
    for (i, validation) in list.iter().enumerate() {
        let at = path.index(i);
        if validation.s("expression").trim().is_empty() {
            causes.required(&at.child("expression"), "expression is not specified");
        }
        let (message, at_message) = (validation.s("message"), at.child("message"));
        if !message.is_empty() && message.trim().is_empty() {
            causes.invalid_str(&at_message, message, "message must be non-empty if specified");
        } else if message.trim().contains(['\n', '\r']) {
            causes.invalid_str(&at_message, message, "must not contain line breaks");
        }
        if let Some(reason) = validation.opt("reason").map(|r| r.as_str().unwrap_or(""))
            && !matches!(reason, "Unauthorized" | "Forbidden" | "Invalid" | "RequestEntityTooLarge")
        {
            let known = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
            causes.unsupported(&at.child("reason"), reason, &known);
        }
    }
    for (i, audit) in audits.iter().enumerate() {
        let at = audit_path.index(i);
        let key = audit.s("key");
        if audits[..i].iter().any(|a| a.s("key") == key) {
            causes.duplicate_str(&at.child("key"), key);
        }
        if key.is_empty() {
            causes.required(&at.child("key"), "");
        } else {
            let whole = format!("{}/{key}", "policy");
            crate::validate::format::label::key(&whole, &mut |detail| {
                causes.invalid_str(&at.child("key"), key, detail);
            });
        }
        let expression = audit.s("valueExpression");
        if expression.trim().is_empty() {
            causes.required(&at.child("valueExpression"), "valueExpression is not specified");
        } else if expression.len() > 5 * 1024 {
            causes.too_long(&at.child("valueExpression"), 5 * 1024);
        }
    }
}

fn mutations(spec: &Value, causes: &mut Causes) {
    let path = SPEC.child("mutations");
    let list = spec.list("mutations");
    if list.is_empty() {
        causes.required(&path, "mutations must contain at least one item");
    }
    for (i, mutation) in list.iter().enumerate() {
        let at = path.index(i);
        let kind = mutation.s("patchType");
        causes.one_of_required(&at.child("patchType"), kind, &["ApplyConfiguration", "JSONPatch"]);
        for (key, own, other) in [
            ("applyConfiguration", "ApplyConfiguration", "JSONPatch"),
            ("jsonPatch", "JSONPatch", "ApplyConfiguration"),
        ] {
            let at = at.child(key);
            match mutation.opt(key) {
                None if kind == own => causes.required(&at, &format!("must be specified when patchType is {own}")),
                Some(value) if kind == other => {
                    causes.invalid(&at, value, &format!("must not be specified when patchType is {other}"));
                }
                Some(value) if kind == own && value.s("expression").trim().is_empty() => {
                    causes.need(&at.child("expression"));
                }
                _ => {}
            }
        }
    }
}

/// `validateValidatingAdmissionPolicyStatus`.
pub(crate) fn status(object: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let status = object.sub("status");
    let at = path.child("typeChecking");
    let at = at.child("expressionWarnings");
    for (i, warning) in status.sub("typeChecking").list("expressionWarnings").iter().enumerate() {
        let at = at.index(i);
        for key in ["warning", "fieldRef"] {
            if warning.zero(key) {
                causes.need(&at.child(key));
            }
        }
    }
    small::conditions(status.list("conditions"), &path.child("conditions"), causes);
}
