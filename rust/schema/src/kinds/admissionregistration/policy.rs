//! Rules shared by validating and mutating admission policies.

use hydrofoil_types::{Causes, Path, Value};

use super::expression::Compiler;
use super::{match_conditions, match_resources};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

/// Fill optional fields.
pub(super) fn default(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("failurePolicy", "Fail");
    spec.within("matchConstraints", match_resources::default);
}

/// Validate the spec of a policy and its old object up to the variables; return the compiler that knows these.
pub(super) fn validate(object: &Value, old: Option<&Value>, mutating: bool, causes: &mut Causes) -> Compiler {
    let spec = object.field("spec");
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
            match_resources::validate(constraints, &at, causes);
            if constraints.list("resourceRules").is_empty() {
                causes.need(&at.child("resourceRules"));
            }
            if mutating {
                match_resources::validate_mutable(constraints, &at, causes);
            }
        }
    }
    // Fields stored with the present conditions are not validated against them again.
    let same = |key: &str| old.is_some_and(|old| old.field("spec").opt(key) == spec.opt(key));
    if !(same("paramKind") && same("matchConditions")) {
        let at = SPEC.child("matchConditions");
        match_conditions::validate(spec.list("matchConditions"), spec.has("paramKind"), &at, causes);
    }
    let mut compiler = Compiler::of(spec, mutating);
    variables(spec, &mut compiler, causes);
    compiler
}

fn param_kind(kind: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (at, version) = (path.child("apiVersion"), kind.text("apiVersion"));
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
    let (at, text) = (path.child("kind"), kind.text("kind"));
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
        let own = variable.text("name");
        if own.trim().is_empty() {
            causes.required(&at.child("name"), "name is not specified");
        } else if !is_identifier(own) {
            causes.invalid_str(&at.child("name"), own, "must be a valid CEL identifier");
        }
        let text = variable.text("expression");
        if text.trim().is_empty() {
            causes.required(&at.child("expression"), "expression is not specified");
        } else {
            compiler.variable(own, text, &at.child("expression"), causes);
        }
    }
}

/// Report whether a text is an identifier of CEL that is not a reserved word.
fn is_identifier(text: &str) -> bool {
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

/// Print a policy with the number of its parts.
pub(super) fn row(subject: &Subject<'_>, parts: &str) -> Vec<Value> {
    let kind = subject
        .spec()
        .opt("paramKind")
        .map_or_else(|| "<unset>".to_owned(), |k| format!("{}/{}", k.text("apiVersion"), k.text("kind")));
    cells![subject.name(), subject.spec().list(parts).len() as i64, kind, subject.age()]
}
