//! Network policies (`pkg/registry/networking/networkpolicy/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{ip, text};
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_rules::{address, selector};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    // By `reflect.DeepEqual`: empty is not absent.
    generation: GenerationRule::of(|new, old| new.field("spec") != old.field("spec")),
    default: |_, object, _| default(object),
    validate: |_, object, causes| validate(object, causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

fn default(object: &mut Value) {
    let spec = object.make("spec");
    for rules in ["ingress", "egress"] {
        spec.each(rules, |rule| rule.each("ports", |port| port.unset("protocol", "TCP")));
    }
    if spec.list("policyTypes").is_empty() {
        let mut types = vec![Value::from("Ingress")];
        if !spec.list("egress").is_empty() {
            types.push(Value::from("Egress"));
        }
        spec.put("policyTypes", types);
    }
}

/// `ValidateNetworkPolicySpec`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    selector::label_selector(spec.field("podSelector"), &SPEC.child("podSelector"), causes);
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
        return causes.invalid(&at, spec.field("policyTypes"), "may not specify more than two policyTypes");
    }
    for (i, kind) in types.iter().enumerate() {
        causes.one_of(&at.index(i), kind.as_str().unwrap_or(""), &["Ingress", "Egress"]);
    }
}

/// `ValidateNetworkPolicyPort`.
fn port_of(port: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(protocol) = port.opt("protocol") {
        causes.one_of(&path.child("protocol"), protocol.as_str().unwrap_or(""), &["TCP", "UDP", "SCTP"]);
    }
    let (at, end) = (path.child("endPort"), port.opt_int("endPort"));
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

/// `ValidateNetworkPolicyPeer`.
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

/// `ValidateIPBlock`.
fn ip_block(block: &Value, path: &Path<'_>, causes: &mut Causes) {
    let cidr = block.text("cidr");
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
        // A mapped address is one of IPv4, whatever the length of its prefix.
        let inner = ip::network(inner, inner_length).to_canonical();
        let within = network.is_ipv4() == inner.is_ipv4()
            && inner_length > length
            && ip::network(inner, length) == ip::network(network, length);
        if !within {
            causes.invalid_str(&at.index(i), text, "must be a strict subset of `cidr`");
        }
    }
}

/// `networkPolicyWarnings`.
fn warn(object: &Value, out: &mut Vec<String>) {
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let rules_path = SPEC.child(rules);
        for (i, rule) in object.field("spec").list(rules).iter().enumerate() {
            let rule_path = rules_path.index(i);
            let peers_path = rule_path.child(peers);
            for (j, peer) in rule.list(peers).iter().enumerate() {
                let Some(block) = peer.opt("ipBlock") else { continue };
                let at = peers_path.index(j);
                let at = at.child("ipBlock");
                address::cidr(block.text("cidr"), &at.child("cidr"), out);
                let except = at.child("except");
                for (k, text) in block.list("except").iter().enumerate() {
                    address::cidr(text.as_str().unwrap_or(""), &except.index(k), out);
                }
            }
        }
    }
}

/// `printNetworkPolicy`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), table::selector::format(subject.spec().field("podSelector")), subject.age()]
}
