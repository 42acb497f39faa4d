//! Endpoint slices (`pkg/registry/discovery/endpointslice/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use crate::kind::{GenerationRule, MetadataCheck, Strategy};
use hydrofoil_internal as internal;
use hydrofoil_rules::address::{self, usable};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::{ip, label, name};
use hydrofoil_rules::table::text::{deref, first_three};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write, same, same_field};

pub(crate) static STRATEGY: Strategy = Strategy {
    generation: GenerationRule::of(differs),
    default: |_, object, _| default(object),
    drop_disabled: |_, object, old| {
        if old.is_none() {
            drop_topology(object);
        }
    },
    // `PrepareForUpdate` compares before `dropTopologyOnV1`. A stored topology of v1beta1 is kept while the endpoints are
    // unchanged.
    drop_counted: |object, old| {
        if old.field("endpoints") != object.field("endpoints") {
            drop_topology(object);
        }
    },
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[MetadataCheck::Object],
    validate: |_, object, causes| validate(object, None, causes),
    validate_update: |_, object, old, causes| validate(object, Some(old), causes),
    warn_create: |_, object, out| {
        if object.text("addressType") == "FQDN" {
            out.push("spec.addressType: FQDN endpoints are deprecated".into());
        }
        warn(object, out);
    },
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.each("ports", |port| {
        port.unset("name", "");
        port.unset("protocol", "TCP");
    });
}

/// Report whether the endpoints are the same for upstream's types.
fn same_endpoints(object: &Value, old: &Value) -> bool {
    internal::same("[]discovery.Endpoint", object.field("endpoints"), old.field("endpoints"))
}

/// Report whether an endpoint slice needs a new generation.
fn differs(object: &Value, old: &Value) -> bool {
    let differs = |field: &str, shape: &str| !internal::same(shape, object.field(field), old.field(field));
    !same_endpoints(object, old)
        || differs("ports", "[]discovery.EndpointPort")
        || !same_field(object, old, "addressType")
        || !same(object.field("metadata").field("labels"), old.field("metadata").field("labels"))
}

/// Drop the topology, which v1 does not allow.
fn drop_topology(object: &mut Value) {
    object.each("endpoints", |e| e.drop("deprecatedTopology"));
}

fn validate(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let kind = object.text("addressType");
    causes.one_of_required(&Path::new("addressType"), kind, &["FQDN", "IPv4", "IPv6"]);
    ports(object.list("ports"), causes);
    let path = Path::new("endpoints");
    let endpoints = object.list("endpoints");
    let mut found = Causes::new();
    if endpoints.len() > 1000 {
        found.too_many(&path, endpoints.len(), 1000);
    } else {
        for (i, endpoint) in endpoints.iter().enumerate() {
            endpoint_of(endpoint, kind, &path.index(i), &mut found);
        }
    }
    // Older versions considered valid what is there unchanged; comparing is only worth while with a fault.
    if !found.is_empty() && old.is_none_or(|old| !same_endpoints(object, old)) {
        causes.extend(found);
    }
    if let Some(old) = old
        && old.text("addressType") != kind
    {
        causes.invalid_str(&Path::new("addressType"), kind, IMMUTABLE);
    }
}

