//! Ingresses (`pkg/registry/networking/ingress/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{GenerationRule, MetadataCheck, Request, Strategy};
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{Format, ip, name, text};
use hydrofoil_rules::table::text::{balancer, deref};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{address, load_balancer, meta};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    generation: GenerationRule::of_spec("networking.IngressSpec"),
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    validate: |req, object, causes| validate_create(req.release(), object, causes),
    validate_update,
    warn_create: |_, object, out| warn(object, out),
    warn_status: |_, status, out| address::ingress(status, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");
const CLASS: &str = "kubernetes.io/ingress.class";

/// `ValidateIngressCreate`: the class is named in one way only.
fn validate_create(release: Release, object: &Value, causes: &mut Causes) {
    let annotation = object.field("metadata").field("annotations").opt(CLASS);
    validate(meta::service_name(release), object, causes);
    if let (Some(class), Some(named)) = (annotation, object.field("spec").opt("ingressClassName"))
        && class != named
    {
        let path = Path::new("annotations");
        causes.invalid(&path.child(CLASS), class, "must match `ingressClassName` when both are specified");
    }
}

/// `ValidateIngressUpdate` and `ValidateIngressStatusUpdate`.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        let path = Path::new("status");
        let (new, before) = (object.field("status").field("loadBalancer"), old.field("status").field("loadBalancer"));
        return load_balancer::balancer(new, before, false, &path.child("loadBalancer"), causes);
    }
    let format = if names_relaxed(old.field("spec")) { name::label } else { meta::service_name(req.release()) };
    validate(format, object, causes);
}

/// Report whether a backend names a service that only `RelaxedServiceNameValidation` allows.
fn names_relaxed(spec: &Value) -> bool {
    let rules = spec.list("rules").iter();
    let backends = rules.flat_map(|rule| rule.field("http").list("paths")).map(|path| path.field("backend"));
    backends.chain([spec.field("defaultBackend")]).filter_map(|backend| backend.opt("service")).any(|service| {
        let mut refused = false;
        name::label_1035(service.text("name"), &mut |_| refused = true);
        refused
    })
}

/// `ValidateIngressSpec`.
fn validate(service: Format, object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let rules = spec.list("rules");
    if rules.is_empty() && !spec.has("defaultBackend") {
        let shown = if spec.has("rules") { spec.field("rules") } else { &Value::Null };
        causes.invalid(&SPEC, shown, "either `defaultBackend` or `rules` must be specified");
    }
    if let Some(default) = spec.opt("defaultBackend") {
        backend(service, default, &SPEC.child("defaultBackend"), causes);
    }
    let at = SPEC.child("rules");
    for (i, rule) in rules.iter().enumerate() {
        let at = at.index(i);
        let host = rule.text("host");
        if !host.is_empty() {
            if ip::parse_sloppy(host).is_some() {
                causes.invalid_str(&at.child("host"), host, "must be a DNS name, not an IP address");
            }
            host_name(host, &at.child("host"), causes);
        }
        if let Some(http) = rule.opt("http") {
            paths(service, http, &at.child("http"), causes);
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
            causes.format(&at.child("secretName"), tls.text("secretName"), name::subdomain);
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

fn paths(service: Format, http: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("paths");
    let paths = http.list("paths");
    if paths.is_empty() {
        causes.need(&at);
    }
    for (i, one) in paths.iter().enumerate() {
        let at = at.index(i);
        let (text, text_at) = (one.text("path"), at.child("path"));
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
        backend(service, one.field("backend"), &at.child("backend"), causes);
    }
}

fn backend(service_name: Format, backend: &Value, path: &Path<'_>, causes: &mut Causes) {
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
                causes.format(&at.child("name"), service.text("name"), service_name);
            }
            let port = service.field("port");
            let (named, number) = (!port.zero("name"), port.int("number") != 0);
            let at = at.child("port");
            match (named, number) {
                (true, true) => causes.invalid_str(path, "", "cannot set both port name & port number"),
                (true, false) => causes.format(&at.child("name"), port.text("name"), text::port_name),
                (false, true) => causes.port(&at.child("number"), port.int("number")),
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
            causes.format(&path.child(key), reference.text(key), name::path_segment);
        }
    }
}

/// Warn of the class by annotation.
fn warn(object: &Value, out: &mut Vec<String>) {
    let annotated = object.field("metadata").field("annotations").has(CLASS);
    if annotated && !object.field("spec").has("ingressClassName") {
        out.push(
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
                .into(),
        );
    }
}

/// `printIngress`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    cells![
        subject.name(),
        deref(spec, "ingressClassName", "<none>"),
        hosts(spec.list("rules")),
        balancer(subject.status()),
        if spec.list("tls").is_empty() { "80" } else { "80, 443" },
        subject.age(),
    ]
}

/// `formatHosts`. The number of further hosts counts rules, whether they name a host or not.
fn hosts(rules: &[Value]) -> String {
    const SHOWN: usize = 3;
    let mut shown = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == SHOWN;
        if !more && !rule.text("host").is_empty() {
            shown.push(rule.text("host"));
        }
    }
    match (shown.join(","), more) {
        (text, true) => format!("{text} + {} more...", rules.len() - SHOWN),
        (text, false) if shown.is_empty() => format!("*{text}"),
        (text, false) => text,
    }
}
