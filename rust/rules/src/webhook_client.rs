//! The address of a webhook.

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use crate::format::{name, url};
use hydrofoil_types::read::Read;

/// Validate the configuration of a client: `webhook.ValidateWebhookURL` and `ValidateWebhookService` (apiserver
/// `pkg/util/webhook/validation.go`).
///
/// Its callers pass name and namespace the other way round, so each is reported as the other.
pub fn validate(config: &Value, path: &Path<'_>, causes: &mut Causes) {
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
    let port = service.int("port");
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
