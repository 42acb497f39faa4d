//! Endpoints (`pkg/registry/core/endpoint/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_rules::address::{self, usable};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{ip, label, name};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write, same_field};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    validate: |_, object, causes| validate(object, None, causes),
    validate_update: |_, object, old, causes| validate(object, Some(old), causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `printEndpoints`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), addresses(subject.object.list("subsets")), subject.age()]
}

/// `formatEndpoints`: three addresses, each with each port of its subset, and how many follow.
fn addresses(subsets: &[Value]) -> String {
    const SHOWN: usize = 3;
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let mut shown = Vec::new();
    let mut count = 0;
    for subset in subsets {
        let hosts = subset.list("addresses");
        let ports: Vec<_> = subset.list("ports").iter().map(|p| Some(p.int("port"))).collect();
        // Headless services may have no ports.
        for port in if ports.is_empty() { vec![None] } else { ports } {
            count += hosts.len();
            for host in hosts.iter().take(SHOWN - shown.len()) {
                shown.push(match (host.text("ip"), port) {
                    (ip, None) => ip.to_owned(),
                    (ip, Some(port)) if ip.contains(':') => format!("[{ip}]:{port}"),
                    (ip, Some(port)) => format!("{ip}:{port}"),
                });
            }
        }
    }
    let text = shown.join(",");
    if count > SHOWN { format!("{text} + {} more...", count - SHOWN) } else { text }
}

/// `endpointsWarnings`: those of the controller concern no user.
fn warn(object: &Value, out: &mut Vec<String>) {
    let labels = object.field("metadata").field("labels");
    if labels.text("endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
        return;
    }
    let path = Path::new("subsets");
    for (i, subset) in object.list("subsets").iter().enumerate() {
        for key in ["addresses", "notReadyAddresses"] {
            for (j, address) in subset.list(key).iter().enumerate() {
                address::ip(address.text("ip"), &path.index(i).child(key).index(j).child("ip"), out);
            }
        }
    }
}

/// Report whether the same pointers are set: one to an empty text differs from none for upstream's `DeepEqual`.
fn same_pointers(object: &Value, old: &Value) -> bool {
    let set = |of: &Value| -> Vec<bool> {
        let mut set = Vec::new();
        for subset in of.list("subsets") {
            for address in subset.list("addresses").iter().chain(subset.list("notReadyAddresses")) {
                set.extend([address.has("nodeName"), address.has("targetRef")]);
            }
            set.extend(subset.list("ports").iter().map(|port| port.has("appProtocol")));
        }
        set
    };
    set(object) == set(old)
}

/// `ValidateEndpoints` after its metadata.
fn validate(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    if old.is_some_and(|o| same_field(object, o, "subsets") && same_pointers(object, o)) {
        return;
    }
    let path = Path::new("subsets");
    for (i, subset) in object.list("subsets").iter().enumerate() {
        let at = path.index(i);
        let (ready, waiting) = (subset.list("addresses"), subset.list("notReadyAddresses"));
        if ready.is_empty() && waiting.is_empty() {
            causes.required(&at, "must specify `addresses` or `notReadyAddresses`");
        }
        for key in ["addresses", "notReadyAddresses"] {
            let at = at.child(key);
            for (j, address) in subset.list(key).iter().enumerate() {
                let at = at.index(j);
                address_of(address, &at, causes);
            }
        }
        let ports = subset.list("ports");
        let at = at.child("ports");
        for (j, port) in ports.iter().enumerate() {
            port_of(port, ports.len() > 1, &at.index(j), causes);
        }
    }
}

fn address_of(address: &Value, path: &Path<'_>, causes: &mut Causes) {
    let text = address.text("ip");
    causes.format(&path.child("ip"), text, ip::ip_legacy);
    if !address.zero("hostname") {
        causes.format(&path.child("hostname"), address.text("hostname"), name::label);
    }
    if let Some(node) = address.opt("nodeName") {
        causes.format(&path.child("nodeName"), node.as_str().unwrap_or(""), name::subdomain);
    }
    // A text that is not an address at all is reported twice, as upstream does.
    usable(text, &path.child("ip"), causes);
}

fn port_of(port: &Value, named: bool, path: &Path<'_>, causes: &mut Causes) {
    if !port.zero("name") {
        causes.format(&path.child("name"), port.text("name"), name::label);
    } else if named {
        causes.need(&path.child("name"));
    }
    causes.port(&path.child("port"), port.int("port"));
    causes.one_of_required(&path.child("protocol"), port.text("protocol"), &["SCTP", "TCP", "UDP"]);
    if let Some(protocol) = port.opt("appProtocol") {
        causes.format(&path.child("appProtocol"), protocol.as_str().unwrap_or(""), label::key);
    }
}

fn default(object: &mut Value) {
    object.each("subsets", |subset| subset.each("ports", |port| port.fill("protocol", "TCP")));
}
