//! Services and endpoints.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use hydrofoil_rules::table::text::{balancer, join, or};
use hydrofoil_rules::table::{Subject, cells, selector};
use hydrofoil_types::read::Read;

/// `printService`.
pub(super) fn service(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    let address = spec.list("clusterIPs").first().map_or("<none>", |ip| ip.as_str().unwrap_or(""));
    let ports = ports(spec.list("ports"));
    cells![
        subject.name(),
        spec.text("type"),
        address,
        external(subject),
        or(&ports, "<none>"),
        subject.age(),
        selector::labels(spec, "selector"),
    ]
}

/// `makePortString`.
fn ports(list: &[Value]) -> String {
    list.iter()
        .map(|p| match p.int("nodePort") {
            ..=0 => format!("{}/{}", p.int("port"), p.text("protocol")),
            node => format!("{}:{node}/{}", p.int("port"), p.text("protocol")),
        })
        .collect::<Vec<_>>()
        .join(",")
}

/// `getServiceExternalIP`.
fn external(subject: &Subject<'_>) -> String {
    let given = subject.spec().list("externalIPs");
    match subject.spec().text("type") {
        "ClusterIP" | "NodePort" if given.is_empty() => "<none>".to_owned(),
        "ClusterIP" | "NodePort" => join(given, ","),
        "LoadBalancer" => match (balancer(subject.status()), given) {
            (made, []) => or(&made, "<pending>").to_owned(),
            (made, given) if made.is_empty() => join(given, ","),
            (made, given) => format!("{made},{}", join(given, ",")),
        },
        "ExternalName" => subject.spec().text("externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}
