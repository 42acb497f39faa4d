//! Names and amounts of resources (`pkg/apis/core/helper`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::cell::OnceCell;
use std::collections::HashMap;

use hydrofoil_text::quoted;
use hydrofoil_types::{Causes, KeySet, Path, Quantity, Value};

use super::check::{Check, NOT_NEGATIVE};
use super::format::label;
use hydrofoil_types::read::Read;

const STANDARD: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];
const INTEGER: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// `IsHugePageResourceName`.
pub fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// `IsStandardResourceName`.
pub fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || is_huge_page(name) || name.starts_with("requests.hugepages-")
}

/// `IsNativeResource`.
pub fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// `IsExtendedResourceName`.
pub fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && label::is_key(&format!("requests.{name}"))
}

/// `IsIntegerResourceName`.
pub fn is_integer(name: &str) -> bool {
    INTEGER.contains(&name) || is_extended(name)
}

/// `IsOvercommitAllowed`.
pub fn overcommits(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

/// Return the amount that a decoded quantity stands for.
pub fn quantity(value: &Value) -> Quantity {
    match value {
        // Numbers are taken as they are written.
        Value::Int(n) => Quantity::parse(&n.to_string()).ok(),
        other => other.as_str().and_then(|t| Quantity::parse(t).ok()),
    }
    .unwrap_or_else(zero)
}

fn zero() -> Quantity {
    Quantity::parse("0").unwrap_or_else(|_| unreachable!("zero is a quantity"))
}

/// `ValidateResourceName`.
pub fn name(name: &str, path: &Path<'_>, causes: &mut Causes) {
    let before = causes.len();
    causes.format(path, name, label::key);
    if causes.len() == before && !name.contains('/') && !is_standard(name) {
        causes.invalid_str(path, name, "must be a standard resource type or fully qualified");
    }
}

/// `validateContainerResourceName`.
pub fn container_name(text: &str, path: &Path<'_>, causes: &mut Causes) {
    name(text, path, causes);
    if !text.contains('/') {
        if !matches!(text, "cpu" | "memory" | "ephemeral-storage") && !is_huge_page(text) {
            causes.invalid_str(path, text, "must be a standard resource for containers");
        }
    } else if !is_native(text) && !is_extended(text) {
        causes.invalid_str(path, text, "doesn't follow extended resource name standard");
    }
}

/// `ValidateNonnegativeQuantity`.
pub fn not_negative(amount: &Value, path: &Path<'_>, causes: &mut Causes) {
    if quantity(amount).nano() < 0 {
        causes.invalid(path, amount, NOT_NEGATIVE);
    }
}

/// `ValidatePositiveQuantityValue`.
pub fn positive(amount: &Value, path: &Path<'_>, causes: &mut Causes) {
    if quantity(amount).nano() <= 0 {
        let shown = if amount.as_str().is_some() { amount.clone() } else { Value::from("0") };
        causes.invalid(path, &shown, "must be greater than zero");
    }
}

/// `ValidateResourceQuantityValue`.
pub fn value(name: &str, amount: &Value, path: &Path<'_>, causes: &mut Causes) {
    not_negative(amount, path, causes);
    // Go's thousandths are limited to 64 bits.
    if is_integer(name) && quantity(amount).milli() % 1000 != 0 {
        causes.invalid(path, amount, "must be an integer");
    }
}

fn huge_page(name: &str, amount: &Value, path: &Path<'_>, causes: &mut Causes) {
    let page = Quantity::parse(&name["hugepages-".len()..]).ok();
    let fits =
        page.is_some_and(|p| p.value() > 0 && p.milli() % 1000 == 0 && quantity(amount).value() % p.value() == 0);
    if !fits {
        let text = amount.as_str().unwrap_or("0");
        causes.invalid_str(path, text, &format!("{text} is not positive integer multiple of {name}"));
    }
}

/// `validateResourceRequirements`.
pub fn requirements(resources: &Value, claims: &Claims<'_>, pod_level: bool, path: &Path<'_>, causes: &mut Causes) {
    let (limits_at, requests_at) = (path.child("limits"), path.child("requests"));
    let (mut compute, mut huge) = (false, false);
    let mut entry = |name: &str, amount: &Value, at: &Path<'_>, causes: &mut Causes| {
        if pod_level {
            pod_name(name, at, causes);
        } else {
            container_name(name, at, causes);
        }
        value(name, amount, at, causes);
        huge |= is_huge_page(name);
        compute |= matches!(name, "cpu" | "memory");
    };
    for (name, amount) in resources.entries("limits") {
        let at = limits_at.key(name);
        entry(name, amount, &at, causes);
        if is_huge_page(name) {
            huge_page(name, amount, &at, causes);
        }
    }
    for (name, amount) in resources.entries("requests") {
        let at = requests_at.key(name);
        entry(name, amount, &at, causes);
        if let Some(limit) = resources.field("limits").get(name) {
            let (asked, most) = (quantity(amount).nano(), quantity(limit).nano());
            let shown = limit.as_str().unwrap_or("0");
            if asked != most && !overcommits(name) {
                causes.invalid(&requests_at, amount, &format!("must be equal to {name} limit of {shown}"));
            } else if asked > most {
                causes.invalid(&requests_at, amount, &format!("must be less than or equal to {name} limit of {shown}"));
            }
        } else if !overcommits(name) {
            causes.required(&limits_at, "Limit must be set for non overcommitable resources");
        }
        if is_huge_page(name) {
            huge_page(name, amount, &at, causes);
        }
    }
    if huge && !compute {
        causes.forbidden(path, "HugePages require cpu or memory");
    }
    claim_names(resources.list("claims"), claims, &path.child("claims"), causes);
}

