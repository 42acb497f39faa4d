//! The extensions for maps and lists.

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value, Whole};

use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// Add the causes of invalid extensions for maps and lists.
pub(super) fn validate(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    let kind = props.text("type");
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
        if items.flag("nullable") {
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
    match items.text("type") {
        "array" if items.has("x-kubernetes-list-type") && items.text("x-kubernetes-list-type") != "atomic" => {
            let key = "x-kubernetes-list-type";
            causes.invalid(&at.child(key), items.field(key), DETAIL);
        }
        "object" if items.text("x-kubernetes-map-type") != "atomic" => {
            let shown = items.field("x-kubernetes-list-type");
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
    if items.text("type") != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        return causes.invalid_str(&at.child("type"), items.text("type"), detail);
    }
    let duplicates = Duplicates::of(keys, Whole);
    for (i, key) in keys.iter().enumerate() {
        let own = key.as_str().unwrap_or("");
        match items.field("properties").get(own) {
            None => {
                let shown = props.field("x-kubernetes-list-map-keys");
                causes.invalid(&keys_at, shown, "entries must all be names of item properties");
            }
            Some(property) if matches!(property.text("type"), "array" | "object") => {
                let at = at.child("properties");
                let at = at.key(own);
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                causes.invalid_str(&at.child("type"), items.text("type"), detail);
            }
            Some(_) => {}
        }
        if duplicates.is_repeat(i) {
            let shown = props.field("x-kubernetes-list-map-keys");
            causes.invalid(&keys_at, shown, "must not contain duplicate entries");
        }
    }
}

fn map_keys(items: &Value, keys: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("properties");
    let required: KeySet<_> = items.list("required").iter().map(Whole).collect();
    for key in keys {
        let own = key.as_str().unwrap_or("");
        let Some(property) = items.field("properties").get(own) else { continue };
        let at = at.key(own);
        if !required.contains(&Whole(key)) && !property.has("default") {
            let detail =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            causes.required(&at.child("default"), detail);
        }
        if property.flag("nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.forbidden(&at.child("nullable"), detail);
        }
    }
}
