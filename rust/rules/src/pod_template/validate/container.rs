//! Containers of the three kinds.

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value};

use super::{PodContext, env, mount, probe, security};
use crate::check::Check;
use crate::format::{name, text};
use crate::resource;
use crate::{Gate, Release};
use hydrofoil_types::read::Read;

/// Validate the containers of all lists.
pub fn all(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    regular(spec, &path.child("containers"), causes);
    init(spec, &path.child("initContainers"), causes);
    ephemeral(spec, &path.child("ephemeralContainers"), causes);
}

fn regular(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    let containers = spec.spec.list("containers");
    if containers.is_empty() {
        return causes.need(path);
    }
    let duplicates = Duplicates::of(containers, |v| v.text("name"));
    for (i, container) in containers.iter().enumerate() {
        let at = path.index(i);
        common(container, spec, &at, causes);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("name"), container.text("name"));
        }
        probe::lifecycle(container, spec, &at, causes);
        probe::all(container, &at, causes);
        restart(spec.release, container, &at, causes);
    }
    host_port_conflicts(containers, path, causes);
}

fn init(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    const ONLY: &str = "may not be set for init containers without restartPolicy=Always";
    let containers = spec.spec.list("initContainers");
    if containers.is_empty() {
        return;
    }
    let regular = super::by_name(spec.spec.list("containers"));
    let duplicates = Duplicates::of(containers, |v| v.text("name"));
    for (i, container) in containers.iter().enumerate() {
        let at = path.index(i);
        common(container, spec, &at, causes);
        let always = container.text("restartPolicy") == "Always";
        let restarts_all = spec.release.enabled(Gate::RestartAllContainersOnContainerExits);
        if always && !restarts_all {
            if !container.list("restartPolicyRules").is_empty() {
                let detail = "restartPolicyRules are not allowed for init containers with restart policy Always";
                causes.forbidden(&at.child("restartPolicyRules"), detail);
            }
        } else if container.has("restartPolicy") {
            restart(spec.release, container, &at, causes);
        } else if !container.list("restartPolicyRules").is_empty() {
            causes.required(&at.child("restartPolicy"), NO_POLICY);
        }
        let own = container.text("name");
        // An unnamed one counts only beside a regular one without a name.
        if regular.has(&own) || (duplicates.is_repeat(i) && !own.is_empty()) {
            causes.duplicate_str(&at.child("name"), own);
        }
        host_port_conflicts(std::slice::from_ref(container), path, causes);
        if always {
            probe::lifecycle(container, spec, &at, causes);
            probe::all(container, &at, causes);
        } else {
            for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if container.has(key) {
                    causes.forbidden(&at.child(key), ONLY);
                }
            }
            let at = at.child("resizePolicy");
            for (j, policy) in container.list("resizePolicy").iter().enumerate() {
                if policy.text("restartPolicy") == "RestartContainer" {
                    let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    causes.invalid_str(&at.index(j).child("restartPolicy"), "RestartContainer", detail);
                }
            }
        }
    }
}

fn ephemeral(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    const FORBIDDEN: &str = "cannot be set for an Ephemeral Container";
    // In the order of Go's fields, which is that of the reflection upstream does.
    const FIELDS: [&str; 8] = [
        "ports",
        "resources",
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
    ];
    let containers = spec.spec.list("ephemeralContainers");
    if containers.is_empty() {
        return;
    }
    let others = super::by_name(spec.spec.list("containers").iter().chain(spec.spec.list("initContainers")));
    let duplicates = Duplicates::of(containers, |v| v.text("name"));
    for (i, container) in containers.iter().enumerate() {
        let at = path.index(i);
        common(container, spec, &at, causes);
        image_is_trimmed(container, &at, causes);
        let own = container.text("name");
        if others.has(&own) || duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("name"), own);
        }
        let target = container.text("targetContainerName");
        if !target.is_empty() && !others.has(&target) {
            causes.not_found(&at.child("targetContainerName"), &Value::from(target));
        }
        for key in FIELDS.into_iter().chain(["lifecycle"]) {
            if !container.zero(key)
                || (container.has(key) && !matches!(key, "ports" | "resources" | "resizePolicy" | "restartPolicyRules"))
            {
                causes.forbidden(&at.child(key), FORBIDDEN);
            }
        }
        let at = at.child("volumeMounts");
        for (j, mount) in container.list("volumeMounts").iter().enumerate() {
            for key in ["subPath", "subPathExpr"] {
                if !mount.zero(key) {
                    causes.forbidden(&at.index(j).child(key), FORBIDDEN);
                }
            }
        }
    }
}

/// `validateContainerOnlyForPod`.
pub fn image_is_trimmed(container: &Value, path: &Path<'_>, causes: &mut Causes) {
    let image = container.text("image");
    if image.trim().len() != image.len() {
        causes.invalid_str(&path.child("image"), image, "must not have leading or trailing whitespace");
    }
}

