//! Ingress classes.

use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::validate::batch::domain_path;
use crate::validate::check::{Check, IMMUTABLE};
use crate::validate::format::name;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn rules(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let (at, controller) = (SPEC.child("controller"), spec.s("controller"));
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
            causes.format(&at.child(key), reference.s(key), name::path_segment);
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

pub(crate) fn update(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.sub("spec"), old.sub("spec"));
    if new.s("controller") != before.s("controller") {
        causes.invalid_str(&SPEC.child("controller"), new.s("controller"), IMMUTABLE);
    }
    rules(object, causes);
}
