//! Ports of a pod's containers that conflict with each other.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use std::collections::HashMap;

use hydrofoil_text::quoted;
use hydrofoil_types::{Path, Value};

use super::each_container;
use hydrofoil_types::read::Read;

/// The limit for warnings of overlaps: more than a client is shown.
const MOST: usize = 10_000;

/// The ports of one number and protocol with their paths, and those of a host port, which may conflict with each other.
#[derive(Default)]
struct Ports<'a> {
    list: Vec<(String, &'a str, i64)>,
    hosts: HashMap<i64, Vec<usize>>,
    bound: HashMap<(i64, &'a str), Vec<usize>>,
}

impl<'a> Ports<'a> {
    fn push(&mut self, field: String, ip: &'a str, host: i64) {
        let at = self.list.len();
        self.hosts.entry(host).or_default().push(at);
        self.bound.entry((host, ip)).or_default().push(at);
        self.list.push((field, ip, host));
    }

    /// Return the indexes of those that conflict with another one, in order.
    fn overlaps(&self, ip: &str, host: i64) -> Vec<usize> {
        let of = |host| self.hosts.get(&host).map_or(&[][..], Vec::as_slice);
        let at = |ip| self.bound.get(&(host, ip)).map_or(&[][..], Vec::as_slice);
        let mut found = match (host, ip) {
            (0, _) => return (0..self.list.len()).collect(),
            (_, "") => of(host).to_vec(),
            _ => [at(ip), at("")].concat(),
        };
        found.extend(of(0));
        found.sort_unstable();
        found
    }
}

/// Warn of conflicts between the ports of all containers.
pub fn ports(spec: &Value, at: &Path<'_>, out: &mut Vec<String>) {
    let mut seen: HashMap<(i64, &str), Ports<'_>> = HashMap::new();
    let mut reported = 0;
    each_container(spec, at, &mut |container, path| {
        let path = path.child("ports");
        for (i, port) in container.list("ports").iter().enumerate() {
            let here = path.index(i).to_string();
            let (ip, host) = (port.text("hostIP"), port.int("hostPort"));
            if !ip.is_empty() && host == 0 {
                out.push(format!(
                    "{here}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{ip}}}",
                    port.text("name"),
                    port.int("containerPort"),
                    port.text("protocol"),
                ));
            }
            let others = seen.entry((port.int("containerPort"), port.text("protocol"))).or_default();
            let overlaps = if reported < MOST { others.overlaps(ip, host) } else { Vec::new() };
            reported += overlaps.len();
            for (field, other_ip, other_host) in overlaps.into_iter().map(|at| &others.list[at]) {
                let (other_ip, other_host) = (*other_ip, *other_host);
                if ip == other_ip && host == other_host {
                    out.push(format!("{here}: duplicate port definition with {field}"));
                } else if host == 0 || other_host == 0 {
                    out.push(format!("{here}: overlapping port definition with {field}"));
                } else if host == other_host && ip.is_empty() != other_ip.is_empty() {
                    out.push(format!("{here}: dangerously ambiguous port definition with {field}"));
                }
            }
            others.push(here, ip, host);
        }
    });
}

/// Warn of names of ports that several containers share, init containers among them, whatever the protocol.
pub fn names(spec: &Value, at: &Path<'_>, out: &mut Vec<String>) {
    let mut first: HashMap<&str, String> = HashMap::new();
    each_container(spec, at, &mut |container, path| {
        let path = path.child("ports");
        for (i, port) in container.list("ports").iter().enumerate() {
            let name = port.text("name");
            if name.is_empty() {
                continue;
            }
            let here = path.index(i).to_string();
            if let Some(other) = first.get(name) {
                out.push(format!(
                    "{here}: duplicate port name {} with {other}, services and probes that select ports by name will use \
                     {other}",
                    quoted(name)
                ));
            } else {
                first.insert(name, here);
            }
        }
    });
}
