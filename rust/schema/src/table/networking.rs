//! Ingresses, network policies and addresses.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use super::selector;
use super::subject::Subject;
use super::text::{balancer, deref, grouped, join, lower};
use crate::read::Read;

/// `printIngress`.
pub(super) fn ingress(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![
        of.name(),
        deref(spec, "ingressClassName", "<none>"),
        hosts(spec.list("rules")),
        balancer(of.status()),
        if spec.list("tls").is_empty() { "80" } else { "80, 443" },
        of.age(),
    ]
}

/// `formatHosts`. What follows is counted by rules, whether they name a host or not.
fn hosts(rules: &[Value]) -> String {
    const SHOWN: usize = 3;
    let mut shown = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == SHOWN;
        if !more && !rule.s("host").is_empty() {
            shown.push(rule.s("host"));
        }
    }
    match (shown.join(","), more) {
        (text, true) => format!("{text} + {} more...", rules.len() - SHOWN),
        (text, false) if shown.is_empty() => format!("*{text}"),
        (text, false) => text,
    }
}

/// `printIngressClass`.
pub(super) fn ingress_class(of: &Subject<'_>) -> Vec<Value> {
    let default = of.annotation("ingressclass.kubernetes.io/is-default-class") == Some("true");
    let parameters = of.spec().opt("parameters").map_or_else(
        || "<none>".to_owned(),
        |p| match p.opt("apiGroup") {
            Some(group) => format!("{}.{}/{}", p.s("kind"), group.as_str().unwrap_or(""), p.s("name")),
            None => format!("{}/{}", p.s("kind"), p.s("name")),
        },
    );
    cells![
        format!("{}{}", of.name(), if default { " (default)" } else { "" }),
        of.spec().s("controller"),
        parameters,
        of.age(),
    ]
}

/// `printIPAddress`, which gives an age though there is no column for it.
pub(super) fn ip_address(of: &Subject<'_>) -> Vec<Value> {
    let parent = of.spec().opt("parentRef").map_or_else(
        || "<none>".to_owned(),
        |p| {
            let resource = lower(&grouped(p.s("resource"), p.s("group")));
            match p.s("namespace") {
                "" => format!("{resource}/{}", p.s("name")),
                namespace => format!("{resource}/{namespace}/{}", p.s("name")),
            }
        },
    );
    cells![of.name(), parent, of.age()]
}

/// `printNetworkPolicy`.
pub(super) fn network_policy(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), selector::format(of.spec().sub("podSelector")), of.age()]
}

/// `printServiceCIDR`.
pub(super) fn service_cidr(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), join(of.spec().list("cidrs"), ","), of.age()]
}
