//! Endpoints.

use std::net::IpAddr;

use hydrofoil_types::{Causes, Path, Value};

use crate::read::{Read, same_field};
use crate::validate::check::Check;
use crate::validate::format::{ip, label, name};

/// `ValidateEndpoints` after its metadata.
pub(crate) fn rules(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    if old.is_some_and(|o| same_field(object, o, "subsets")) {
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
                address_of(address, old, &at, causes);
            }
        }
        let ports = subset.list("ports");
        let at = at.child("ports");
        for (j, port) in ports.iter().enumerate() {
            port_of(port, ports.len() > 1, &at.index(j), causes);
        }
    }
}

fn address_of(address: &Value, _old: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let text = address.s("ip");
    causes.format(&path.child("ip"), text, ip::ip_legacy);
    if !address.zero("hostname") {
        causes.format(&path.child("hostname"), address.s("hostname"), name::label);
    }
    if let Some(node) = address.opt("nodeName") {
        causes.format(&path.child("nodeName"), node.as_str().unwrap_or(""), name::subdomain);
    }
    // A text that is no address at all is told twice, as upstream does.
    usable(text, &path.child("ip"), causes);
}

/// `ValidateEndpointIP`: no address that means this machine or this link.
pub(crate) fn usable(text: &str, path: &Path<'_>, causes: &mut Causes) {
    let Some(address) = ip::parse_sloppy(text) else {
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

fn port_of(port: &Value, named: bool, path: &Path<'_>, causes: &mut Causes) {
    if !port.zero("name") {
        causes.format(&path.child("name"), port.s("name"), name::label);
    } else if named {
        causes.need(&path.child("name"));
    }
    causes.port(&path.child("port"), port.i("port"));
    causes.one_of_required(&path.child("protocol"), port.s("protocol"), &["SCTP", "TCP", "UDP"]);
    if let Some(protocol) = port.opt("appProtocol") {
        causes.format(&path.child("appProtocol"), protocol.as_str().unwrap_or(""), label::key);
    }
}
