//! Services and endpoints.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use super::selector;
use super::subject::Subject;
use super::text::{balancer, join, or};
use crate::read::Read;

/// `printService`.
pub(super) fn service(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    let address = spec.list("clusterIPs").first().map_or("<none>", |ip| ip.as_str().unwrap_or(""));
    let ports = ports(spec.list("ports"));
    cells![
        of.name(),
        spec.s("type"),
        address,
        external(of),
        or(&ports, "<none>"),
        of.age(),
        selector::labels(spec, "selector"),
    ]
}

/// `makePortString`.
fn ports(list: &[Value]) -> String {
    list.iter()
        .map(|p| match p.i("nodePort") {
            ..=0 => format!("{}/{}", p.i("port"), p.s("protocol")),
            node => format!("{}:{node}/{}", p.i("port"), p.s("protocol")),
        })
        .collect::<Vec<_>>()
        .join(",")
}

/// `getServiceExternalIP`.
fn external(of: &Subject<'_>) -> String {
    let given = of.spec().list("externalIPs");
    match of.spec().s("type") {
        "ClusterIP" | "NodePort" if given.is_empty() => "<none>".to_owned(),
        "ClusterIP" | "NodePort" => join(given, ","),
        "LoadBalancer" => match (balancer(of.status()), given) {
            (made, []) => or(&made, "<pending>").to_owned(),
            (made, given) if made.is_empty() => join(given, ","),
            (made, given) => format!("{made},{}", join(given, ",")),
        },
        "ExternalName" => of.spec().s("externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// `printEndpoints`.
pub(super) fn endpoints(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), addresses(of.object.list("subsets")), of.age()]
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
        let ports: Vec<_> = subset.list("ports").iter().map(|p| Some(p.i("port"))).collect();
        // Headless services may have no ports.
        for port in if ports.is_empty() { vec![None] } else { ports } {
            count += hosts.len();
            for host in hosts.iter().take(SHOWN - shown.len()) {
                shown.push(match (host.s("ip"), port) {
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
