//! Addresses that are accepted in a non-standard form: `GetWarningsForIP`, `GetWarningsForCIDR`.

use std::net::IpAddr;

use hydrofoil_types::{Causes, Path, Value};

use super::format::ip::{network, parse_cidr_sloppy, parse_sloppy};
use hydrofoil_types::read::Read;

fn legacy(text: &str) -> bool {
    let dotted = text.rsplit(':').next().unwrap_or(text);
    let zeros = dotted.contains('.') && dotted.split('.').any(|part| part.len() > 1 && part.starts_with('0'));
    zeros || (text.contains(':') && matches!(parse_sloppy(text), Some(IpAddr::V4(_))))
}

/// Warn of one address.
pub fn ip(text: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let Some(address) = parse_sloppy(text) else { return };
    let plain = match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    };
    if legacy(text) || plain != address {
        out.push(format!("{path}: non-standard IP address \"{text}\" is invalid: use \"{plain}\""));
    } else if address.is_ipv6() && address.to_string() != text {
        out.push(format!("{path}: IPv6 address \"{text}\" should be in RFC 5952 canonical format (\"{address}\")"));
    }
}

/// Warn of one block of addresses.
pub fn cidr(text: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let Some((address, length)) = parse_cidr_sloppy(text) else { return };
    let base = network(address, length);
    let before = out.len();
    if base != address {
        let whole = if address.is_ipv4() { 32 } else { 128 };
        out.push(format!(
            "{path}: CIDR value \"{text}\" is ambiguous in this context (should be \"{base}/{length}\" or \"{address}/{whole}\"?)"
        ));
    }
    let (written, prefix) = text.split_once('/').unwrap_or((text, ""));
    if legacy(written) || (prefix.len() > 1 && prefix.starts_with('0')) {
        out.push(format!("{path}: non-standard CIDR value \"{text}\" is invalid: use \"{base}/{length}\""));
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

/// Warn of each address in a list field.
pub fn ips(of: &Value, key: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let path = path.child(key);
    for (i, text) in of.list(key).iter().enumerate() {
        ip(text.as_str().unwrap_or(""), &path.index(i), out);
    }
}

/// Warn of the addresses of a load balancer in a status.
pub fn ingress(status: &Value, out: &mut Vec<String>) {
    let path = Path::new("status");
    let path = path.child("loadBalancer");
    let path = path.child("ingress");
    for (i, point) in status.field("loadBalancer").list("ingress").iter().enumerate() {
        ip(point.text("ip"), &path.index(i), out);
    }
}

/// `ValidateEndpointIP`: no unspecified, loopback or link-local address.
pub fn usable(text: &str, path: &Path<'_>, causes: &mut Causes) {
    let Some(address) = parse_sloppy(text) else {
        return causes.invalid_str(path, text, "must be a valid IP address");
    };
    if address.is_unspecified() {
        causes.invalid_str(path, text, &format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        causes.invalid_str(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (unicast, multicast) = match address {
        IpAddr::V4(a) => (a.is_link_local(), a.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(a) => (a.segments()[0] & 0xffc0 == 0xfe80, a.segments()[0] & 0xff0f == 0xff02),
    };
    if unicast {
        causes.invalid_str(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if multicast {
        causes.invalid_str(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}
