//! Resource quotas (`pkg/registry/core/resourcequota/strategy.go`).

use std::collections::HashMap;

use hydrofoil_types::{Cause, Causes, Path, Value};

use crate::Request;
use crate::kind::Strategy;
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::IMMUTABLE;
use hydrofoil_rules::quantities::resource_list;
use hydrofoil_rules::resource;
use hydrofoil_rules::table::{Subject, cells, text};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    default: |_, object, _| default(object),
    validate: |_, object, causes| validate(object, causes),
    validate_update,
    warn_create: |_, object, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.within("spec", |s| resource_list(s, "hard"));
    object.within("status", |s| {
        resource_list(s, "hard");
        resource_list(s, "used");
    });
}

/// Warn of requests that are above the limits.
fn warn(object: &Value, out: &mut Vec<String>) {
    let hard = object.field("spec").field("hard");
    for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let mut request = format!("requests.{name}");
        if !hard.has(&request) && matches!(name, "cpu" | "memory") {
            name.clone_into(&mut request);
        }
        let limit = format!("limits.{name}");
        let (Some(asked), Some(most)) = (hard.opt(&request), hard.opt(&limit)) else { continue };
        if resource::quantity(asked).nano() > resource::quantity(most).nano() {
            let (asked, most) = (asked.as_str().unwrap_or(""), most.as_str().unwrap_or(""));
            out.push(format!("ResourceQuota {request} ({asked}) should be less than {limit} ({most})"));
        }
    }
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

/// `IsStandardQuotaResourceName`.
fn is_quota(name: &str) -> bool {
    const STANDARD: [&str; 19] = [
        "configmaps",
        "cpu",
        "ephemeral-storage",
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "memory",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
        "requests.storage",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    ];
    STANDARD.contains(&name) || name.starts_with("hugepages-") || name.starts_with("requests.hugepages-")
}

/// `IsResourceQuotaScopeValidForResource`.
fn fits(scope: &str, name: &str) -> bool {
    match scope {
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity" => {
            matches!(
                name,
                "cpu" | "memory" | "requests.cpu" | "requests.memory" | "limits.cpu" | "limits.memory" | "pods"
            )
        }
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

fn amounts(holder: &Value, key: &str, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child(key);
    for (name, amount) in holder.entries(key) {
        let at = at.key(name);
        resource::name(name, &at, causes);
        if !name.contains('/') && !is_quota(name) {
            causes.invalid_str(&at, name, "must be a standard resource for quota");
        }
        resource::value(name, amount, &at, causes);
    }
}

fn validate(object: &Value, causes: &mut Causes) {
    let (spec, path) = (object.field("spec"), Path::new("spec"));
    amounts(spec, "hard", &path, causes);
    let mut hard: Vec<&str> = spec.entries("hard").map(|(k, _)| k.as_str()).filter(|k| is_quota(k)).collect();
    hard.sort_unstable();
    let at = path.child("scopes");
    let scopes = spec.field("scopes");
    let mut seen: Vec<&str> = Vec::new();
    let mut misfits = Misfits::of(&hard);
    let mut unsupported = Repeated::default();
    for scope in spec.list("scopes").iter().map(|s| s.as_str().unwrap_or("")) {
        if !SCOPES.contains(&scope) {
            unsupported.report(causes, |causes| causes.invalid(&at, scopes, "unsupported scope"));
        }
        misfits.each(scope, causes, |causes| causes.invalid(&at, scopes, "unsupported scope applied to resource"));
        seen.push(scope);
    }
    conflicts(&seen, scopes, &at, causes);
    if let Some(selector) = spec.opt("scopeSelector") {
        scope_selector(spec, selector, &hard, &path.child("scopeSelector"), causes);
    }
}

impl<'a> Misfits<'a> {
    fn of(hard: &'a [&'a str]) -> Self {
        Self { hard, counts: HashMap::new(), cause: Repeated::default() }
    }

    /// Add a cause for each; `report` adds the same one at each call.
    fn each(&mut self, scope: &'a str, causes: &mut Causes, report: impl Fn(&mut Causes)) {
        let count = || self.hard.iter().filter(|name| !fits(scope, name)).count();
        for _ in 0..*self.counts.entry(scope).or_insert_with(count) {
            if causes.is_full() {
                return;
            }
            self.cause.report(causes, &report);
        }
    }
}