fn pod_name(text: &str, path: &Path<'_>, causes: &mut Causes) {
    let before = causes.len();
    name(text, path, causes);
    if causes.len() == before && !matches!(text, "cpu" | "memory") && !is_huge_page(text) {
        causes.unsupported(path, text, &["cpu", "hugepages-", "memory"]);
    }
}

/// The names of the claims of a pod.
#[derive(Debug, Default)]
pub struct Claims<'a> {
    names: KeySet<&'a str>,
    list: &'a [Value],
    /// The text that lists them in errors for an unknown one.
    shown: OnceCell<String>,
}

impl<'a> Claims<'a> {
    /// Return the claims of a list.
    pub fn of(list: &'a [Value]) -> Self {
        let names = list.iter().map(|c| c.text("name")).filter(|n| !n.is_empty()).collect();
        Self { names, list, shown: OnceCell::new() }
    }

    fn amount_text(&self) -> &str {
        self.shown.get_or_init(|| {
            let mut sorted: Vec<&str> = self.list.iter().map(|c| c.text("name")).filter(|n| !n.is_empty()).collect();
            sorted.sort_unstable();
            if sorted.is_empty() { " which is empty".to_owned() } else { format!(": {}", sorted.join(", ")) }
        })
    }
}

fn claim_names(claims: &[Value], known: &Claims<'_>, path: &Path<'_>, causes: &mut Causes) {
    if claims.is_empty() {
        return;
    }
    let mut seen: KeySet<String> = KeySet::default();
    // The number of times a claim was named with a request.
    let mut requested: HashMap<&str, usize> = HashMap::new();
    for (i, claim) in claims.iter().enumerate() {
        let at = path.index(i);
        let (name, request) = (claim.text("name"), claim.text("request"));
        if name.is_empty() {
            causes.need(&at);
            continue;
        }
        if seen.contains(&name.to_owned()) {
            causes.duplicate_str(&at, name);
        } else {
            let mut key = name.to_owned();
            if !request.is_empty() {
                causes.format(&at.child("request"), request, super::format::name::label);
                key = format!("{name}/{request}");
            }
            if seen.contains(&key) {
                causes.duplicate_str(&at, &key);
            } else if request.is_empty() {
                for _ in 0..requested.get(name).copied().unwrap_or(0) {
                    causes.duplicate_str(&at, name);
                }
            } else {
                *requested.entry(name).or_default() += 1;
            }
            seen.insert(key);
        }
        if !known.names.contains(&name) && !causes.is_full() {
            let message = format!(
                "Not found: {}: must be one of the names in pod.spec.resourceClaims{}",
                quoted(name),
                known.amount_text()
            );
            causes.push(&at, hydrofoil_types::CauseReason::NotFound, message);
        }
    }
}
