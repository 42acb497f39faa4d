//! Whether a schema is structural (apiextensions `pkg/apiserver/schema/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_custom as custom;
use hydrofoil_types::read::Read;

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// `ValidateStructural`.
pub(super) fn check(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    invariants(props, Level::Root, path, causes);
    completeness(props, path, causes);
}

fn invariants(s: &Value, level: Level, path: &Path<'_>, causes: &mut Causes) {
    let kind = s.text("type");
    let items = s.opt("items").filter(|i| i.as_object().is_some());
    if kind == "array" && (!s.has("items") || s.field("items").as_array().is_some_and(<[Value]>::is_empty)) {
        causes.required(&path.child("items"), "must be specified");
    }
    if let Some(items) = items {
        invariants(items, Level::Item, &path.child("items"), causes);
    }
    let at = path.child("properties");
    for (key, value) in s.entries("properties") {
        invariants(value, Level::Field, &at.key(key), causes);
    }
    let additional = s.opt("additionalProperties");
    let additional_at = path.child("additionalProperties");
    if let Some(additional) = additional {
        if level == Level::Root {
            causes.forbidden(&additional_at, "must not be used at the root");
        }
        if additional.as_object().is_some() {
            invariants(additional, Level::Field, &additional_at, causes);
        }
    }
    extensions(s, path, causes);
    values(s, is_int_or_string(s), path, causes);
    let embedded = s.flag("x-kubernetes-embedded-resource");
    let at = path.child("type");
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        if kind.is_empty() {
            causes.required(&at, detail);
        } else {
            causes.invalid_str(&at, kind, detail);
        }
    } else if kind.is_empty()
        && !s.flag("x-kubernetes-int-or-string")
        && !s.flag("x-kubernetes-preserve-unknown-fields")
    {
        causes.required(
            &at,
            match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            },
        );
    }
    if embedded && additional.is_some() {
        causes.forbidden(&additional_at, "must not be used if x-kubernetes-embedded-resource is set");
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        causes.invalid_str(&at, kind, "must be object at the root");
    }
    object_meta(s, level, embedded, path, causes);
}

fn object_meta(s: &Value, level: Level, embedded: bool, path: &Path<'_>, causes: &mut Causes) {
    let whole = level == Level::Root || embedded;
    let at = path.child("properties");
    for key in ["kind", "apiVersion"] {
        if let Some(property) = s.field("properties").get(key).filter(|p| whole && p.text("type") != "string") {
            causes.invalid_str(&at.key(key).child("type"), property.text("type"), "must be string");
        }
    }
    if let Some(metadata) = s.field("properties").get("metadata") {
        let at = at.key("metadata");
        if whole && metadata.text("type") != "object" {
            causes.invalid_str(&at.child("type"), metadata.text("type"), "must be object");
        }
        if level == Level::Root {
            let names = metadata.entries("properties").all(|(k, _)| matches!(k.as_str(), "name" | "generateName"));
            let others = metadata.as_object().is_some_and(|m| {
                m.iter().any(|(k, v)| !matches!(k.as_str(), "type" | "default" | "properties") && !v.is_zero())
            });
            if !names || others {
                let detail =
                    "must not specify anything other than name and generateName, but metadata is implicitly specified";
                causes.forbidden(&at, detail);
            }
        }
    }
    if embedded && !s.flag("x-kubernetes-preserve-unknown-fields") && s.zero("properties") {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        causes.required(&at, detail);
    }
}

fn extensions(s: &Value, path: &Path<'_>, causes: &mut Causes) {
    if !s.flag("x-kubernetes-int-or-string") {
        return;
    }
    for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if s.flag(key) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            causes.invalid(&path.child(key), &Value::Bool(true), detail);
        }
    }
}

/// `x-kubernetes-int-or-string` allows the one pattern that spells it out.
fn is_int_or_string(s: &Value) -> bool {
    let pattern = |list: &[Value]| {
        matches!(list, [a, b] if a.text("type") == "integer" && b.text("type") == "string"
            && a.as_object().is_some_and(|m| m.len() == 1) && b.as_object().is_some_and(|m| m.len() == 1))
    };
    pattern(s.list("anyOf")) || s.list("allOf").first().is_some_and(|f| pattern(f.list("anyOf")))
}

/// Report whether a schema can be made structural at all, as it has no fields that validation refuses
/// (`validateUnsupportedFields`).
pub(super) fn is_supported(props: &Value) -> bool {
    const UNSUPPORTED: [&str; 6] =
        ["id", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];
    let inner = ["items", "additionalProperties", "not"].iter().filter_map(|key| props.opt(key));
    let lists = ["allOf", "anyOf", "oneOf"].iter().flat_map(|key| props.list(key));
    UNSUPPORTED.iter().all(|key| props.zero(key) && (*key != "additionalItems" || !props.has(key)))
        && props.field("items").as_array().is_none_or(<[Value]>::is_empty)
        && inner.chain(lists).chain(props.entries("properties").map(|(_, v)| v)).all(is_supported)
}

