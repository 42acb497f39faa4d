//! Limit ranges (`pkg/registry/core/limitrange/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Quantity, Value};

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_rules::quantities::{fill_list, resource_list};
use hydrofoil_rules::resource::{self, quantity};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    default: |_, object, _| default(object),
    prepare_create: |_, object, _| random_name(object),
    metadata_on_update: &[MetadataCheck::Object],
    validate: |_, object, causes| validate(object, causes),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.within("spec", |spec| {
        spec.each("limits", |item| {
            if item.text("type") == "Container" {
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

/// Name a limit range that has no name.
fn random_name(object: &mut Value) {
    let meta = object.make("metadata");
    if meta.text("name").is_empty() {
        let uid = meta.text("uid").to_owned();
        meta.put("name", uid);
    }
}

/// Quantities below it can be expressed in thousandths (apimachinery `resource.MaxMilliValue`).
const MAX_MILLI: i128 = 9_223_372_036_854_775;

fn validate(object: &Value, causes: &mut Causes) {
    let spec = Path::new("spec");
    let path = spec.child("limits");
    let limits = object.field("spec").list("limits");
    let duplicates = Duplicates::of(limits, |v| v.text("type"));
    for (i, limit) in limits.iter().enumerate() {
        let at = path.index(i);
        let kind = limit.text("type");
        let before = causes.len();
        causes.format(&at.child("type"), kind, label::key);
        let known = matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim");
        if causes.len() == before && !kind.contains('/') && !known {
            causes.invalid_str(&at.child("type"), kind, "must be a standard limit type or fully qualified");
        }
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("type"), kind);
        }
        item(limit, kind, &at, causes);
    }
}

fn item(limit: &Value, kind: &str, path: &Path<'_>, causes: &mut Causes) {
    let names = |list: &str, causes: &mut Causes| {
        let at = path.child(list);
        for (name, _) in limit.entries(list) {
            if matches!(kind, "Pod" | "Container") {
                resource::container_name(name, &at.key(name), causes);
            } else {
                resource::name(name, &at.key(name), causes);
            }
        }
    };
    names("max", causes);
    names("min", causes);
    for list in ["default", "defaultRequest"] {
        if kind != "Pod" {
            names(list, causes);
        } else if !limit.zero(list) {
            causes.forbidden(&path.child(list), "may not be specified when `type` is 'Pod'");
        }
    }
    if kind == "PersistentVolumeClaim" && !limit.field("min").has("storage") && !limit.field("max").has("storage") {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        causes.required(&path.child("limits"), detail);
    }
    names("maxLimitRequestRatio", causes);
    let mut seen = KeySet::default();
    let mut keys: Vec<&str> = Vec::new();
    for list in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
        if kind == "Pod" && list.starts_with("default") {
            continue;
        }
        for (name, _) in limit.entries(list) {
            if seen.insert(name.as_str()) {
                keys.push(name);
            }
        }
    }
    for key in keys {
        amounts(limit, kind, key, path, causes);
    }
}

fn amounts(limit: &Value, kind: &str, key: &str, path: &Path<'_>, causes: &mut Causes) {
    let get = |list: &str| -> Option<(&Value, Quantity)> {
        if kind == "Pod" && list.starts_with("default") {
            return None;
        }
        limit.field(list).get(key).map(|v| (v, quantity(v)))
    };
    let text = |v: &Value| v.as_str().unwrap_or("0").to_owned();
    let (min, max, default, request, ratio) =
        (get("min"), get("max"), get("default"), get("defaultRequest"), get("maxLimitRequestRatio"));
    let mut above =
        |a: Option<(&Value, Quantity)>, b: Option<(&Value, Quantity)>, words: (&str, &str), list: &str, shown: u8| {
            if let (Some((av, a)), Some((bv, b))) = (a, b)
                && a.nano() > b.nano()
            {
                let at = path.child(list);
                let detail = format!("{} value {} is greater than {} value {}", words.0, text(av), words.1, text(bv));
                causes.invalid(&at.key(key), if shown == 0 { av } else { bv }, &detail);
            }
        };
    above(min, max, ("min", "max"), "min", 0);
    above(min, request, ("min", "default request"), "defaultRequest", 1);
    above(request, max, ("default request", "max"), "defaultRequest", 0);
    above(request, default, ("default request", "default limit"), "defaultRequest", 0);
    above(min, default, ("min", "default"), "default", 0);
    above(default, max, ("default", "max"), "default", 1);
    if let Some((shown, ratio)) = ratio {
        let at = path.child("maxLimitRequestRatio");
        if ratio.nano() < 1_000_000_000 {
            causes.invalid(&at.key(key), shown, &format!("ratio {} is less than 1", text(shown)));
        }
        if let (Some((_, min)), Some((_, max))) = (min, max) {
            // Thousandths where they fit, else whole numbers, rounded up.
            let fine = [ratio, min, max].iter().all(|q| q.value() < MAX_MILLI);
            let of = |q: Quantity| (if fine { q.milli() } else { q.value() }) as f64;
            let most = of(max) / of(min);
            if of(ratio) / if fine { 1000.0 } else { 1.0 } > most {
                let detail = format!("ratio {} is greater than max/min = {most:.6}", text(shown));
                causes.invalid(&at.key(key), shown, &detail);
            }
        }
    }
    if let (Some((dv, d)), Some((rv, r)), false) = (default, request, resource::overcommits(key))
        && d.nano() != r.nano()
    {
        let at = path.child("defaultRequest");
        let detail = format!("default value {} must equal to defaultRequest value {} in {key}", text(dv), text(rv));
        causes.invalid(&at.key(key), rv, &detail);
    }
}
