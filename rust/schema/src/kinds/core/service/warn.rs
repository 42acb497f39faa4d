//! Warnings of services (`pkg/api/service/warnings.go`).

use hydrofoil_types::{Path, Value};

use hydrofoil_rules::address;
use hydrofoil_types::read::Read;

/// `GetWarningsForService`.
pub(super) fn service(object: &Value, out: &mut Vec<String>) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let spec = object.field("spec");
    let path = Path::new("spec");
    if object.field("metadata").field("annotations").has(HINTS) {
        out.push(format!("annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"));
    }
    let kind = spec.text("type");
    let external = kind == "ExternalName";
    let headless = kind == "ClusterIP" && spec.text("clusterIP") == "None";
    let outside = !spec.list("externalIPs").is_empty();
    if !matches!(spec.text("clusterIP"), "" | "None") {
        address::ips(spec, "clusterIPs", &path, out);
    }
    if headless {
        if !spec.text("loadBalancerIP").is_empty() {
            out.push("spec.loadBalancerIP is ignored for headless services".into());
        }
        if outside {
            out.push("spec.externalIPs is ignored for headless services".into());
        }
        if spec.text("sessionAffinity") != "None" {
            out.push("spec.SessionAffinity is ignored for headless services".into());
        }
    }
    address::ips(spec, "externalIPs", &path, out);
    if outside && !headless && !external {
        out.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".into());
    }
    if !spec.text("loadBalancerIP").is_empty() {
        address::ip(spec.text("loadBalancerIP"), &path.child("loadBalancerIP"), out);
    }
    let ranges = path.child("loadBalancerSourceRanges");
    for (i, text) in spec.list("loadBalancerSourceRanges").iter().enumerate() {
        address::cidr(text.as_str().unwrap_or(""), &ranges.index(i), out);
    }
    if external && outside {
        out.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".into());
    }
    if !external && !spec.text("externalName").is_empty() {
        out.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".into());
    }
    if spec.text("trafficDistribution") == "PreferClose" {
        out.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".into());
    }
}
