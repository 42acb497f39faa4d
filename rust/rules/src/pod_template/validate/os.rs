//! Fields that pods of an operating system may not set.

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use hydrofoil_types::read::Read;

const WINDOWS: &str = "cannot be set for a windows pod";
const LINUX: &str = "windows options cannot be set for a linux pod";

/// `validateOS`, `validateLinux` and `validateWindows`.
pub fn check(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(os) = pod.opt("os") else { return };
    let at = path.child("os");
    match os.text("name") {
        "" => causes.need(&at.child("name")),
        "linux" => linux(pod, path, causes),
        "windows" => windows(pod, path, causes),
        other => causes.unsupported(&at, other, &["linux", "windows"]),
    }
}

fn linux(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    if pod.field("securityContext").has("windowsOptions") {
        causes.forbidden(&path.child("securityContext").child("windowsOptions"), LINUX);
    }
    super::each_container(pod, path, &mut |container, at| {
        if container.field("securityContext").has("windowsOptions") {
            causes.forbidden(&at.child("securityContext").child("windowsOptions"), LINUX);
        }
    });
}

fn windows(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let context = pod.field("securityContext");
    let at = path.child("securityContext");
    let inner = |keys: &[&str], causes: &mut Causes| {
        for key in keys {
            let set = match *key {
                "sysctls" => !context.zero(key),
                _ => context.has(key),
            };
            if set {
                causes.forbidden(&at.child(key), WINDOWS);
            }
        }
    };
    inner(&["appArmorProfile", "seLinuxOptions"], causes);
    if pod.has("hostUsers") {
        causes.forbidden(&path.child("hostUsers"), WINDOWS);
    }
    for key in ["hostPID", "hostIPC"] {
        if pod.flag(key) {
            causes.forbidden(&path.child(key), WINDOWS);
        }
    }
    inner(&["seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"], causes);
    if pod.has("shareProcessNamespace") {
        causes.forbidden(&path.child("shareProcessNamespace"), WINDOWS);
    }
    inner(
        &["runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"],
        causes,
    );
    super::each_container(pod, path, &mut |container, at| {
        let context = container.field("securityContext");
        let at = at.child("securityContext");
        for key in [
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ] {
            if context.has(key) {
                causes.forbidden(&at.child(key), WINDOWS);
            }
        }
    });
}
