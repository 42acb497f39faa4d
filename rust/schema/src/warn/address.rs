//! Addresses that are taken but not written as they should be: `GetWarningsForIP`, `GetWarningsForCIDR`.

use hydrofoil_types::{Path, Value};

use crate::read::Read;
use crate::validate::format::ip::{masked, parse_cidr_sloppy, parse_sloppy};
use std::net::IpAddr;

fn legacy(text: &str) -> bool {
    let dotted = text.rsplit(':').next().unwrap_or(text);
    let zeros = dotted.contains('.') && dotted.split('.').any(|part| part.len() > 1 && part.starts_with('0'));
    zeros || (text.contains(':') && matches!(parse_sloppy(text), Some(IpAddr::V4(_))))
}

/// Of one address.
pub(crate) fn ip(text: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let Some(address) = parse_sloppy(text) else { return };
    let plain = match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    if legacy(text) || plain != address {
        out.push(format!(
            "{path}: non-standard IP address \"{text}\" will be considered invalid in a future Kubernetes release: use \"{plain}\""
        ));
    } else if address.is_ipv6() && address.to_string() != text {
        out.push(format!("{path}: IPv6 address \"{text}\" should be in RFC 5952 canonical format (\"{address}\")"));
    }
}

/// Of one block of addresses.
pub(crate) fn cidr(text: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let Some((address, length)) = parse_cidr_sloppy(text) else { return };
    let base = masked(address, length);
    let before = out.len();
    if base != address {
        let whole = if address.is_ipv4() { 32 } else { 128 };
        out.push(format!(
            "{path}: CIDR value \"{text}\" is ambiguous in this context (should be \"{base}/{length}\" or \"{address}/{whole}\"?)"
        ));
    }
    let (written, prefix) = text.split_once('/').unwrap_or((text, ""));
    if legacy(written) || (prefix.len() > 1 && prefix.starts_with('0')) {
        out.push(format!(
            "{path}: non-standard CIDR value \"{text}\" will be considered invalid in a future Kubernetes release: use \"{base}/{length}\""
        ));
    }
    if out.len() == before && address.is_ipv6() {
        let canonical = format!("{base}/{length}");
        if canonical != text {
            out.push(format!(
                "{path}: IPv6 CIDR value \"{text}\" should be in RFC 5952 canonical format (\"{canonical}\")"
            ));
        }
    }
}

/// Of each text of a list field.
pub(crate) fn ips(of: &Value, key: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let path = path.child(key);
    for (i, text) in of.list(key).iter().enumerate() {
        ip(text.as_str().unwrap_or(""), &path.index(i), out);
    }
}

/// `endpointsWarnings`: those of the controller are no user's fault.
pub(crate) fn endpoints(object: &Value, out: &mut Vec<String>) {
    let labels = object.sub("metadata").sub("labels");
    if labels.s("endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
        return;
    }
    let path = Path::new("subsets");
    for (i, subset) in object.list("subsets").iter().enumerate() {
        for key in ["addresses", "notReadyAddresses"] {
            for (j, address) in subset.list(key).iter().enumerate() {
                ip(address.s("ip"), &path.index(i).child(key).index(j).child("ip"), out);
            }
        }
    }
}

/// `warnOnBadIPs` of endpoint slices.
pub(crate) fn slice(object: &Value, out: &mut Vec<String>) {
    if object.s("addressType") == "FQDN" {
        return;
    }
    let path = Path::new("endpoints");
    for (i, endpoint) in object.list("endpoints").iter().enumerate() {
        ips(endpoint, "addresses", &path.index(i), out);
    }
}

/// `networkPolicyWarnings`.
pub(crate) fn policy(object: &Value, out: &mut Vec<String>) {
    let spec = Path::new("spec");
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let rules_path = spec.child(rules);
        for (i, rule) in object.sub("spec").list(rules).iter().enumerate() {
            let rule_path = rules_path.index(i);
            let peers_path = rule_path.child(peers);
            for (j, peer) in rule.list(peers).iter().enumerate() {
                let Some(block) = peer.opt("ipBlock") else { continue };
                let at = peers_path.index(j);
                let at = at.child("ipBlock");
                cidr(block.s("cidr"), &at.child("cidr"), out);
                let except = at.child("except");
                for (k, text) in block.list("except").iter().enumerate() {
                    cidr(text.as_str().unwrap_or(""), &except.index(k), out);
                }
            }
        }
    }
}
