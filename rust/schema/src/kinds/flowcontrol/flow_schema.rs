//! Flow schemas (`pkg/registry/flowcontrol/flowschema/strategy.go`).

use hydrofoil_text::quoted;
use hydrofoil_types::{CauseReason, Causes, Path, Value};

use super::conditions;
use crate::kind::{GenerationRule, MetadataCheck, Strategy, reset_metadata};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::text::condition;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    prepare_status: |_, object, old, now| super::keep_metadata(object, old, now),
    reset_fields: reset_metadata,
    generation: GenerationRule::of_spec("flowcontrol.FlowSchemaSpec"),
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    validate: |_, object, causes| validate(object, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");
const VERBS: [&str; 9] = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

fn default(object: &mut Value) {
    object.make("spec").fill("matchingPrecedence", 1000);
}

/// `ValidateFlowSchema`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let precedence = spec.int("matchingPrecedence");
    let at = SPEC.child("matchingPrecedence");
    if precedence <= 0 {
        causes.invalid_int(&at, precedence, "must be a positive value");
    }
    if precedence > 10_000 {
        causes.invalid_int(&at, precedence, "must not be greater than 10000");
    }
    if precedence == 1 && object.field("metadata").text("name") != "exempt" {
        causes.invalid_int(&at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    if let Some(method) = spec.opt("distinguisherMethod") {
        let kind = method.text("type");
        if !matches!(kind, "ByUser" | "ByNamespace") {
            let at = SPEC.child("distinguisherMethod");
            let message = format!(
                "Unsupported value: {{\"Type\":{}}}: supported values: \"ByNamespace\", \"ByUser\"",
                quoted(kind)
            );
            causes.push(&at.child("type"), CauseReason::NotSupported, message);
        }
    }
    let at = SPEC.child("priorityLevelConfiguration");
    let level = spec.field("priorityLevelConfiguration").text("name");
    if level.is_empty() {
        causes.required(&at.child("name"), "must reference a priority level");
    } else {
        causes.format(&at.child("name"), level, name::subdomain);
    }
    let at = SPEC.child("rules");
    for (i, rule) in spec.list("rules").iter().enumerate() {
        policy_rule(rule, &at.index(i), causes);
    }
    let own = object.field("metadata").text("name");
    if matches!(own, "exempt" | "catch-all") && !is_mandatory(spec, own) {
        let detail = format!("spec of '{own}' must equal the fixed value");
        causes.invalid_internal(&SPEC, "flowcontrol.FlowSchemaSpec", spec, &detail);
    }
    conditions::validate(object, causes);
}

/// Report whether a schema that every server has is as it must be (`apis/flowcontrol/bootstrap`).
fn is_mandatory(spec: &Value, own: &str) -> bool {
    let (precedence, by, groups): (i64, &str, &[&str]) = if own == "exempt" {
        (1, "", &["system:masters"])
    } else {
        (10_000, "ByUser", &["system:unauthenticated", "system:authenticated"])
    };
    let [rule] = spec.list("rules") else { return false };
    let ([resources], [urls]) = (rule.list("resourceRules"), rule.list("nonResourceRules")) else { return false };
    let every = |holder: &Value, keys: &[&str]| {
        keys.iter().all(|key| matches!(holder.list(key), [one] if one.as_str() == Some("*")))
    };
    let subjects = rule.list("subjects");
    spec.int("matchingPrecedence") == precedence
        && spec.field("distinguisherMethod").text("type") == by
        && spec.field("priorityLevelConfiguration").text("name") == own
        && resources.flag("clusterScope")
        && every(resources, &["verbs", "apiGroups", "resources", "namespaces"])
        && every(urls, &["verbs", "nonResourceURLs"])
        && subjects.len() == groups.len()
        && subjects
            .iter()
            .zip(groups)
            .all(|(subject, group)| subject.text("kind") == "Group" && subject.field("group").text("name") == *group)
}

/// `ValidateFlowSchemaPolicyRulesWithSubjects`.
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
                causes.invalid(&at, one.field("nonResourceURLs"), detail);
            }
        } else {
            for (j, url) in urls.iter().enumerate() {
                path_pattern(url.as_str().unwrap_or(""), &at.index(j), causes);
            }
        }
    }
}

/// `ValidateFlowSchemaResourcePolicyRule`.
fn resource_rule(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    verbs(rule, path, causes);
    for (key, one, other) in [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")] {
        let list = rule.list(key);
        let at = path.child(key);
        if list.is_empty() {
            causes.required(&at, &format!("resource rules must supply at least one {one}"));
        } else if list.len() > 1 && star(list) {
            causes.invalid(&at, rule.field(key), &format!("if '*' is present, must not specify other {other}"));
        }
    }
    let namespaces = rule.list("namespaces");
    let at = path.child("namespaces");
    if namespaces.is_empty() && !rule.flag("clusterScope") {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        causes.required(&at, detail);
    } else if star(namespaces) {
        if namespaces.len() > 1 {
            let detail = "if '*' is present, must not specify other namespaces";
            causes.invalid(&at, rule.field("namespaces"), detail);
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

/// Validate the verbs of a rule.
fn verbs(rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = rule.list("verbs");
    let at = path.child("verbs");
    if list.is_empty() {
        causes.required(&at, "verbs must contain at least one value");
    } else if star(list) {
        if list.len() > 1 {
            causes.invalid(&at, rule.field("verbs"), "if '*' is present, must not specify other verbs");
        }
    } else if !list.iter().all(|v| VERBS.contains(&v.as_str().unwrap_or(""))) {
        causes.not_supported(&at, rule.field("verbs"), &VERBS);
    }
}

/// Report whether a list has the wildcard.
fn star(list: &[Value]) -> bool {
    list.iter().any(|v| v.as_str() == Some("*"))
}

/// `ValidateFlowSchemaSubject`.
fn subject(subject: &Value, path: &Path<'_>, causes: &mut Causes) {
    let kind = subject.text("kind");
    let mut members = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];
    members.sort_by_key(|(wanted, _)| *wanted != kind);
    for (wanted, key) in members {
        let at = path.child(key);
        match (kind == wanted, subject.opt(key)) {
            (true, None) => causes.required(&at, &format!("{key} is required when subject kind is '{wanted}'")),
            (true, Some(value)) => {
                let own = value.text("name");
                if own.is_empty() {
                    causes.need(&at.child("name"));
                } else if key == "serviceAccount" && own != "*" {
                    causes.format(&at.child("name"), own, name::subdomain);
                }
                if key == "serviceAccount" {
                    let namespace = value.text("namespace");
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

/// `printFlowSchema`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    cells![
        subject.name(),
        spec.field("priorityLevelConfiguration").text("name"),
        spec.int("matchingPrecedence"),
        spec.opt("distinguisherMethod").map_or("<none>", |m| m.text("type")),
        subject.age(),
        condition(subject.status(), "Dangling").map_or("?", |c| c.text("status")),
    ]
}
