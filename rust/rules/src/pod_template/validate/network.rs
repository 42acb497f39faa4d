//! Host network, DNS and host names.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use super::PodContext;
use crate::check::Check;
use crate::format::{ip, name};
use hydrofoil_types::read::Read;

/// `validatePodHostNetworkDeps`.
pub fn host_ports(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    if !spec.spec.flag("hostNetwork") {
        return;
    }
    let at = path.child("containers");
    for (i, container) in spec.spec.list("containers").iter().enumerate() {
        let at = at.index(i);
        let at = at.child("ports");
        for (j, port) in container.list("ports").iter().enumerate() {
            let host = port.int("hostPort");
            if (spec.is_pod || host != 0) && host != port.int("containerPort") {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                causes.invalid_int(&at.index(j).child("hostPort"), host, detail);
            }
        }
    }
}

/// `validatePodDNSConfig`.
pub fn dns(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let config = pod.opt("dnsConfig");
    if pod.text("dnsPolicy") == "None" {
        if config.is_none() {
            return causes.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if config.is_none_or(|c| c.list("nameservers").is_empty()) {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return causes.required(&path.child("nameservers"), detail);
        }
    }
    let Some(config) = config else { return };
    let (servers, searches) = (config.list("nameservers"), config.list("searches"));
    let at = path.child("nameservers");
    if servers.len() > 3 {
        causes.invalid(&at, config.field("nameservers"), "must not have more than 3 nameservers");
    }
    for (i, server) in servers.iter().enumerate() {
        causes.format(&at.index(i), server.as_str().unwrap_or(""), ip::ip_legacy);
    }
    let at = path.child("searches");
    if searches.len() > 32 {
        causes.invalid(&at, config.field("searches"), "must not have more than 32 search paths");
    }
    let length: usize = searches.iter().map(|s| s.as_str().map_or(0, str::len) + 1).sum();
    if length > 2049 {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        causes.invalid(&at, config.field("searches"), detail);
    }
    for (i, search) in searches.iter().enumerate() {
        let search = search.as_str().unwrap_or("");
        if search != "." {
            let bare = search.strip_suffix('.').unwrap_or(search);
            causes.format(&at.index(i), bare, name::subdomain_underscore);
        }
    }
    let at = path.child("options");
    for (i, option) in config.list("options").iter().enumerate() {
        if option.zero("name") {
            causes.required(&at.index(i), "must not be empty");
        }
    }
}

/// `validatePodHostName`.
pub fn hostname_override(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(name) = pod.opt("hostnameOverride").map(|n| n.as_str().unwrap_or("")) else { return };
    if pod.flag("setHostnameAsFQDN") {
        causes.forbidden(path, "may not be specified when setHostnameAsFQDN is true");
    }
    if pod.flag("hostNetwork") {
        causes.forbidden(path, "may not be specified when hostNetwork is true");
    }
    if name.len() > 64 {
        causes.too_long(path, 64);
    }
    causes.format(path, name, name::subdomain);
}

/// `ValidateHostAliases`.
pub fn aliases(aliases: &[Value], path: &Path<'_>, causes: &mut Causes) {
    for (i, alias) in aliases.iter().enumerate() {
        let at = path.index(i);
        causes.format(&at.child("ip"), alias.text("ip"), ip::ip_legacy);
        let at = at.child("hostnames");
        for (j, host) in alias.list("hostnames").iter().enumerate() {
            causes.format(&at.index(j), host.as_str().unwrap_or(""), name::subdomain);
        }
    }
}