/// `validateContainerCommon`.
fn common(container: &Value, spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    let own = container.text("name");
    if own.is_empty() {
        causes.need(&path.child("name"));
    } else {
        causes.format(&path.child("name"), own, name::label);
    }
    if container.zero("image") {
        causes.need(&path.child("image"));
    }
    let policy = container.text("terminationMessagePolicy");
    causes.one_of_required(&path.child("terminationMessagePolicy"), policy, &["File", "FallbackToLogsOnError"]);
    ports(container.list("ports"), &path.child("ports"), causes);
    env::env(container.list("env"), &path.child("env"), causes);
    env::env_from(container.list("envFrom"), &path.child("envFrom"), causes);
    mount::mounts(container, spec, &path.child("volumeMounts"), causes);
    mount::devices(container, spec, &path.child("volumeDevices"), causes);
    let pull = container.text("imagePullPolicy");
    causes.one_of_required(&path.child("imagePullPolicy"), pull, &["Always", "IfNotPresent", "Never"]);
    resource::requirements(container.field("resources"), &spec.claims, false, &path.child("resources"), causes);
    resize(container.list("resizePolicy"), spec, &path.child("resizePolicy"), causes);
    security::container(container.field("securityContext"), spec.host_users, &path.child("securityContext"), causes);
}

fn ports(ports: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let mut names = KeySet::default();
    for (i, port) in ports.iter().enumerate() {
        let at = path.index(i);
        let own = port.text("name");
        if !own.is_empty() {
            let before = causes.len();
            causes.format(&at.child("name"), own, text::port_name);
            if causes.len() == before && !names.insert(own) {
                causes.duplicate_str(&at.child("name"), own);
            }
        }
        match port.int("containerPort") {
            0 => causes.need(&at.child("containerPort")),
            number => causes.port(&at.child("containerPort"), number),
        }
        if port.int("hostPort") != 0 {
            causes.port(&at.child("hostPort"), port.int("hostPort"));
        }
        causes.one_of_required(&at.child("protocol"), port.text("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

/// `AccumulateUniqueHostPorts`.
fn host_port_conflicts(containers: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let mut seen = KeySet::default();
    for (i, container) in containers.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("ports");
        for (j, port) in container.list("ports").iter().enumerate() {
            let key = (port.text("protocol"), port.text("hostIP"), port.int("hostPort"));
            if key.2 == 0 {
                continue;
            }
            if !seen.insert(key) {
                causes.duplicate_str(&at.index(j).child("hostPort"), &format!("{}/{}/{}", key.0, key.1, key.2));
            }
        }
    }
}

/// `validateResizePolicy`.
fn resize(policies: &[Value], spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(policies, |v| v.text("resourceName"));
    for (i, policy) in policies.iter().enumerate() {
        let (resource, restart) = (policy.text("resourceName"), policy.text("restartPolicy"));
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&path.index(i), resource);
        }
        causes.one_of_required(path, resource, &["cpu", "memory"]);
        causes.one_of_required(path, restart, &["NotRequired", "RestartContainer"]);
        if spec.spec.text("restartPolicy") == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            causes.invalid_str(path, restart, detail);
        }
    }
}

const NO_POLICY: &str = "must specify restartPolicy when restart rules are used";

/// `validateContainerRestartPolicy`.
fn restart(release: Release, container: &Value, path: &Path<'_>, causes: &mut Causes) {
    let rules = container.list("restartPolicyRules");
    let at = path.child("restartPolicy");
    match container.opt("restartPolicy") {
        None if rules.is_empty() => return,
        None => causes.required(&at, NO_POLICY),
        Some(policy) => causes.one_of(&at, policy.as_str().unwrap_or(""), &["Always", "Never", "OnFailure"]),
    }
    let restarts_all = release.enabled(Gate::RestartAllContainersOnContainerExits);
    let actions: &[&str] = if restarts_all { &["Restart", "RestartAllContainers"] } else { &["Restart"] };
    let at = path.child("restartPolicyRules");
    if rules.len() > 20 {
        causes.too_many(&at, rules.len(), 20);
    }
    for (i, rule) in rules.iter().enumerate() {
        let at = at.index(i);
        causes.one_of(&at.child("action"), rule.text("action"), actions);
        let codes_at = at.child("exitCodes");
        match rule.opt("exitCodes") {
            Some(codes) => {
                causes.one_of(&codes_at.child("operator"), codes.text("operator"), &["In", "NotIn"]);
                let count = codes.list("values").len();
                if count > 255 {
                    causes.too_many(&codes_at.child("values"), count, 255);
                }
            }
            None => causes.required(&codes_at, "must be specified"),
        }
    }
}
