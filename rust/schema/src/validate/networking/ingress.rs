//! Ingresses.

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::core::service;
use crate::validate::format::{ip, name, text};

const SPEC: Path<'static> = Path::new("spec");
const CLASS: &str = "kubernetes.io/ingress.class";

pub(crate) fn create(object: &Value, causes: &mut Causes) {
    let annotation = object.sub("metadata").sub("annotations").opt(CLASS);
    rules(object, causes);
    if let (Some(class), Some(named)) = (annotation, object.sub("spec").opt("ingressClassName"))
        && class != named
    {
        let path = Path::new("annotations");
        causes.invalid(&path.child(CLASS), class, "must match `ingressClassName` when both are specified");
    }
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        let path = Path::new("status");
        let (new, before) = (object.sub("status").sub("loadBalancer"), old.sub("status").sub("loadBalancer"));
        return service::balancer(new, before, false, &path.child("loadBalancer"), causes);
    }
    rules(object, causes);
}

fn rules(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let rules = spec.list("rules");
    if rules.is_empty() && !spec.has("defaultBackend") {
        let shown = if spec.has("rules") { spec.sub("rules") } else { &Value::Null };
        causes.invalid(&SPEC, shown, "either `defaultBackend` or `rules` must be specified");
    }
    if let Some(default) = spec.opt("defaultBackend") {
        backend(default, &SPEC.child("defaultBackend"), causes);
    }
    let at = SPEC.child("rules");
    for (i, rule) in rules.iter().enumerate() {
        let at = at.index(i);
        let host = rule.s("host");
        if !host.is_empty() {
            if ip::parse_sloppy(host).is_some() {
                causes.invalid_str(&at.child("host"), host, "must be a DNS name, not an IP address");
            }
            host_name(host, &at.child("host"), causes);
        }
        if let Some(http) = rule.opt("http") {
            paths(http, &at.child("http"), causes);
        }
    }
    let at = SPEC.child("tls");
    for (i, tls) in spec.list("tls").iter().enumerate() {
        let at = at.index(i);
        let hosts_at = at.child("hosts");
        for (j, host) in tls.list("hosts").iter().enumerate() {
            host_name(host.as_str().unwrap_or(""), &hosts_at.index(j), causes);
        }
        if !tls.zero("secretName") {
            causes.format(&at.child("secretName"), tls.s("secretName"), name::subdomain);
        }
    }
    if let Some(class) = spec.opt("ingressClassName") {
        causes.format(&SPEC.child("ingressClassName"), class.as_str().unwrap_or(""), name::subdomain);
    }
}

fn host_name(host: &str, at: &Path<'_>, causes: &mut Causes) {
    let format = if host.contains('*') { name::wildcard } else { name::subdomain };
    causes.format(at, host, format);
}

fn paths(http: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("paths");
    let paths = http.list("paths");
    if paths.is_empty() {
        causes.need(&at);
    }
    for (i, one) in paths.iter().enumerate() {
        let at = at.index(i);
        let (text, text_at) = (one.s("path"), at.child("path"));
        match one.opt("pathType").map(|t| t.as_str().unwrap_or("")) {
            None => {
                causes.required(&at.child("pathType"), "pathType must be specified");
                continue;
            }
            Some("Exact" | "Prefix") => {
                if !text.starts_with('/') {
                    causes.invalid_str(&text_at, text, "must be an absolute path");
                }
                if !text.is_empty() {
                    for bad in ["//", "/./", "/../", "%2f", "%2F"] {
                        if text.contains(bad) {
                            causes.invalid_str(&text_at, text, &format!("must not contain '{bad}'"));
                        }
                    }
                    for bad in ["/..", "/."] {
                        if text.ends_with(bad) {
                            causes.invalid_str(&text_at, text, &format!("cannot end with '{bad}'"));
                        }
                    }
                }
            }
            Some("ImplementationSpecific") => {
                if !text.is_empty() && !text.starts_with('/') {
                    causes.invalid_str(&text_at, text, "must be an absolute path");
                }
            }
            Some(other) => {
                let known = ["Exact", "ImplementationSpecific", "Prefix"];
                causes.unsupported(&at.child("pathType"), other, &known);
            }
        }
        backend(one.sub("backend"), &at.child("backend"), causes);
    }
}

fn backend(backend: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (resource, service) = (backend.opt("resource"), backend.opt("service"));
    match (resource, service) {
        (Some(_), Some(_)) => {
            causes.invalid_str(path, "", "cannot set both resource and service backends");
        }
        (Some(resource), None) => typed_reference(resource, &path.child("resource"), causes),
        (None, None) => causes.invalid_str(path, "", "resource or service backend is required"),
        (None, Some(service)) => {
            let at = path.child("service");
            if service.zero("name") {
                causes.need(&at.child("name"));
            } else {
                causes.format(&at.child("name"), service.s("name"), name::label);
            }
            let port = service.sub("port");
            let (named, number) = (!port.zero("name"), port.i("number") != 0);
            let at = at.child("port");
            match (named, number) {
                (true, true) => causes.invalid_str(path, "", "cannot set both port name & port number"),
                (true, false) => causes.format(&at.child("name"), port.s("name"), text::port_name),
                (false, true) => causes.port(&at.child("number"), port.i("number")),
                (false, false) => causes.required(path, "port name or number is required"),
            }
        }
    }
}

/// `validateIngressTypedLocalObjectReference`.
fn typed_reference(reference: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(group) = reference.opt("apiGroup").map(|g| g.as_str().unwrap_or("")) {
        causes.format(&path.child("apiGroup"), group, name::subdomain);
    }
    for key in ["kind", "name"] {
        if reference.zero(key) {
            causes.need(&path.child(key));
        } else {
            causes.format(&path.child(key), reference.s(key), name::path_segment);
        }
    }
}
