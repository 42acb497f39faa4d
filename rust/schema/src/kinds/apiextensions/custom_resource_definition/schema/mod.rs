//! The fields allowed in a schema (`ValidateCustomResourceDefinitionOpenAPISchema`).

mod lists;
mod rules;

use hydrofoil_types::{Causes, Path, Value};

use super::internal;
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

pub(super) const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// The place of a schema.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// At the root of the resource.
    pub root: bool,
    /// Within the metadata of an object.
    pub meta: bool,
    /// Why it may have no default, if it may not.
    pub no_default: Option<&'static str>,
    /// Whether its type must be a known one.
    pub typed: bool,
}

impl Place {
    /// Return the root of a schema, which may have defaults or not, and whose types must be known ones or not.
    pub(super) fn root(defaults: bool, types: bool) -> Self {
        let reason =
            "(cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)";
        Self { root: true, meta: false, no_default: (!defaults).then_some(reason), typed: types }
    }
}

/// Validate the root of a schema: with a status subresource only some fields are allowed at the root.
pub(super) fn root_with_status(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    const ALLOWED: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
    // In Go's order; only the first invalid one is reported.
    const BEFORE: [&str; 3] = ["id", "$schema", "$ref"];
    const AFTER: [&str; 19] = [
        "nullable",
        "default",
        "enum",
        "maxProperties",
        "minProperties",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    ];
    let set = |key: &&str| props.get(key).is_some_and(|v| !v.is_zero() || v.as_object().is_some());
    let detail =
        format!("only {ALLOWED} fields are allowed at the root of the schema if the status subresource is enabled");
    if BEFORE.iter().any(&set) {
        return causes.invalid(&path.child("openAPIV3Schema"), &internal::schema(props), &detail);
    }
    let kind = props.text("type");
    if !kind.is_empty() && kind != "object" {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return causes.invalid_str(&path.child("openAPIV3Schema.type"), kind, detail);
    }
    if AFTER.iter().any(set) {
        causes.invalid(&path.child("openAPIV3Schema"), &internal::schema(props), &detail);
    }
}

/// `specStandardValidatorV3.validate`.
fn standard(props: &Value, path: &Path<'_>, place: Place, causes: &mut Causes) {
    let kind = props.text("type");
    if place.typed && !kind.is_empty() {
        causes.one_of(&path.child("type"), kind, &TYPES);
    }
    if let (Some(reason), true) = (place.no_default, props.has("default")) {
        causes.forbidden(&path.child("default"), &format!("must not be set {reason}"));
    }
    if !props.zero("id") {
        causes.forbidden(&path.child("id"), "id is not supported");
    }
    if props.has("additionalItems") {
        causes.forbidden(&path.child("additionalItems"), "additionalItems is not supported");
    }
    for key in ["patternProperties", "definitions", "dependencies"] {
        if !props.zero(key) || (key == "dependencies" && props.has(key)) {
            causes.forbidden(&path.child(key), &format!("{key} is not supported"));
        }
    }
    if props.has("$ref") {
        causes.forbidden(&path.child("$ref"), "$ref is not supported");
    }
    if kind == "null" {
        causes.forbidden(&path.child("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if !props.list("items").is_empty() {
        causes.forbidden(&path.child("items"), "items must be a schema object and not an array");
    }
    if place.meta && props.flag("x-kubernetes-embedded-resource") {
        let detail = "must not be used inside of resource meta";
        causes.forbidden(&path.child("x-kubernetes-embedded-resource"), detail);
    }
}

/// Add the causes of an invalid schema.
pub(super) fn check(props: &Value, path: &Path<'_>, place: Place, causes: &mut Causes) {
    standard(props, path, place, causes);
    if props.flag("uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.forbidden(&path.child("uniqueItems"), detail);
    }
    let inner = Place { root: false, ..place };
    if let Some(additional) = props.opt("additionalProperties") {
        let at = path.child("additionalProperties");
        if !props.zero("properties") && additional.as_bool() != Some(true) {
            causes.forbidden(&at, "additionalProperties and properties are mutual exclusive");
        }
        if additional.as_object().is_some() {
            let reason = place.meta.then_some("inside additionalProperties applying to object metadata");
            check(additional, &at, Place { no_default: reason.or(place.no_default), ..inner }, causes);
        }
    }
    let at = path.child("properties");
    let holds_meta = place.root || props.flag("x-kubernetes-embedded-resource");
    for (key, value) in props.entries("properties") {
        let mut below = inner;
        if holds_meta && matches!(key.as_str(), "metadata" | "kind" | "apiVersion") {
            below.meta = true;
            if place.root {
                below.no_default = Some(match key.as_str() {
                    "metadata" => "in top-level metadata",
                    "kind" => "in top-level kind",
                    _ => "in top-level apiVersion",
                });
            }
        }
        check(value, &at.key(key), below, causes);
    }
    if let Some(not) = props.opt("not") {
        check(not, &path.child("not"), inner, causes);
    }
    for key in ["allOf", "oneOf", "anyOf"] {
        let at = path.child(key);
        for (i, value) in props.list(key).iter().enumerate() {
            check(value, &at.index(i), inner, causes);
        }
    }
    if let Some(items) = props.opt("items").filter(|i| i.as_object().is_some()) {
        check(items, &path.child("items"), inner, causes);
    }
    lists::validate(props, path, causes);
    rules::validate(props, path, causes);
}
