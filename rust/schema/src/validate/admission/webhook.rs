//! Webhook configurations.

use hydrofoil_types::{Again, Causes, Path, Value, Whole};

use super::rules;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{name, url};
use crate::validate::selector;

/// `validateValidatingWebhookConfiguration` and its mutating twin.
pub(crate) fn webhooks(object: &Value, old: Option<&Value>, mutating: bool, causes: &mut Causes) {
    let path = Path::new("webhooks");
    let hooks = object.list("webhooks");
    // Conditions that are as they were before are not looked at again.
    let before = old.map(|o| o.list("webhooks")).filter(|before| {
        before.len() == hooks.len()
            && before.iter().zip(hooks).all(|(a, b)| a.list("matchConditions") == b.list("matchConditions"))
    });
    let again = Again::of(hooks, |v| v.s("name"));
    for (i, hook) in hooks.iter().enumerate() {
        webhook(hook, mutating, &path.index(i), causes);
        if before.is_none() {
            let at = path.index(i);
            let at = at.child("matchConditions");
            rules::match_conditions(hook.list("matchConditions"), false, &at, causes);
        }
        let at = path.index(i);
        review_versions(hook, &at, causes);
        if again.at(i) && !hook.s("name").is_empty() {
            causes.duplicate_str(&at.child("name"), hook.s("name"));
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
    let again = Again::of(versions, Whole);
    for (i, version) in versions.iter().enumerate() {
        let text = version.as_str().unwrap_or("");
        if again.at(i) {
            causes.invalid_str(&at.index(i), text, "duplicate version");
            continue;
        }
        causes.format(&at.index(i), text, name::label_1035);
        accepted |= matches!(text, "v1" | "v1beta1");
    }
    if !accepted {
        causes.invalid(&at, hook.sub("admissionReviewVersions"), "must include at least one of v1, v1beta1");
    }
}

fn webhook(hook: &Value, mutating: bool, path: &Path<'_>, causes: &mut Causes) {
    qualified(hook.s("name"), &path.child("name"), causes);
    let at = path.child("rules");
    for (i, rule) in hook.list("rules").iter().enumerate() {
        rules::with_operations(rule, &at.index(i), causes);
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
    if let Some(seconds) = hook.oi("timeoutSeconds").filter(|s| !(1..=30).contains(s)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        causes.invalid_int(&path.child("timeoutSeconds"), seconds, detail);
    }
    for key in ["namespaceSelector", "objectSelector"] {
        selector::label_selector(hook.sub(key), &path.child(key), causes);
    }
    if let (true, Some(policy)) = (mutating, hook.opt("reinvocationPolicy")) {
        let at = path.child("reinvocationPolicy");
        causes.one_of(&at, policy.as_str().unwrap_or(""), &["IfNeeded", "Never"]);
    }
    client(hook.sub("clientConfig"), &path.child("clientConfig"), causes);
}

/// `IsFullyQualifiedName`.
fn qualified(text: &str, at: &Path<'_>, causes: &mut Causes) {
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

/// `webhook.ValidateWebhookURL` and `ValidateWebhookService` (apiserver `pkg/util/webhook/validation.go`).
///
/// Its callers hand over name and namespace the other way round, so each is reported as the other.
pub(crate) fn client(config: &Value, path: &Path<'_>, causes: &mut Causes) {
    match (config.opt("url"), config.opt("service")) {
        (Some(address), None) => address_of(address.as_str().unwrap_or(""), &path.child("url"), causes),
        (None, Some(service)) => service_of(service, &path.child("service"), causes),
        _ => causes.required(path, "exactly one of url or service is required"),
    }
}

fn address_of(text: &str, at: &Path<'_>, causes: &mut Causes) {
    const FORM: &str = "; desired format: https://host[/path]";
    let parsed = match url::parse(text) {
        Ok(parsed) => parsed,
        Err(problem) => return causes.required(at, &format!("url must be a valid URL: {problem}{FORM}")),
    };
    let mut bad = |value: &str, detail: &str| causes.invalid_str(at, value, detail);
    if parsed.scheme != "https" {
        bad(parsed.scheme, &format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if parsed.host.is_empty() {
        bad(parsed.host, &format!("host must be specified{FORM}"));
    }
    if let Some(user) = parsed.user {
        bad(user, "user information is not permitted in the URL");
    }
    if !parsed.fragment.is_empty() {
        bad(parsed.fragment, "fragments are not permitted in the URL");
    }
    if !parsed.query.is_empty() {
        bad(parsed.query, "query parameters are not permitted in the URL");
    }
}

fn service_of(service: &Value, path: &Path<'_>, causes: &mut Causes) {
    for (key, shown) in [("namespace", "name"), ("name", "namespace")] {
        if service.zero(key) {
            causes.need(&path.child(shown));
        }
    }
    let port = service.i("port");
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        causes.invalid_int(&path.child("port"), port, detail);
    }
    let Some(text) = service.opt("path").map(|p| p.as_str().unwrap_or("")) else { return };
    let at = path.child("path");
    if text == "/" || text.is_empty() {
        return;
    }
    if text == "//" {
        return causes.invalid_str(&at, text, "segment[0] may not be empty");
    }
    if !text.starts_with('/') {
        causes.invalid_str(&at, text, "must start with a '/'");
    }
    let inner = text.get(1..).unwrap_or("");
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    for (i, segment) in inner.split('/').enumerate() {
        if segment.is_empty() {
            causes.invalid_str(&at, text, &format!("segment[{i}] may not be empty"));
            continue;
        }
        name::subdomain(segment, &mut |detail| {
            causes.invalid_str(&at, text, &format!("segment[{i}]: {detail}"));
        });
    }
}
