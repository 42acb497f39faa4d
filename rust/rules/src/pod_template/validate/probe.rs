//! Probes and lifecycle hooks.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use super::PodContext;
use crate::check::Check;
use crate::format::text;
use hydrofoil_types::read::Read;

/// Validate the three probes of a container.
pub fn all(container: &Value, path: &Path<'_>, causes: &mut Causes) {
    for kind in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(value) = container.opt(kind) {
            probe(kind, value, &path.child(kind), causes);
        }
    }
}

fn probe(kind: &str, probe: &Value, path: &Path<'_>, causes: &mut Causes) {
    handler(probe, &["exec", "httpGet", "tcpSocket", "grpc"], None, path, causes);
    for key in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        causes.not_negative(&path.child(key), probe.int(key));
    }
    let grace = path.child("terminationGracePeriodSeconds");
    if let Some(seconds) = probe.opt_int("terminationGracePeriodSeconds").filter(|s| *s <= 0) {
        causes.invalid_int(&grace, seconds, "must be greater than 0");
    }
    if kind == "readinessProbe" {
        if let Some(seconds) = probe.opt_int("terminationGracePeriodSeconds") {
            causes.invalid_int(&grace, seconds, "must not be set for readinessProbes");
        }
    } else if probe.int("successThreshold") != 1 {
        causes.invalid_int(&path.child("successThreshold"), probe.int("successThreshold"), "must be 1");
    }
}

/// Validate the hooks and the stop signal.
pub fn lifecycle(container: &Value, spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    let Some(lifecycle) = container.opt("lifecycle") else { return };
    let path = path.child("lifecycle");
    for hook in ["postStart", "preStop"] {
        if let Some(value) = lifecycle.opt(hook) {
            handler(value, &["exec", "httpGet", "tcpSocket", "sleep"], spec.grace, &path.child(hook), causes);
        }
    }
}

fn handler(handler: &Value, kinds: &[&str], grace: Option<i64>, path: &Path<'_>, causes: &mut Causes) {
    let mut count = 0;
    for kind in kinds {
        let Some(action) = handler.opt(kind) else { continue };
        let at = path.child(kind);
        count += 1;
        if count > 1 {
            causes.forbidden(&at, "may not specify more than 1 handler type");
            continue;
        }
        match *kind {
            "exec" => {
                if action.list("command").is_empty() {
                    causes.need(&at.child("command"));
                }
            }
            "httpGet" => http(action, &at, causes),
            "sleep" => {
                let seconds = action.int("seconds");
                if let Some(grace) = grace.filter(|g| seconds < 0 || seconds > *g) {
                    let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    causes.invalid_int(&at, seconds, &detail);
                }
            }
            _ => port(action.get("port"), &at.child("port"), causes),
        }
    }
    if count == 0 {
        causes.required(path, "must specify a handler type");
    }
}

fn http(action: &Value, path: &Path<'_>, causes: &mut Causes) {
    if action.zero("path") {
        causes.need(&path.child("path"));
    }
    port(action.get("port"), &path.child("port"), causes);
    causes.one_of(&path.child("scheme"), action.text("scheme"), &["HTTP", "HTTPS"]);
    for header in action.list("httpHeaders") {
        causes.format(&path.child("httpHeaders"), header.text("name"), text::header);
    }
}

/// `ValidatePortNumOrName`.
pub fn port(port: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    match port {
        Some(Value::Str(name)) => causes.format(path, name, text::port_name),
        other => causes.port(path, other.and_then(Value::as_int).unwrap_or(0)),
    }
}
