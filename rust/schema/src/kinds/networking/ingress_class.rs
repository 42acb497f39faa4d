//! Ingress classes (`pkg/registry/networking/ingressclass/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{GenerationRule, MetadataCheck, Strategy};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::domain_path::domain_path;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    generation: GenerationRule::of_spec("networking.IngressClassSpec"),
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

fn default(object: &mut Value) {
    object.within("spec", |s| s.within("parameters", |p| p.unset("scope", "Cluster")));
}

/// `ValidateIngressClass`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let (at, controller) = (SPEC.child("controller"), spec.text("controller"));
    if controller.len() > 250 {
        causes.too_long(&at, 250);
    }
    domain_path(controller, &at, causes);
    parameters(spec, causes);
}

fn parameters(spec: &Value, causes: &mut Causes) {
    let Some(reference) = spec.opt("parameters") else { return };
    let at = SPEC.child("parameters");
    if let Some(group) = reference.opt("apiGroup") {
        causes.format(&at.child("apiGroup"), group.as_str().unwrap_or(""), name::subdomain);
    }
    for key in ["kind", "name"] {
        if reference.zero(key) {
            causes.need(&at.child(key));
        } else {
            causes.format(&at.child(key), reference.text(key), name::path_segment);
        }
    }
    let namespace_at = at.child("namespace");
    let namespace = reference.opt("namespace").map(|n| n.as_str().unwrap_or(""));
    let scope_at = at.child("scope");
    let Some(scope) = reference.opt("scope") else { return causes.need(&scope_at) };
    match scope.as_str().unwrap_or("") {
        "Namespace" => match namespace {
            None => causes.required(&namespace_at, "`parameters.scope` is set to 'Namespace'"),
            Some(text) => causes.format(&namespace_at, text, name::label),
        },
        "Cluster" => {
            if namespace.is_some() {
                causes.forbidden(&namespace_at, "`parameters.scope` is set to 'Cluster'");
            }
        }
        other => causes.unsupported(&scope_at, other, &["Cluster", "Namespace"]),
    }
}

/// `ValidateIngressClassUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.field("spec"), old.field("spec"));
    if new.text("controller") != before.text("controller") {
        causes.invalid_str(&SPEC.child("controller"), new.text("controller"), IMMUTABLE);
    }
    validate(object, causes);
}

/// `printIngressClass`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let default = subject.annotation("ingressclass.kubernetes.io/is-default-class") == Some("true");
    let parameters = subject.spec().opt("parameters").map_or_else(
        || "<none>".to_owned(),
        |p| match p.opt("apiGroup") {
            Some(group) => format!("{}.{}/{}", p.text("kind"), group.as_str().unwrap_or(""), p.text("name")),
            None => format!("{}/{}", p.text("kind"), p.text("name")),
        },
    );
    cells![
        format!("{}{}", subject.name(), if default { " (default)" } else { "" }),
        subject.spec().text("controller"),
        parameters,
        subject.age(),
    ]
}