fn endpoint_of(endpoint: &Value, kind: &str, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("addresses");
    let addresses = endpoint.list("addresses");
    if addresses.is_empty() {
        causes.required(&at, "must contain at least 1 address");
    } else if addresses.len() > 100 {
        causes.too_many(&at, addresses.len(), 100);
    }
    for (i, address) in addresses.iter().enumerate() {
        let text = address.as_str().unwrap_or("");
        let at = at.index(i);
        match kind {
            "IPv4" | "IPv6" => {
                let before = causes.len();
                // Addresses of IPv4 have one form; those of IPv6 have to be in the canonical one.
                causes.format(&at, text, if kind == "IPv4" { ip::ip_legacy } else { ip::ip });
                let family = ip::parse_sloppy(text).map(|a| a.is_ipv4());
                if causes.len() == before {
                    if family != Some(kind == "IPv4") {
                        causes.invalid_str(&path.child("addresses"), text, &format!("must be an {kind} address"));
                    }
                    usable(text, &at, causes);
                }
            }
            "FQDN" => fqdn(text, &at, causes),
            _ => {}
        }
    }
    if let Some(node) = endpoint.opt("nodeName") {
        causes.format(&path.child("nodeName"), node.as_str().unwrap_or(""), name::subdomain);
    }
    let at = path.child("deprecatedTopology");
    let topology = endpoint.entries("deprecatedTopology");
    if topology.len() > 16 {
        causes.too_many(&at, topology.len(), 16);
    }
    for (key, value) in topology {
        if key == "topology.kubernetes.io/zone" {
            causes.forbidden(&at.key(key), "must not be set, use zone instead");
        }
        causes.format(&at, key, label::key);
        causes.format(&at, value.as_str().unwrap_or(""), label::value);
    }
    if let Some(host) = endpoint.opt("hostname") {
        causes.format(&path.child("hostname"), host.as_str().unwrap_or(""), name::label);
    }
    if let Some(hints) = endpoint.opt("hints") {
        let at = path.child("hints");
        for (key, format) in
            [("forZones", label::value as hydrofoil_rules::format::Format), ("forNodes", name::subdomain)]
        {
            let list = hints.list(key);
            let at = at.child(key);
            if list.len() > 8 {
                causes.too_many(&at, list.len(), 8);
            }
            let duplicates = Duplicates::of(list, |v| v.text("name"));
            for (i, hint) in list.iter().enumerate() {
                let at = at.index(i);
                let own = hint.text("name");
                if duplicates.is_repeat(i) {
                    causes.duplicate_str(&at.child("name"), own);
                }
                causes.format(&at.child("name"), own, format);
            }
        }
    }
}

/// `IsFullyQualifiedDomainName`.
fn fqdn(text: &str, at: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        return causes.need(at);
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let mut wrong: Vec<String> = Vec::new();
    name::subdomain(text, &mut |detail| wrong.push(detail.to_owned()));
    if !wrong.is_empty() {
        return causes.invalid_str(at, text, &wrong.join(","));
    }
    if !text.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return causes.invalid_str(at, text, detail);
    }
    for part in text.split('.') {
        let mut wrong: Vec<String> = Vec::new();
        name::label(part, &mut |detail| wrong.push(detail.to_owned()));
        if !wrong.is_empty() {
            return causes.invalid_str(at, part, &wrong.join(","));
        }
    }
}

fn ports(ports: &[Value], causes: &mut Causes) {
    let path = Path::new("ports");
    if ports.len() > 20_000 {
        return causes.too_many(&path, ports.len(), 20_000);
    }
    let duplicates = Duplicates::of(ports, |v| v.text("name"));
    for (i, port) in ports.iter().enumerate() {
        let at = path.index(i);
        let own = port.text("name");
        if !own.is_empty() {
            causes.format(&at.child("name"), own, name::label);
        }
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("name"), own);
        }
        // The default is set where it is absent.
        causes.one_of(&at.child("protocol"), port.text("protocol"), &["SCTP", "TCP", "UDP"]);
        if let Some(protocol) = port.opt("appProtocol") {
            causes.format(&at.child("appProtocol"), protocol.as_str().unwrap_or(""), label::key);
        }
    }
}

/// `warnOnBadIPs` of endpoint slices.
fn warn(object: &Value, out: &mut Vec<String>) {
    let manager = object.field("metadata").field("labels").text("endpointslice.kubernetes.io/managed-by");
    // The controllers have corrected what they write.
    if matches!(manager, "endpointslice-controller.k8s.io" | "endpointslicemirroring-controller.k8s.io") {
        return;
    }
    let path = Path::new("endpoints");
    for (i, endpoint) in object.list("endpoints").iter().enumerate() {
        address::ips(endpoint, "addresses", &path.index(i), out);
    }
}

/// `printEndpointSlice`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let ports = subject.object.list("ports").iter().map(|p| match p.opt_int("port") {
        Some(number) => number.to_string(),
        None => deref(p, "name", "*").to_owned(),
    });
    let addresses = subject.object.list("endpoints").iter().flat_map(|e| e.list("addresses")).filter_map(Value::as_str);
    cells![
        subject.name(),
        subject.object.text("addressType"),
        first_three(ports),
        first_three(addresses),
        subject.age()
    ]
}