/// Report whether a schema or a part of it has `$schema`, which no structural schema can have either; that is reported
/// only when there is nothing else.
pub(super) fn names_schema(props: &Value) -> bool {
    let inner = ["items", "additionalProperties", "not"].iter().filter_map(|key| props.opt(key));
    let lists = ["allOf", "anyOf", "oneOf"].iter().flat_map(|key| props.list(key));
    !props.zero("$schema") || inner.chain(lists).chain(props.entries("properties").map(|(_, v)| v)).any(names_schema)
}

/// `validateValueValidation`.
fn values(s: &Value, int_or_string: bool, path: &Path<'_>, causes: &mut Causes) {
    if let Some(why) = Some(s.text("pattern")).filter(|p| !p.is_empty()).and_then(custom::pattern_problem) {
        let why = format!("must be a valid regular expression, but isn't: {why}");
        causes.invalid_str(&path.child("pattern"), s.text("pattern"), &why);
    }
    for key in ["anyOf", "allOf", "oneOf"] {
        let at = path.child(key);
        for (i, value) in s.list(key).iter().enumerate() {
            if int_or_string && (key == "anyOf" || (key == "allOf" && i == 0)) {
                continue;
            }
            nested_validation(value, &at.index(i), causes);
        }
    }
    if let Some(not) = s.opt("not") {
        nested_validation(not, &path.child("not"), causes);
    }
}

/// `validateNestedValueValidation`: nothing but values may be restricted.
fn nested_validation(v: &Value, path: &Path<'_>, causes: &mut Causes) {
    const EMPTY: &str = "must be empty to be structural";
    const UNDEFINED: &str = "must be undefined to be structural";
    const FALSE: &str = "must be false to be structural";
    values(v, false, path, causes);
    if let Some(items) = v.opt("items").filter(|i| i.as_object().is_some()) {
        nested_validation(items, &path.child("items"), causes);
    }
    let at = path.child("properties");
    for (key, value) in v.entries("properties") {
        nested_validation(value, &at.key(key), causes);
    }
    let mut forbid = |key: &str, set: bool, detail: &str| {
        if set {
            causes.forbidden(&path.child(key), detail);
        }
    };
    forbid("type", !v.zero("type"), EMPTY);
    // `false` is the absence of a schema, which upstream does not see here.
    forbid("additionalProperties", v.opt("additionalProperties").is_some_and(|a| *a != Value::Bool(false)), UNDEFINED);
    forbid("default", v.has("default"), UNDEFINED);
    forbid("title", !v.zero("title"), EMPTY);
    forbid("description", !v.zero("description"), EMPTY);
    forbid("nullable", v.flag("nullable"), FALSE);
    for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"]
    {
        forbid(key, v.flag(key), FALSE);
    }
    forbid("x-kubernetes-list-map-keys", !v.zero("x-kubernetes-list-map-keys"), EMPTY);
    forbid("x-kubernetes-list-type", v.has("x-kubernetes-list-type"), UNDEFINED);
    forbid("x-kubernetes-map-type", v.has("x-kubernetes-map-type"), UNDEFINED);
    forbid("x-kubernetes-validations", !v.zero("x-kubernetes-validations"), EMPTY);
    if v.field("properties").has("metadata") {
        causes.forbidden(&at.key("metadata"), "must not be specified in a nested context");
    }
}

/// `validateStructuralCompleteness`: members named in junctors of the root must be named beside them too.
fn completeness(root: &Value, at: &Path<'_>, causes: &mut Causes) {
    for key in ["allOf", "anyOf", "oneOf"] {
        let path = at.child(key);
        for (i, one) in root.list(key).iter().enumerate() {
            check_covered(one, root, &path.index(i), at, causes);
        }
    }
    if let Some(not) = root.opt("not") {
        check_covered(not, root, &at.child("not"), at, causes);
    }
}

fn check_covered(v: &Value, skeleton: &Value, at: &Path<'_>, skeleton_at: &Path<'_>, causes: &mut Causes) {
    let because = |here: &Path<'_>| format!("because it is defined in {here}");
    if let Some(items) = v.opt("items").filter(|i| i.as_object().is_some()) {
        let here = at.child("items");
        match skeleton.opt("items") {
            Some(own) => check_covered(items, own, &here, &skeleton_at.child("items"), causes),
            None => causes.required(&skeleton_at.child("items"), &because(&here)),
        }
    }
    let (path, own) = (at.child("properties"), skeleton_at.child("properties"));
    for (key, value) in v.entries("properties") {
        let here = path.key(key);
        match skeleton.field("properties").get(key) {
            Some(next) => check_covered(value, next, &here, &own.key(key), causes),
            None => causes.required(&own.key(key), &because(&here)),
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let path = at.child(key);
        for (i, one) in v.list(key).iter().enumerate() {
            check_covered(one, skeleton, &path.index(i), skeleton_at, causes);
        }
    }
    if let Some(not) = v.opt("not") {
        check_covered(not, skeleton, &at.child("not"), skeleton_at, causes);
    }
}
