//! Network policies.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{ip, text};
use crate::validate::selector;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn rules(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    selector::label_selector(spec.sub("podSelector"), &SPEC.child("podSelector"), causes);
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        let at = SPEC.child(list);
        for (i, rule) in spec.list(list).iter().enumerate() {
            let at = at.index(i);
            let ports_at = at.child("ports");
            for (j, port) in rule.list("ports").iter().enumerate() {
                port_of(port, &ports_at.index(j), causes);
            }
            let peers_at = at.child(peers);
            for (j, peer) in rule.list(peers).iter().enumerate() {
                peer_of(peer, &peers_at.index(j), causes);
            }
        }
    }
    let types = spec.list("policyTypes");
    let at = SPEC.child("policyTypes");
    if types.len() > 2 {
        return causes.invalid(&at, spec.sub("policyTypes"), "may not specify more than two policyTypes");
    }
    for (i, kind) in types.iter().enumerate() {
        causes.one_of(&at.index(i), kind.as_str().unwrap_or(""), &["Ingress", "Egress"]);
    }
}

fn port_of(port: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(protocol) = port.opt("protocol") {
        causes.one_of(&path.child("protocol"), protocol.as_str().unwrap_or(""), &["TCP", "UDP", "SCTP"]);
    }
    let (at, end) = (path.child("endPort"), port.oi("endPort"));
    match port.opt("port") {
        Some(Value::Str(name)) => {
            if let Some(end) = end {
                causes.invalid_int(&at, end, "may not be specified when `port` is non-numeric");
            }
            causes.format(&path.child("port"), name, text::port_name);
        }
        Some(number) => {
            let number = number.as_int().unwrap_or(0);
            causes.port(&path.child("port"), number);
            if let Some(end) = end {
                if end < number {
                    // Upstream shows the port.
                    causes.invalid_int(&at, number, "must be greater than or equal to `port`");
                }
                causes.port(&at, end);
            }
        }
        None => {
            if let Some(end) = end {
                causes.invalid_int(&at, end, "may not be specified when `port` is not specified");
            }
        }
    }
}

fn peer_of(peer: &Value, path: &Path<'_>, causes: &mut Causes) {
    let mut count = 0;
    for key in ["podSelector", "namespaceSelector"] {
        if let Some(value) = peer.opt(key) {
            count += 1;
            selector::label_selector(value, &path.child(key), causes);
        }
    }
    if let Some(block) = peer.opt("ipBlock") {
        count += 1;
        ip_block(block, &path.child("ipBlock"), causes);
    }
    if count == 0 {
        causes.required(path, "must specify a peer");
    } else if count > 1 && peer.has("ipBlock") {
        causes.forbidden(path, "may not specify both ipBlock and another peer");
    }
}

fn ip_block(block: &Value, path: &Path<'_>, causes: &mut Causes) {
    let cidr = block.s("cidr");
    if cidr.is_empty() {
        return causes.need(&path.child("cidr"));
    }
    causes.format(&path.child("cidr"), cidr, ip::cidr_legacy);
    let Some((network, length)) = ip::parse_cidr_sloppy(cidr) else { return };
    let at = path.child("except");
    for (i, except) in block.list("except").iter().enumerate() {
        let text = except.as_str().unwrap_or("");
        causes.format(&at.index(i), text, ip::cidr_legacy);
        let Some((inner, inner_length)) = ip::parse_cidr_sloppy(text) else { continue };
        let within = network.is_ipv4() == inner.is_ipv4()
            && inner_length > length
            && ip::masked(inner, length) == ip::masked(network, length);
        if !within {
            causes.invalid_str(&at.index(i), text, "must be a strict subset of `cidr`");
        }
    }
}
