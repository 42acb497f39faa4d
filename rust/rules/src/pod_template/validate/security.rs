//! Security contexts.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use super::{PodContext, path, windows};
use crate::Gate;
use crate::check::Check;
use hydrofoil_internal::InternalCauses;
use hydrofoil_types::read::Read;

const SYSCTL: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
const MAX_ID: i64 = i32::MAX as i64;

fn id(value: &Value, key: &str, path: &Path<'_>, causes: &mut Causes) {
    if let Some(id) = value.opt_int(key) {
        causes.range(&path.child(key), id, 0, MAX_ID);
    }
}

/// `validatePodSpecSecurityContext`.
pub fn pod(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(context) = pod.opt("securityContext") else { return };
    let path = path.child("securityContext");
    for key in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(context, key, &path, causes);
    }
    let at = path.child("supplementalGroups");
    for (i, group) in context.list("supplementalGroups").iter().enumerate() {
        causes.range(&at.index(i), group.as_int().unwrap_or(0), 0, MAX_ID);
    }
    if pod.flag("shareProcessNamespace") && pod.flag("hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        causes.invalid(&path.child("shareProcessNamespace"), &Value::Bool(true), detail);
    }
    sysctls(pod, context, &path.child("sysctls"), causes);
    let one_of = |key: &str, values: &[&str], causes: &mut Causes| {
        if let Some(value) = context.opt(key) {
            causes.one_of(&path.child(key), value.as_str().unwrap_or(""), values);
        }
    };
    one_of("fsGroupChangePolicy", &["Always", "OnRootMismatch"], causes);
    seccomp(context, &path, causes);
    windows::options(context, &path, causes);
    app_armor(context, &path, causes);
    one_of("supplementalGroupsPolicy", &["Merge", "Strict"], causes);
    one_of("seLinuxChangePolicy", &["Recursive"], causes);
}

fn sysctls(pod: &Value, context: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = context.list("sysctls");
    let duplicates = Duplicates::of(list, |v| v.text("name"));
    for (i, sysctl) in list.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("name");
        let name = sysctl.text("name");
        if name.is_empty() {
            causes.need(&at);
        } else if !is_sysctl(name) {
            causes.invalid_str(&at, name, SYSCTL);
        } else if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, name);
        }
        let dotted = name.replace('/', ".");
        if pod.flag("hostNetwork") && dotted.starts_with("net.") {
            causes.invalid_str(&at, name, "may not be specified when 'hostNetwork' is true");
        } else if pod.flag("hostIPC")
            && (dotted.starts_with("kernel.shm")
                || dotted.starts_with("kernel.msg")
                || dotted.starts_with("fs.mqueue.")
                || dotted == "kernel.sem")
        {
            causes.invalid_str(&at, name, "may not be specified when 'hostIPC' is true");
        }
    }
}

fn is_sysctl(name: &str) -> bool {
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    name.len() <= 253
        && name.split(['.', '/']).all(|part| {
            let b = part.as_bytes();
            !b.is_empty()
                && word(b[0])
                && word(b[b.len() - 1])
                && b.iter().all(|c| word(*c) || matches!(c, b'-' | b'_'))
        })
}

/// `validateSeccompProfileField`.
fn seccomp(context: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(profile) = context.opt("seccompProfile") else { return };
    let path = path.child("seccompProfile");
    match profile.text("type") {
        "" => causes.required(&path.child("type"), "type is required when seccompProfile is set"),
        kind => causes.one_of(&path.child("type"), kind, &PROFILES),
    }
    let at = path.child("localhostProfile");
    match (profile.text("type") == "Localhost", profile.opt("localhostProfile")) {
        (true, None) => causes.required(&at, "must be set when seccomp type is Localhost"),
        (true, Some(local)) => path::descending(local.as_str().unwrap_or(""), &at, causes),
        (false, Some(_)) => {
            let detail = "can only be set when seccomp type is Localhost";
            causes.invalid_internal(&at, "core.SeccompProfile", profile, detail);
        }
        (false, None) => {}
    }
}

/// `ValidateAppArmorProfileField`.
fn app_armor(context: &Value, path: &Path<'_>, causes: &mut Causes) {
    const UNSET: &str = "must be set when AppArmor type is Localhost";
    let Some(profile) = context.opt("appArmorProfile") else { return };
    let path = path.child("appArmorProfile");
    let at = path.child("localhostProfile");
    let local = profile.opt("localhostProfile").map(|l| l.as_str().unwrap_or(""));
    match (profile.text("type"), local) {
        ("Localhost", None) => causes.required(&at, UNSET),
        ("Localhost", Some(local)) => {
            if local.trim() != local {
                causes.invalid_str(&at, local, "must not be padded with whitespace");
            } else if local.is_empty() {
                causes.required(&at, UNSET);
            }
            if local.len() > 4095 {
                causes.too_long(&at, 4095);
            }
        }
        ("RuntimeDefault" | "Unconfined", Some(local)) => {
            causes.invalid_str(&at, local, "can only be set when AppArmor type is Localhost");
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => causes.required(&path.child("type"), "type is required when appArmorProfile is set"),
        (other, _) => causes.unsupported(&path.child("type"), other, &PROFILES),
    }
}

/// `ValidateSecurityContext` of a container; privileged ones are allowed.
pub fn container(context: &Value, host_users: bool, path: &Path<'_>, causes: &mut Causes) {
    if matches!(context, Value::Null) {
        return;
    }
    for key in ["runAsUser", "runAsGroup"] {
        id(context, key, path, causes);
    }
    if let Some(mount) = context.opt("procMount").map(|m| m.as_str().unwrap_or("")) {
        let at = path.child("procMount");
        causes.one_of(&at, mount, &["Default", "Unmasked"]);
        if host_users && mount == "Unmasked" {
            causes.invalid_str(&at, mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp(context, path, causes);
    if context.get("allowPrivilegeEscalation").and_then(Value::as_bool) == Some(false) {
        if context.flag("privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            causes.invalid_internal(path, "core.SecurityContext", context, detail);
        }
        for capability in context.field("capabilities").list("add") {
            if capability.as_str() == Some("CAP_SYS_ADMIN") {
                let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                causes.invalid_internal(path, "core.SecurityContext", context, detail);
            }
        }
    }
    windows::options(context, path, causes);
    app_armor(context, path, causes);
}

/// `validateHostUsers`.
pub fn host_users(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    const WHEN: &str = "when `hostUsers` is false";
    if spec.host_users {
        return;
    }
    for (key, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        let allowed = key == "hostNetwork" && spec.release.enabled(Gate::UserNamespacesHostNetworkSupport);
        if spec.spec.flag(key) && !allowed {
            causes.forbidden(&path.child(shown), WHEN);
        }
    }
    super::each_container(spec.spec, path, &mut |container, at| {
        if !container.list("volumeDevices").is_empty() {
            causes.forbidden(&at.child("volumeDevices"), WHEN);
        }
    });
}
