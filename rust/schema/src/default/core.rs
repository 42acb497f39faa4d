//! Core kinds without pods.

#![allow(clippy::arithmetic_side_effects, reason = "amounts are far below 128 bits")]

use base64::Engine as _;
use hydrofoil_types::{Map, Quantity, Value};

use crate::read::{Read, Write};

/// `SetDefaults_ResourceList`: amounts below a thousandth are rounded up.
pub(super) fn resource_list(holder: &mut Value, key: &str) {
    const MILLI: i128 = 1_000_000;
    let Some(map) = holder.get_mut(key).and_then(Value::as_object_mut) else { return };
    for (_, amount) in map.iter_mut() {
        // Only these two suffixes can stand for less than a thousandth.
        let Some(quantity) = amount.as_str().filter(|t| t.ends_with(['n', 'u'])).and_then(|t| Quantity::parse(t).ok())
        else {
            continue;
        };
        let nano = quantity.nano();
        let rest = nano % MILLI;
        if rest != 0 {
            let up = nano - rest + if nano > 0 { MILLI } else { -MILLI };
            *amount = Value::from(quantity.with_nano(up).to_string());
        }
    }
}

/// Copies the entries of a resource list that another lacks.
pub(super) fn fill_list(holder: &mut Value, to: &str, from: &Map) {
    let target = holder.make(to);
    let Some(map) = target.as_object_mut() else { return };
    let mut added = false;
    for (name, amount) in from {
        if !map.contains_key(name) {
            map.push(name.clone(), amount.clone());
            added = true;
        }
    }
    if added {
        map.sort_keys();
    }
}

pub(super) fn secret(object: &mut Value) {
    // The conversion writes the texts over the bytes of the same names.
    if let Some(texts) = object.as_object_mut().and_then(|m| m.remove("stringData")) {
        let data = object.make("data");
        for (key, text) in texts.as_object().into_iter().flatten() {
            let text = text.as_str().unwrap_or("");
            data.put(key, base64::engine::general_purpose::STANDARD.encode(text));
        }
        if let Some(map) = data.as_object_mut() {
            map.sort_keys();
        }
        if object.zero("data") {
            object.drop("data");
        }
    }
    object.fill("type", "Opaque");
}

pub(super) fn namespace(object: &mut Value) {
    object.make("status").fill("phase", "Active");
    named_namespace(object);
}

/// The label that a namespace has by its name.
pub(crate) fn named_namespace(object: &mut Value) {
    let name = object.sub("metadata").s("name").to_owned();
    if name.is_empty() {
        return;
    }
    let labels = object.make("metadata").make("labels");
    labels.put("kubernetes.io/metadata.name", name);
    if let Some(map) = labels.as_object_mut() {
        map.sort_keys();
    }
}

pub(super) fn node(object: &mut Value) {
    // The conversion joins the two fields for pod networks; the single one wins.
    object.within("spec", |spec| {
        let first = spec.list("podCIDRs").first().and_then(Value::as_str).unwrap_or("").to_owned();
        let single = spec.s("podCIDR").to_owned();
        if single.is_empty() {
            if !first.is_empty() {
                spec.put("podCIDR", first);
            }
        } else if single != first {
            spec.put("podCIDRs", vec![Value::from(single)]);
        }
    });
    object.within("status", |status| {
        resource_list(status, "capacity");
        resource_list(status, "allocatable");
        if let (None, Some(capacity)) = (status.opt("allocatable"), status.opt("capacity")) {
            let capacity = capacity.clone();
            status.put("allocatable", capacity);
        }
    });
}

pub(super) fn limit_range(object: &mut Value) {
    object.within("spec", |spec| {
        spec.each("limits", |item| {
            if item.s("type") == "Container" {
                for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
                    if let Some(list) = item.get(from).and_then(Value::as_object).filter(|m| !m.is_empty()).cloned() {
                        fill_list(item, to, &list);
                    }
                }
            }
            for key in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
                resource_list(item, key);
            }
        });
    });
}

pub(super) fn resource_quota(object: &mut Value) {
    object.within("spec", |s| resource_list(s, "hard"));
    object.within("status", |s| {
        resource_list(s, "hard");
        resource_list(s, "used");
    });
}

pub(super) fn endpoints(object: &mut Value) {
    object.each("subsets", |subset| subset.each("ports", |port| port.fill("protocol", "TCP")));
}
