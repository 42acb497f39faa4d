//! Rules shared by validating and mutating webhooks.

use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use super::{match_conditions, match_resources, rule};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{selector, webhook_client};
use hydrofoil_types::read::{Read, Write};

/// Report whether the webhooks differ, by `reflect.DeepEqual`: empty is not absent.
pub(super) fn differ(object: &Value, old: &Value) -> bool {
    object.field("webhooks") != old.field("webhooks")
}

/// Fill the optional fields of a webhook.
pub(super) fn default(hook: &mut Value) {
    hook.unset("failurePolicy", "Fail");
    hook.unset("timeoutSeconds", 10);
    match_resources::default_matching(hook);
    hook.each("rules", |rule| rule.unset("scope", "*"));
    hook.within("clientConfig", |c| c.within("service", |s| s.unset("port", 443)));
}

/// `validateValidatingWebhookConfiguration` and its mutating twin.
pub(super) fn validate(object: &Value, old: Option<&Value>, mutating: bool, causes: &mut Causes) {
    let path = Path::new("webhooks");
    let hooks = object.list("webhooks");
    // Unchanged conditions are not validated again.
    let before = old.map(|o| o.list("webhooks")).filter(|before| {
        before.len() == hooks.len()
            && before.iter().zip(hooks).all(|(a, b)| a.list("matchConditions") == b.list("matchConditions"))
    });
    let duplicates = Duplicates::of(hooks, |v| v.text("name"));
    for (i, hook) in hooks.iter().enumerate() {
        validate_one(hook, mutating, &path.index(i), causes);
        if before.is_none() {
            let at = path.index(i);
            let at = at.child("matchConditions");
            match_conditions::validate(hook.list("matchConditions"), false, &at, causes);
        }
        let at = path.index(i);
        review_versions(hook, &at, causes);
        if duplicates.is_repeat(i) && !hook.text("name").is_empty() {
            causes.duplicate_str(&at.child("name"), hook.text("name"));
        }
    }
}

fn review_versions(hook: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("admissionReviewVersions");
    let versions = hook.list("admissionReviewVersions");
    if versions.is_empty() {
        return causes.required(&at, "must specify one of v1, v1beta1");
    }
    let mut accepted = false;
    let duplicates = Duplicates::of(versions, Whole);
    for (i, version) in versions.iter().enumerate() {
        let text = version.as_str().unwrap_or("");
        if duplicates.is_repeat(i) {
            causes.invalid_str(&at.index(i), text, "duplicate version");
            continue;
        }
        causes.format(&at.index(i), text, name::label_1035);
        accepted |= matches!(text, "v1" | "v1beta1");
    }
    if !accepted {
        causes.invalid(&at, hook.field("admissionReviewVersions"), "must include at least one of v1, v1beta1");
    }
}

fn validate_one(hook: &Value, mutating: bool, path: &Path<'_>, causes: &mut Causes) {
    fully_qualified_name(hook.text("name"), &path.child("name"), causes);
    let at = path.child("rules");
    for (i, rule) in hook.list("rules").iter().enumerate() {
        rule::validate(rule, &at.index(i), causes);
    }
    if let Some(policy) = hook.opt("failurePolicy") {
        causes.one_of(&path.child("failurePolicy"), policy.as_str().unwrap_or(""), &["Fail", "Ignore"]);
    }
    if let Some(policy) = hook.opt("matchPolicy") {
        causes.one_of(&path.child("matchPolicy"), policy.as_str().unwrap_or(""), &["Equivalent", "Exact"]);
    }
    let at = path.child("sideEffects");
    match hook.opt("sideEffects") {
        None => causes.required(&at, "must specify one of None, NoneOnDryRun"),
        Some(effects) => causes.one_of(&at, effects.as_str().unwrap_or(""), &["None", "NoneOnDryRun"]),
    }
    if let Some(seconds) = hook.opt_int("timeoutSeconds").filter(|s| !(1..=30).contains(s)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        causes.invalid_int(&path.child("timeoutSeconds"), seconds, detail);
    }
    for key in ["namespaceSelector", "objectSelector"] {
        selector::label_selector(hook.field(key), &path.child(key), causes);
    }
    if let (true, Some(policy)) = (mutating, hook.opt("reinvocationPolicy")) {
        let at = path.child("reinvocationPolicy");
        causes.one_of(&at, policy.as_str().unwrap_or(""), &["IfNeeded", "Never"]);
    }
    webhook_client::validate(hook.field("clientConfig"), &path.child("clientConfig"), causes);
}

/// `IsFullyQualifiedName`.
fn fully_qualified_name(text: &str, at: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        return causes.need(at);
    }
    let mut wrong: Vec<String> = Vec::new();
    name::subdomain(text, &mut |detail| wrong.push(detail.to_owned()));
    if !wrong.is_empty() {
        causes.invalid_str(at, text, &wrong.join(","));
    } else if text.split('.').count() < 3 {
        causes.invalid_str(at, text, "should be a domain with at least three segments separated by dots");
    }
}

/// `printMutatingWebhook` and `printValidatingWebhook`.
pub(super) fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.object.list("webhooks").len() as i64, subject.age()]
}
