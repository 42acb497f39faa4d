//! What may be written in a schema (`ValidateCustomResourceDefinitionOpenAPISchema`).

use hydrofoil_types::{Again, Causes, Path, Seen, Value, Whole};

use super::fields::find;
use super::internal;
use super::options::Options;
use crate::read::Read;
use crate::validate::check::Check;

pub(super) const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Where a schema stands.
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
    /// The root of a schema.
    pub(super) fn root(options: Options) -> Self {
        let reason =
            "(cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)";
        Self { root: true, meta: false, no_default: (!options.defaults).then_some(reason), typed: options.types }
    }
}

/// With a status subresource only some fields may stand at the root.
pub(super) fn root_with_status(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    const ALLOWED: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
    // In Go's order; the first that is wrong is told.
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
    let kind = props.s("type");
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
    let kind = props.s("type");
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
    if place.meta && props.b("x-kubernetes-embedded-resource") {
        let detail = "must not be used inside of resource meta";
        causes.forbidden(&path.child("x-kubernetes-embedded-resource"), detail);
    }
}

pub(super) fn check(props: &Value, path: &Path<'_>, place: Place, causes: &mut Causes) {
    standard(props, path, place, causes);
    if props.b("uniqueItems") {
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
    let holds_meta = place.root || props.b("x-kubernetes-embedded-resource");
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
    extensions(props, path, causes);
    validations(props, path, causes);
}

fn extensions(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    let kind = props.s("type");
    if props.get("x-kubernetes-preserve-unknown-fields").and_then(Value::as_bool) == Some(false) {
        let at = path.child("x-kubernetes-preserve-unknown-fields");
        causes.invalid(&at, &Value::Bool(false), "must be true or undefined");
    }
    let of = |wanted: &str, key: &str, causes: &mut Causes| {
        let detail = format!("must be {wanted} if {key} is specified");
        if kind.is_empty() {
            causes.required(&path.child("type"), &detail);
        } else {
            causes.invalid_str(&path.child("type"), kind, &detail);
        }
    };
    if let Some(map) = props.opt("x-kubernetes-map-type").map(|m| m.as_str().unwrap_or("")) {
        if kind != "object" {
            of("object", "x-kubernetes-map-type", causes);
        }
        causes.one_of(&path.child("x-kubernetes-map-type"), map, &["atomic", "granular"]);
    }
    let list = props.opt("x-kubernetes-list-type").map(|l| l.as_str().unwrap_or(""));
    let items = props.opt("items");
    let at = path.child("x-kubernetes-list-type");
    if let Some(list) = list {
        if kind != "array" {
            of("array", "x-kubernetes-list-type", causes);
        } else if list == "set" {
            atomic_items(items, path, causes);
        }
        causes.one_of(&at, list, &["atomic", "set", "map"]);
    }
    let keys = props.list("x-kubernetes-list-map-keys");
    if !keys.is_empty() {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list {
            None => causes.required(&at, detail),
            Some("map") => {}
            Some(other) => causes.invalid_str(&at, other, detail),
        }
    }
    if list == Some("map") {
        map_list(props, keys, items, path, causes);
    }
    if let (Some(list @ ("set" | "map")), Some(items)) = (list, items) {
        let at = path.child("items");
        if items.b("nullable") {
            causes
                .forbidden(&at.child("nullable"), &format!("cannot be nullable when x-kubernetes-list-type is {list}"));
        }
        if list == "map" {
            map_keys(items, keys, &at, causes);
        }
    }
}

fn atomic_items(items: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    const DETAIL: &str = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let Some(items) = items else { return };
    let at = path.child("items");
    match items.s("type") {
        "array" if items.has("x-kubernetes-list-type") && items.s("x-kubernetes-list-type") != "atomic" => {
            let key = "x-kubernetes-list-type";
            causes.invalid(&at.child(key), items.sub(key), DETAIL);
        }
        "object" if items.s("x-kubernetes-map-type") != "atomic" => {
            let shown = items.sub("x-kubernetes-list-type");
            causes.invalid(&at.child("x-kubernetes-map-type"), shown, DETAIL);
        }
        _ => {}
    }
}

fn map_list(props: &Value, keys: &[Value], items: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let keys_at = path.child("x-kubernetes-list-map-keys");
    if keys.is_empty() {
        causes.required(&keys_at, "must not be empty if x-kubernetes-list-type is map");
    }
    let at = path.child("items");
    let Some(items) = items else {
        return causes.required(&at, "must have a schema if x-kubernetes-list-type is map");
    };
    if items.as_object().is_none() {
        return causes.invalid(&at, items, "must only have a single schema if x-kubernetes-list-type is map");
    }
    if items.s("type") != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        return causes.invalid_str(&at.child("type"), items.s("type"), detail);
    }
    let again = Again::of(keys, Whole);
    for (i, key) in keys.iter().enumerate() {
        let own = key.as_str().unwrap_or("");
        match items.sub("properties").get(own) {
            None => {
                let shown = props.sub("x-kubernetes-list-map-keys");
                causes.invalid(&keys_at, shown, "entries must all be names of item properties");
            }
            Some(property) if matches!(property.s("type"), "array" | "object") => {
                let at = at.child("properties");
                let at = at.key(own);
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                causes.invalid_str(&at.child("type"), items.s("type"), detail);
            }
            Some(_) => {}
        }
        if again.at(i) {
            let shown = props.sub("x-kubernetes-list-map-keys");
            causes.invalid(&keys_at, shown, "must not contain duplicate entries");
        }
    }
}

fn map_keys(items: &Value, keys: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("properties");
    let required: Seen<_> = items.list("required").iter().map(Whole).collect();
    for key in keys {
        let own = key.as_str().unwrap_or("");
        let Some(property) = items.sub("properties").get(own) else { continue };
        let at = at.key(own);
        if !required.contains(&Whole(key)) && !property.has("default") {
            let detail =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            causes.required(&at.child("default"), detail);
        }
        if property.b("nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.forbidden(&at.child("nullable"), detail);
        }
    }
}

fn validations(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("x-kubernetes-validations");
    let lines = |t: &str| t.contains(['\n', '\r']);
    for (i, rule) in props.list("x-kubernetes-validations").iter().enumerate() {
        let at = at.index(i);
        let (text, message) = (rule.s("rule").trim(), rule.s("message"));
        if text.is_empty() {
            causes.required(&at.child("rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            causes.invalid_str(&at.child("message"), message, "must be non-empty if specified");
        } else if lines(message.trim()) {
            causes.invalid_str(&at.child("message"), message, "must not contain line breaks");
        } else if lines(text) && message.trim().is_empty() {
            causes.required(&at.child("message"), "message must be specified if rule contains line breaks");
        }
        let expression = rule.s("messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            causes.required(&at.child("messageExpression"), detail);
        }
        if let Some(reason) = rule.opt("reason") {
            causes.one_of(&at.child("reason"), reason.as_str().unwrap_or(""), &REASONS);
        }
        let field = rule.s("fieldPath");
        if field.is_empty() {
            continue;
        }
        let at = at.child("fieldPath");
        if field.trim().is_empty() {
            causes.invalid_str(&at, field, "must be non-empty if specified");
        }
        if lines(field) {
            causes.invalid_str(&at, field, "must not contain line breaks");
        }
        if find(props, field, true).is_err() {
            causes.invalid_str(&at, field, "must be a valid path");
        }
    }
}
