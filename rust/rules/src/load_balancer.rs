//! The status of a load balancer, of services and ingresses.

use hydrofoil_types::{Causes, KeySet, Path, Value};

use crate::check::Check;
use crate::format::{ip, name};
use hydrofoil_types::read::Read;

/// `ValidateLoadBalancerStatus`, of ingresses too.
pub fn balancer(status: &Value, old: &Value, modes: bool, path: &Path<'_>, causes: &mut Causes) {
    let path = path.child("ingress");
    let kept: KeySet<_> = old.list("ingress").iter().map(|o| o.text("ip")).collect();
    for (i, ingress) in status.list("ingress").iter().enumerate() {
        let at = path.index(i);
        let address = ingress.text("ip");
        if !address.is_empty() && !kept.contains(&address) {
            causes.format(&at.child("ip"), address, ip::ip_legacy);
        }
        if modes {
            let mode_at = at.child("ipMode");
            match ingress.opt("ipMode") {
                None if !address.is_empty() => causes.required(&mode_at, "must be specified when `ip` is set"),
                Some(_) if address.is_empty() => {
                    causes.forbidden(&mode_at, "may not be specified when `ip` is not set");
                }
                Some(mode) => causes.one_of(&mode_at, mode.as_str().unwrap_or(""), &["Proxy", "VIP"]),
                None => {}
            }
        }
        let host = ingress.text("hostname");
        if !host.is_empty() {
            causes.format(&at.child("hostname"), host, name::subdomain);
            if ip::parse_sloppy(host).is_some() {
                causes.invalid_str(&at.child("hostname"), host, "must be a DNS name, not an IP address");
            }
        }
    }
}
