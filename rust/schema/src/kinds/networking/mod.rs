//! Kinds of the group `networking.k8s.io`.

mod ingress;
mod ingress_class;
mod ip_address;
mod network_policy;
mod service_cidr;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "IPAddress" => &ip_address::STRATEGY,
        "Ingress" => &ingress::STRATEGY,
        "IngressClass" => &ingress_class::STRATEGY,
        "NetworkPolicy" => &network_policy::STRATEGY,
        "ServiceCIDR" => &service_cidr::STRATEGY,
        _ => return None,
    })
}