/// The number of resources of a quota that do not fit a scope.
struct Misfits<'a> {
    hard: &'a [&'a str],
    counts: HashMap<&'a str, usize>,
    cause: Repeated,
}

/// A cause that shows a whole list for many of its items: its text is made once.
#[derive(Default)]
struct Repeated(Option<Cause>);

impl Repeated {
    fn report(&mut self, causes: &mut Causes, first: impl FnOnce(&mut Causes)) {
        if let Some(cause) = &self.0 {
            causes.repeat(cause);
        } else {
            first(causes);
            self.0 = causes.as_slice().last().cloned();
        }
    }
}

fn conflicts(seen: &[&str], shown: &Value, at: &Path<'_>, causes: &mut Causes) {
    for (a, b) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if seen.contains(&a) && seen.contains(&b) {
            causes.invalid(at, shown, "conflicting scopes");
        }
    }
}

fn scope_selector(spec: &Value, selector: &Value, hard: &[&str], path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("matchExpressions");
    let mut seen: Vec<&str> = Vec::new();
    let mut misfits = Misfits::of(hard);
    for requirement in selector.list("matchExpressions") {
        let (scope, operator) = (requirement.text("scopeName"), requirement.text("operator"));
        if !SCOPES.contains(&scope) {
            causes.invalid_str(&at.child("scopeName"), scope, "unsupported scope");
        }
        misfits.each(scope, causes, |causes| {
            causes.invalid_internal(&at, "*core.ScopeSelector", selector, "unsupported scope applied to resource");
        });
        let plain = matches!(
            scope,
            "BestEffort" | "NotBestEffort" | "Terminating" | "NotTerminating" | "CrossNamespacePodAffinity"
        );
        if plain && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            causes.invalid_str(&at.child("operator"), operator, detail);
        }
        match operator {
            "In" | "NotIn" => {
                if requirement.list("values").is_empty() {
                    let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                    causes.required(&at.child("values"), detail);
                }
            }
            "Exists" | "DoesNotExist" => {
                if !requirement.list("values").is_empty() {
                    let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                    causes.invalid(&at.child("values"), requirement.field("values"), detail);
                }
            }
            other => causes.invalid_str(&at.child("operator"), other, "not a valid selector operator"),
        }
        seen.push(scope);
    }
    // The value shown is that of the other list.
    conflicts(&seen, spec.field("scopes"), &at, causes);
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        let path = Path::new("status");
        amounts(object.field("status"), "hard", &path, causes);
        return amounts(object.field("status"), "used", &path, causes);
    }
    validate(object, causes);
    let set = |v: &Value| {
        let mut scopes: Vec<String> =
            v.field("spec").list("scopes").iter().map(|s| s.as_str().unwrap_or("").to_owned()).collect();
        scopes.sort();
        scopes.dedup();
        scopes
    };
    if set(object) != set(old) {
        causes.invalid(&Path::new("spec").child("scopes"), object.field("spec").field("scopes"), IMMUTABLE);
    }
}

/// `printResourceQuota`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (hard, used) = (subject.status().field("hard"), subject.status().field("used"));
    let mut names: Vec<_> = subject.status().entries("hard").map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for name in names {
        let shown = format!("{name}: {}/{}", text::quantity(used, name), text::quantity(hard, name));
        if name.starts_with("limits.") {
            limits.push(shown);
        } else {
            requests.push(shown);
        }
    }
    cells![subject.name(), requests.join(", "), limits.join(", "), subject.age()]
}
