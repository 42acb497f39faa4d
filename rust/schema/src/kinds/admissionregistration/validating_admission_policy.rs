//! Validating admission policies (`pkg/registry/admissionregistration/validatingadmissionpolicy/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use super::expression::{About, Compiler};
use super::policy;
use crate::kind::{GenerationRule, MetadataCheck, Strategy, reset_metadata};
use hydrofoil_jsonpath::JsonPath;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::conditions;
use hydrofoil_rules::format::label;
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    generation: GenerationRule::of_spec("admissionregistration.ValidatingAdmissionPolicySpec"),
    default: |_, object, _| policy::default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: |req, object, causes| validate(object, req.old, causes),
    validate_update: |req, object, old, causes| {
        if req.subresource == "status" {
            validate_status(object, causes);
        } else {
            validate(object, Some(old), causes);
        }
    },
    row: Some(|of| policy::row(of, "validations")),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateValidatingAdmissionPolicy`, with the old object on updates.
fn validate(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let compiler = policy::validate(object, old, false, causes);
    validations(object, &compiler, causes);
}

/// Validate the expressions and the annotations.
fn validations(object: &Value, compiler: &Compiler, causes: &mut Causes) {
    let spec = object.field("spec");
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
        causes.invalid(&audit_path, spec.field("auditAnnotations"), "must not have more than 20 auditAnnotations");
    }
    let duplicates = Duplicates::of(audits, |v| v.text("key"));
    for (i, audit) in audits.iter().enumerate() {
        let at = audit_path.index(i);
        annotation(object, audit, compiler, &at, causes);
        let key = audit.text("key");
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("key"), key);
        }
    }
}

/// `validateValidation`.
fn validation(validation: &Value, compiler: &Compiler, path: &Path<'_>, causes: &mut Causes) {
    let (text, at) = (validation.text("expression"), path.child("expression"));
    if text.trim().is_empty() {
        causes.required(&at, "expression is not specified");
    } else {
        compiler.check(text, About::Authorizer, &["bool"], &at, causes);
    }
    let (text, at) = (validation.text("messageExpression"), path.child("messageExpression"));
    if !text.is_empty() && text.trim().is_empty() {
        causes.invalid_str(&at, text, "must be non-empty if specified");
    } else if !text.is_empty() {
        compiler.check(text, About::Request, &["string"], &at, causes);
    }
    let (text, at) = (validation.text("message"), path.child("message"));
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
    let (at, key) = (path.child("key"), audit.text("key"));
    let name = object.field("metadata").text("name");
    if name.is_empty() {
        causes.invalid_str(&at, key, "requires metadata.name be non-empty");
    } else {
        causes.format(&at, &format!("{name}/{key}"), label::key);
    }
    let (at, text) = (path.child("valueExpression"), audit.text("valueExpression"));
    let trimmed = text.trim();
    if trimmed.is_empty() {
        causes.required(&at, "valueExpression is not specified");
    } else if trimmed.len() > LONGEST {
        causes.required(&at, &format!("must not exceed {LONGEST} bytes in length"));
    } else {
        compiler.check_shown(trimmed, About::Authorizer, &["string", "null_type"], &at, text, causes);
    }
}

/// `validateValidatingAdmissionPolicyStatus`.
fn validate_status(object: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let status = object.field("status");
    let at = path.child("typeChecking");
    let at = at.child("expressionWarnings");
    for (i, warning) in status.field("typeChecking").list("expressionWarnings").iter().enumerate() {
        let at = at.index(i);
        if warning.zero("warning") {
            causes.need(&at.child("warning"));
        }
        let at = at.child("fieldRef");
        match warning.text("fieldRef").trim() {
            "" => causes.need(&at),
            path => {
                if let Err(why) = JsonPath::parse(path) {
                    causes.invalid_str(&at, path, &format!("invalid JSONPath: {why}"));
                }
            }
        }
    }
    conditions::conditions(status.list("conditions"), &path.child("conditions"), causes);
}
