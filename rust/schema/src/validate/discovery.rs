//! Endpoint slices (`pkg/apis/discovery/validation/validation.go`).

use hydrofoil_types::{Again, Causes, Path, Value};

use super::check::{Check, IMMUTABLE};
use super::core::endpoints::usable;
use super::format::{ip, label, name};
use crate::read::Read;

pub(crate) fn rules(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let kind = object.s("addressType");
    causes.one_of_required(&Path::new("addressType"), kind, &["FQDN", "IPv4", "IPv6"]);
    ports(object.list("ports"), causes);
    let path = Path::new("endpoints");
    let endpoints = object.list("endpoints");
    if endpoints.len() > 1000 {
        causes.too_many(&path, endpoints.len(), 1000);
    } else {
        for (i, endpoint) in endpoints.iter().enumerate() {
            endpoint_of(endpoint, kind, &path.index(i), causes);
        }
    }
    if let Some(old) = old
        && old.s("addressType") != kind
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
                causes.format(&at, text, ip::ip);
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
        for (key, format) in [("forZones", label::value as super::format::Format), ("forNodes", name::subdomain)] {
            let list = hints.list(key);
            let at = at.child(key);
            if list.len() > 8 {
                causes.too_many(&at, list.len(), 8);
            }
            let again = Again::of(list, |v| v.s("name"));
            for (i, hint) in list.iter().enumerate() {
                let at = at.index(i);
                let own = hint.s("name");
                if again.at(i) {
                    causes.duplicate_str(&at.child("name"), own);
                }
                causes.format(&at.child("name"), own, format);
            }
        }
    }
}

/// `IsFullyQualifiedDomainName`.
pub(crate) fn fqdn(text: &str, at: &Path<'_>, causes: &mut Causes) {
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
    let again = Again::of(ports, |v| v.s("name"));
    for (i, port) in ports.iter().enumerate() {
        let at = path.index(i);
        let own = port.s("name");
        if !own.is_empty() {
            causes.format(&at.child("name"), own, name::label);
        }
        if again.at(i) {
            causes.duplicate_str(&at.child("name"), own);
        }
        causes.one_of_required(&at.child("protocol"), port.s("protocol"), &["SCTP", "TCP", "UDP"]);
        if let Some(protocol) = port.opt("appProtocol") {
            causes.format(&at.child("appProtocol"), protocol.as_str().unwrap_or(""), label::key);
        }
    }
}
