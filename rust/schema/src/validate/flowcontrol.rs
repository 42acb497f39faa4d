//! Priority and fairness (`pkg/apis/flowcontrol/validation/validation.go`).

#![allow(clippy::arithmetic_side_effects, reason = "a hand is no larger than its deck")]

use hydrofoil_types::{Again, CauseReason, Causes, Path, Value};

use super::check::{Check, go_quoted};
use super::format::name;
use crate::read::Read;

const SPEC: Path<'static> = Path::new("spec");
const VERBS: [&str; 9] = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/// `ValidateFlowSchema`.
pub(crate) fn flow_schema(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let precedence = spec.i("matchingPrecedence");
    let at = SPEC.child("matchingPrecedence");
    if precedence <= 0 {
        causes.invalid_int(&at, precedence, "must be a positive value");
    }
    if precedence > 10_000 {
        causes.invalid_int(&at, precedence, "must not be greater than 10000");
    }
    if precedence == 1 && object.sub("metadata").s("name") != "exempt" {
        causes.invalid_int(&at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    if let Some(method) = spec.opt("distinguisherMethod") {
        let kind = method.s("type");
        if !matches!(kind, "ByUser" | "ByNamespace") {
            let at = SPEC.child("distinguisherMethod");
            let message = format!(
                "Unsupported value: {{\"Type\":{}}}: supported values: \"ByNamespace\", \"ByUser\"",
                go_quoted(kind)
            );
            causes.push(&at.child("type"), CauseReason::NotSupported, message);
        }
    }
    let at = SPEC.child("priorityLevelConfiguration");
    let level = spec.sub("priorityLevelConfiguration").s("name");
    if level.is_empty() {
        causes.required(&at.child("name"), "must reference a priority level");
    } else {
        causes.format(&at.child("name"), level, name::subdomain);
    }
    let at = SPEC.child("rules");
    for (i, rule) in spec.list("rules").iter().enumerate() {
        policy_rule(rule, &at.index(i), causes);
    }
    conditions(object, causes);
}

/// `ValidateFlowSchemaStatus` and that of priority levels.
fn conditions(object: &Value, causes: &mut Causes) {
    let status = Path::new("status");
    let at = status.child("conditions");
    let list = object.sub("status").list("conditions");
    let again = Again::of(list, |v| v.s("type"));
    for (i, condition) in list.iter().enumerate() {
        let at = at.index(i);
        let at = at.child("type");
        let kind = condition.s("type");
        if again.at(i) {
            causes.duplicate_str(&at, kind);
        }
        if kind.is_empty() {
            causes.need(&at);
        }
    }
}

fn policy_rule(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("subjects");
    let subjects = rule.list("subjects");
    if subjects.is_empty() {
        causes.required(&at, "subjects must contain at least one value");
    }
    for (i, one) in subjects.iter().enumerate() {
        subject(one, &at.index(i), causes);
    }
    if rule.list("resourceRules").is_empty() && rule.list("nonResourceRules").is_empty() {
        causes.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    let at = path.child("resourceRules");
    for (i, one) in rule.list("resourceRules").iter().enumerate() {
        resource_rule(one, &at.index(i), causes);
    }
    let at = path.child("nonResourceRules");
    for (i, one) in rule.list("nonResourceRules").iter().enumerate() {
        let at = at.index(i);
        verbs(one, &at, causes);
        let urls = one.list("nonResourceURLs");
        let at = at.child("nonResourceURLs");
        if urls.is_empty() {
            causes.required(&at, "nonResourceURLs must contain at least one value");
        } else if star(urls) {
            if urls.len() > 1 {
                let detail = "if '*' is present, must not specify other non-resource URLs";
                causes.invalid(&at, one.sub("nonResourceURLs"), detail);
            }
        } else {
            for (j, url) in urls.iter().enumerate() {
                path_pattern(url.as_str().unwrap_or(""), &at.index(j), causes);
            }
        }
    }
}

fn star(list: &[Value]) -> bool {
    list.iter().any(|v| v.as_str() == Some("*"))
}

/// `ValidateNonResourceURLPath`.
fn path_pattern(text: &str, at: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        return causes.invalid_str(at, text, "must not be empty");
    }
    if text == "/" {
        return;
    }
    let mut bad = |detail: &str| causes.invalid_str(at, text, detail);
    if !text.starts_with('/') {
        bad("must start with slash");
    } else if text.contains(' ') {
        bad("must not contain white-space");
    } else if text.contains("//") {
        bad("must not contain double slash");
    } else if text.contains('*') && (!text.ends_with("/*") || text.matches('*').count() > 1) {
        bad("wildcard can only do suffix matching");
    }
}

fn verbs(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = rule.list("verbs");
    let at = path.child("verbs");
    if list.is_empty() {
        causes.required(&at, "verbs must contain at least one value");
    } else if star(list) {
        if list.len() > 1 {
            causes.invalid(&at, rule.sub("verbs"), "if '*' is present, must not specify other verbs");
        }
    } else if !list.iter().all(|v| VERBS.contains(&v.as_str().unwrap_or(""))) {
        causes.not_supported(&at, rule.sub("verbs"), &VERBS);
    }
}

fn subject(subject: &Value, path: &Path<'_>, causes: &mut Causes) {
    let kind = subject.s("kind");
    let mut members = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];
    members.sort_by_key(|(wanted, _)| *wanted != kind);
    for (wanted, key) in members {
        let at = path.child(key);
        match (kind == wanted, subject.opt(key)) {
            (true, None) => causes.required(&at, &format!("{key} is required when subject kind is '{wanted}'")),
            (true, Some(value)) => {
                let own = value.s("name");
                if own.is_empty() {
                    causes.need(&at.child("name"));
                } else if key == "serviceAccount" && own != "*" {
                    causes.format(&at.child("name"), own, name::subdomain);
                }
                if key == "serviceAccount" {
                    let namespace = value.s("namespace");
                    if namespace.is_empty() {
                        causes.required(&at.child("namespace"), "must specify namespace for service account");
                    } else {
                        causes.format(&at.child("namespace"), namespace, name::label);
                    }
                }
            }
            (false, Some(_)) if matches!(kind, "ServiceAccount" | "User" | "Group") => {
                causes.forbidden(&at, &format!("{key} is forbidden when subject kind is not '{wanted}'"));
            }
            _ => {}
        }
    }
    if !matches!(kind, "ServiceAccount" | "User" | "Group") {
        causes.unsupported(&path.child("kind"), kind, &["Group", "ServiceAccount", "User"]);
    }
}

fn resource_rule(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    verbs(rule, path, causes);
    for (key, one, other) in [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")] {
        let list = rule.list(key);
        let at = path.child(key);
        if list.is_empty() {
            causes.required(&at, &format!("resource rules must supply at least one {one}"));
        } else if list.len() > 1 && star(list) {
            causes.invalid(&at, rule.sub(key), &format!("if '*' is present, must not specify other {other}"));
        }
    }
    let namespaces = rule.list("namespaces");
    let at = path.child("namespaces");
    if namespaces.is_empty() && !rule.b("clusterScope") {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        causes.required(&at, detail);
    } else if star(namespaces) {
        if namespaces.len() > 1 {
            let detail = "if '*' is present, must not specify other namespaces";
            causes.invalid(&at, rule.sub("namespaces"), detail);
        }
    } else {
        for (i, namespace) in namespaces.iter().enumerate() {
            let text = namespace.as_str().unwrap_or("");
            name::label(text, &mut |detail| {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {detail}");
                causes.invalid_str(&at.index(i), text, &detail);
            });
        }
    }
}

/// `ValidatePriorityLevelConfiguration`.
pub(crate) fn priority_level(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let own = object.sub("metadata").s("name");
    let kind = spec.s("type");
    if (own == "exempt") != (kind == "Exempt") {
        causes.invalid_str(&SPEC.child("type"), kind, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    match kind {
        "Exempt" => {
            if spec.has("limited") {
                causes.forbidden(&SPEC.child("limited"), "must be nil if the type is not Limited");
            }
            if let Some(exempt) = spec.opt("exempt") {
                shares(exempt, &SPEC.child("exempt"), causes);
                lendable(exempt, &SPEC.child("exempt"), causes);
            }
        }
        "Limited" => {
            if spec.has("exempt") {
                causes.forbidden(&SPEC.child("exempt"), "must be nil if the type is Limited");
            }
            let at = SPEC.child("limited");
            match spec.opt("limited") {
                None => causes.required(&at, "must not be empty when type is Limited"),
                Some(limited) => limits(limited, &at, causes),
            }
        }
        other => causes.unsupported(&SPEC.child("type"), other, &["Exempt", "Limited"]),
    }
    conditions(object, causes);
}

fn shares(holder: &Value, path: &Path<'_>, causes: &mut Causes) {
    let shares = holder.i("nominalConcurrencyShares");
    if shares < 0 {
        causes.invalid_int(&path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer");
    }
}

fn lendable(holder: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(percent) = holder.oi("lendablePercent") {
        causes.range(&path.child("lendablePercent"), percent, 0, 100);
    }
}

fn limits(limited: &Value, path: &Path<'_>, causes: &mut Causes) {
    shares(limited, path, causes);
    let at = path.child("limitResponse");
    let response = limited.sub("limitResponse");
    let queuing_at = at.child("queuing");
    match (response.s("type"), response.opt("queuing")) {
        ("Reject", Some(_)) => {
            causes.forbidden(&queuing_at, "must be nil if limited.limitResponse.type is not Limited");
        }
        ("Reject", None) => {}
        ("Queue", None) => {
            causes.required(&queuing_at, "must not be empty if limited.limitResponse.type is Limited");
        }
        ("Queue", Some(queuing)) => queues(queuing, &queuing_at, causes),
        (other, _) => causes.unsupported(&at.child("type"), other, &["Queue", "Reject"]),
    }
    lendable(limited, path, causes);
    if let Some(percent) = limited.oi("borrowingLimitPercent").filter(|p| *p < 0) {
        let detail = "if specified, must be a non-negative integer";
        causes.invalid_int(&path.child("borrowingLimitPercent"), percent, detail);
    }
}

fn queues(queuing: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (length, queues, hand) = (queuing.i("queueLengthLimit"), queuing.i("queues"), queuing.i("handSize"));
    if length <= 0 {
        causes.invalid_int(&path.child("queueLengthLimit"), length, "must be positive");
    }
    if queues <= 0 {
        causes.invalid_int(&path.child("queues"), queues, "must be positive");
    } else if queues > 10_000_000 {
        causes.invalid_int(&path.child("queues"), queues, "must not be greater than 10000000");
    }
    let at = path.child("handSize");
    if hand <= 0 {
        causes.invalid_int(&at, hand, "must be positive");
    } else if hand > queues {
        causes.invalid_int(&at, hand, &format!("should not be greater than queues ({queues})"));
    } else {
        let bits = entropy(queues, hand);
        if bits > 60 {
            let detail =
                format!("required entropy bits of deckSize {queues} and handSize {hand} should not be greater than 60");
            causes.invalid_int(&at, hand, &detail);
        }
    }
}

/// `shufflesharding.RequiredEntropyBits`: the bits of the number of ordered hands.
fn entropy(deck: i64, hand: i64) -> i64 {
    let bits: f64 = (0..hand.min(1000)).map(|i| ((deck - i) as f64).log2()).sum();
    bits.ceil() as i64
}
