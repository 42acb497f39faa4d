//! Nodes (`printNode`).

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::or;
use crate::read::Read;

pub(super) fn node(of: &Subject<'_>) -> Vec<Value> {
    let info = of.status().sub("nodeInfo");
    // Of several conditions of a type the last counts.
    let ready = of.status().list("conditions").iter().rev().find(|c| c.s("type") == "Ready");
    let mut status = match ready.map(|c| c.s("status") == "True") {
        Some(true) => "Ready",
        Some(false) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if of.spec().b("unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let roles = roles(of).join(",");
    let mut kernel = or(info.s("kernelVersion"), "<unknown>").to_owned();
    if !info.s("architecture").is_empty() {
        kernel = format!("{kernel} ({})", info.s("architecture"));
    }
    cells![
        of.name(),
        status,
        or(&roles, "<none>"),
        of.age(),
        info.s("kubeletVersion"),
        address(of, "InternalIP"),
        address(of, "ExternalIP"),
        or(info.s("osImage"), "<unknown>"),
        kernel,
        or(info.s("containerRuntimeVersion"), "<unknown>"),
    ]
}

/// `findNodeRoles`.
fn roles<'a>(of: &Subject<'a>) -> Vec<&'a str> {
    let mut roles: Vec<_> = of
        .meta()
        .labels()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => Some(value),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

fn address<'a>(of: &Subject<'a>, kind: &str) -> &'a str {
    of.status().list("addresses").iter().find(|a| a.s("type") == kind).map_or("<none>", |a| a.s("address"))
}
