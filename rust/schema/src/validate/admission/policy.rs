//! Validating and mutating admission policies.

use hydrofoil_types::{Again, Causes, Path, Value};

use super::expression::{About, Compiler};
use super::rules;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{label, name};
use crate::validate::small;

const SPEC: Path<'static> = Path::new("spec");

/// The spec of a policy, with what it was before.
pub(crate) fn policy(object: &Value, old: Option<&Value>, mutating: bool, causes: &mut Causes) {
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
    // What was stored with its conditions is not held to them again.
    let same = |key: &str| old.is_some_and(|old| old.sub("spec").opt(key) == spec.opt(key));
    if !(same("paramKind") && same("matchConditions")) {
        let at = SPEC.child("matchConditions");
        rules::match_conditions(spec.list("matchConditions"), spec.has("paramKind"), &at, causes);
    }
    let mut compiler = Compiler::of(spec, mutating);
    variables(spec, &mut compiler, causes);
    if mutating {
        mutations(spec, &compiler, causes);
        let at = SPEC.child("reinvocationPolicy");
        causes.one_of_required(&at, spec.s("reinvocationPolicy"), &["IfNeeded", "Never"]);
    } else {
        validations(object, &compiler, causes);
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
            causes.invalid_str(&at, version, "version must be specified");
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

/// `validateVariable` of each.
fn variables(spec: &Value, compiler: &mut Compiler, causes: &mut Causes) {
    let path = SPEC.child("variables");
    for (i, variable) in spec.list("variables").iter().enumerate() {
        let at = path.index(i);
        let own = variable.s("name");
        if own.trim().is_empty() {
            causes.required(&at.child("name"), "name is not specified");
        } else if !rules::is_identifier(own) {
            causes.invalid_str(&at.child("name"), own, "must be a valid CEL identifier");
        }
        let text = variable.s("expression");
        if text.trim().is_empty() {
            causes.required(&at.child("expression"), "expression is not specified");
        } else {
            compiler.variable(own, text, &at.child("expression"), causes);
        }
    }
}

fn validations(object: &Value, compiler: &Compiler, causes: &mut Causes) {
    let spec = object.sub("spec");
    let path = SPEC.child("validations");
    let (list, audits) = (spec.list("validations"), spec.list("auditAnnotations"));
    let audit_path = SPEC.child("auditAnnotations");
    if list.is_empty() && audits.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        causes.required(&path, detail);
        causes.required(&audit_path, detail);
        return;
    }
    for (i, one) in list.iter().enumerate() {
        validation(one, compiler, &path.index(i), causes);
    }
    if audits.len() > 20 {
        causes.invalid(&audit_path, spec.sub("auditAnnotations"), "must not have more than 20 auditAnnotations");
    }
    let again = Again::of(audits, |v| v.s("key"));
    for (i, audit) in audits.iter().enumerate() {
        let at = audit_path.index(i);
        annotation(object, audit, compiler, &at, causes);
        let key = audit.s("key");
        if again.at(i) {
            causes.duplicate_str(&at.child("key"), key);
        }
    }
}

/// `validateValidation`.
fn validation(validation: &Value, compiler: &Compiler, path: &Path<'_>, causes: &mut Causes) {
    let (text, at) = (validation.s("expression"), path.child("expression"));
    if text.trim().is_empty() {
        causes.required(&at, "expression is not specified");
    } else {
        compiler.check(text, About::Authorizer, &["bool"], &at, causes);
    }
    let (text, at) = (validation.s("messageExpression"), path.child("messageExpression"));
    if !text.is_empty() && text.trim().is_empty() {
        causes.invalid_str(&at, text, "must be non-empty if specified");
    } else if !text.is_empty() {
        compiler.check(text, About::Request, &["string"], &at, causes);
    }
    let (text, at) = (validation.s("message"), path.child("message"));
    if !text.is_empty() && text.trim().is_empty() {
        causes.invalid_str(&at, text, "must be non-empty if specified");
    } else if text.trim().contains(['\n', '\r']) {
        causes.invalid_str(&at, text, "must not contain line breaks");
    }
    if let Some(reason) = validation.opt("reason") {
        let known = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
        causes.one_of(&path.child("reason"), reason.as_str().unwrap_or(""), &known);
    }
}

/// `validateAuditAnnotation`: the key follows the name of the policy.
fn annotation(object: &Value, audit: &Value, compiler: &Compiler, path: &Path<'_>, causes: &mut Causes) {
    const LONGEST: usize = 5 * 1024;
    let (at, key) = (path.child("key"), audit.s("key"));
    let name = object.sub("metadata").s("name");
    if name.is_empty() {
        causes.invalid_str(&at, key, "requires metadata.name be non-empty");
    } else {
        causes.format(&at, &format!("{name}/{key}"), label::key);
    }
    let (at, text) = (path.child("valueExpression"), audit.s("valueExpression"));
    let trimmed = text.trim();
    if trimmed.is_empty() {
        causes.required(&at, "valueExpression is not specified");
    } else if trimmed.len() > LONGEST {
        causes.required(&at, &format!("must not exceed {LONGEST} bytes in length"));
    } else {
        compiler.check_shown(trimmed, About::Authorizer, &["string", "null_type"], &at, text, causes);
    }
}

fn mutations(spec: &Value, compiler: &Compiler, causes: &mut Causes) {
    let path = SPEC.child("mutations");
    let list = spec.list("mutations");
    if list.is_empty() {
        causes.required(&path, "mutations must contain at least one item");
    }
    for (i, one) in list.iter().enumerate() {
        mutation(one, compiler, &path.index(i), causes);
    }
}

/// `validateMutation`.
fn mutation(mutation: &Value, compiler: &Compiler, path: &Path<'_>, causes: &mut Causes) {
    let (key, other, gives) = match mutation.s("patchType") {
        "JSONPatch" => ("jsonPatch", "applyConfiguration", "list(JSONPatch)"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", "Object"),
        kind => {
            return causes.one_of_required(&path.child("patchType"), kind, &["ApplyConfiguration", "JSONPatch"]);
        }
    };
    let kind = mutation.s("patchType");
    let at = path.child(key);
    match mutation.opt(key).map(|patch| patch.s("expression").trim()) {
        None => causes.required(&at, &format!("must be specified when patchType is {kind}")),
        Some("") => causes.need(&at.child("expression")),
        Some(text) => compiler.check(text, About::Patches, &[gives], &at.child("expression"), causes),
    }
    if mutation.has(other) {
        // The words stand in for the value.
        let detail = format!("must not be specified when patchType is {kind}");
        causes.invalid_str(&path.child(other), &format!("{{{other}}}"), &detail);
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
