//! Ports of a pod's containers that get in each other's way.

use std::collections::HashMap;

use hydrofoil_types::{Path, Value};

use super::pod::containers;
use crate::read::Read;

/// The ports of all containers.
pub(crate) fn ports(spec: &Value, at: &Path<'_>, out: &mut Vec<String>) {
    let mut seen: HashMap<(i64, &str), Vec<(String, &Value)>> = HashMap::new();
    containers(spec, at, &mut |container, path| {
        let path = path.child("ports");
        for (i, port) in container.list("ports").iter().enumerate() {
            let here = path.index(i).to_string();
            let (ip, host) = (port.s("hostIP"), port.i("hostPort"));
            if !ip.is_empty() && host == 0 {
                out.push(format!(
                    "{here}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{ip}}}",
                    port.s("name"),
                    port.i("containerPort"),
                    port.s("protocol"),
                ));
            }
            let others = seen.entry((port.i("containerPort"), port.s("protocol"))).or_default();
            for (field, other) in others.iter() {
                let (other_ip, other_host) = (other.s("hostIP"), other.i("hostPort"));
                if ip == other_ip && host == other_host {
                    out.push(format!("{here}: duplicate port definition with {field}"));
                } else if host == 0 || other_host == 0 {
                    out.push(format!("{here}: overlapping port definition with {field}"));
                } else if host == other_host && ip.is_empty() != other_ip.is_empty() {
                    out.push(format!("{here}: dangerously ambiguous port definition with {field}"));
                }
            }
            others.push((here, port));
        }
    });
}
