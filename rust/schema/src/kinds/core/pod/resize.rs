//! Updates of the resources of a pod (`ValidatePodResize`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use hydrofoil_internal as internal;
use hydrofoil_rules::Gate;
use hydrofoil_rules::check::NAMELESS;
use hydrofoil_rules::pod_template::validate::annotations::MIRROR;
use hydrofoil_rules::qos;
use hydrofoil_types::read::{Read, Write};

/// Validate a pod on `/resize`.
pub(super) fn update(req: &Request<'_>, object: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    if old.field("metadata").field("annotations").has(MIRROR) {
        return causes.forbidden(&NAMELESS, "static pods cannot be resized");
    }
    if old.field("spec").field("os").text("name") == "windows" {
        return causes.forbidden(&NAMELESS, "windows pods cannot be resized");
    }
    super::validate::metadata_and_spec(req.kind, object, causes);
    let before = causes.len();
    let given = old.field("status").text("qosClass");
    let class = if given.is_empty() { qos::class(old) } else { given };
    if class != qos::class(object) {
        let class = object.field("status").text("qosClass");
        causes.invalid_str(path, class, "Pod QOS Class may not change as a result of resizing");
    }
    let running = old.field("status").list("containerStatuses").iter().find(|c| c.field("state").has("running"));
    if running.is_some_and(|c| !c.has("resources")) {
        causes.forbidden(path, "Pod running on node without support for resize");
    }
    let claims = old.field("status").list("nodeAllocatableResourceClaimStatuses");
    let (new, old) = (object.field("spec"), old.field("spec"));
    if is_set(new.field("resources")) || is_set(old.field("resources")) {
        if !req.release().enabled(Gate::InPlacePodLevelResourcesVerticalScaling) {
            let detail = "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
            return causes.forbidden(&NAMELESS, detail);
        }
        pod_level_resources(new, old, path, causes);
    }
    if !claims.is_empty() {
        causes.forbidden(path, "pods with node allocatable resource claims cannot be resized");
    }
    if !same_containers(new, old, path, causes) {
        return;
    }
    let inits = req.release().enabled(Gate::InPlacePodVerticalScalingInitContainers);
    for list in ["initContainers", "containers"] {
        let at = path.child(list);
        for (i, (now, before)) in new.list(list).iter().zip(old.list(list)).enumerate() {
            if list == "initContainers" && !inits && before.text("restartPolicy") != "Always" {
                continue;
            }
            resources_removed(
                now.field("resources"),
                before.field("resources"),
                "resource",
                &at.index(i).child("resources"),
                causes,
            );
        }
    }
    for (now, before) in new.list("containers").iter().zip(old.list("containers")) {
        if changes_more(now, before) {
            causes.forbidden(path, "only cpu and memory resources are mutable");
        }
    }
    let at = path.child("initContainers");
    for (i, (now, before)) in new.list("initContainers").iter().zip(old.list("initContainers")).enumerate() {
        if !inits && now.text("restartPolicy") != "Always" {
            if !internal::same("core.Container", now, before) {
                causes.forbidden(path, "resources for non-sidecar init containers are immutable");
            }
            continue;
        }
        if changes_more(now, before) {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            causes.forbidden(&at.index(i), detail);
        }
        if now.text("restartPolicy") == "Always" || internal::same("core.Container", now, before) {
            continue;
        }
        for _ in now.list("resizePolicy").iter().filter(|policy| policy.text("restartPolicy") == "RestartContainer") {
            let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
            causes.forbidden(&at.index(i), detail);
        }
    }
    // Resources without amounts are not compared above.
    if causes.len() == before && new.has("resources") != old.has("resources") && !is_set(new.field("resources")) {
        causes.forbidden(path, "only cpu and memory resources are mutable");
    }
}

/// Report whether resources of a pod have amounts (`isPodLevelResourcesSet`).
fn is_set(resources: &Value) -> bool {
    ["requests", "limits"].iter().any(|key| resources.entries(key).len() > 0)
}

/// Refuse amounts that are gone (`resourcesRemoved`).
fn resources_removed(new: &Value, old: &Value, noun: &str, path: &Path<'_>, causes: &mut Causes) {
    for key in ["requests", "limits"] {
        if old.entries(key).any(|(name, _)| !new.field(key).has(name)) {
            causes.forbidden(&path.child(key), &format!("{noun} {key} cannot be removed"));
        }
    }
}

/// Put the earlier amounts of CPU and memory back (`dropCPUMemoryUpdates`).
fn without_changes(resources: &mut Value, old: &Value) {
    for key in ["limits", "requests"] {
        for name in ["cpu", "memory"] {
            match old.field(key).opt(name).cloned() {
                Some(amount) => resources.make(key).put(name, amount),
                None => resources.within(key, |amounts| amounts.drop(name)),
            }
        }
    }
}

/// Report whether a container differs by more than its CPU and memory; claims never equal those it had.
fn changes_more(new: &Value, old: &Value) -> bool {
    let mut munged = new.clone();
    munged.within("resources", |resources| resources.drop("claims"));
    without_changes(munged.make("resources"), old.field("resources"));
    !internal::same("core.Container", &munged, old)
}

/// `validatePodLevelResourcesResize`.
fn pod_level_resources(new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("resources");
    if old.has("resources") && !new.has("resources") {
        return causes.forbidden(&at, "pod-level resources cannot be removed");
    }
    resources_removed(new.field("resources"), old.field("resources"), "pod-level resource", &at, causes);
    let mut munged = new.field("resources").clone();
    without_changes(&mut munged, old.field("resources"));
    let absent = !old.has("resources") && !is_set(&munged) && munged.list("claims").is_empty();
    if !absent && !internal::same("core.ResourceRequirements", &munged, old.field("resources")) {
        causes.forbidden(path, "only cpu and memory resources are mutable at pod-level");
    }
}

/// `validatePodResizeContainerOrdering`: nothing else can be compared unless the containers are the same ones.
fn same_containers(new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) -> bool {
    let mut are_same = true;
    for list in ["containers", "initContainers"] {
        let at = path.child(list);
        if new.list(list).len() != old.list(list).len() {
            causes.forbidden(&at, &format!("{list} may not be added or removed on resize"));
            are_same = false;
            continue;
        }
        for (i, (now, before)) in new.list(list).iter().zip(old.list(list)).enumerate() {
            if now.text("name") != before.text("name") {
                let text = format!("{list} may not be renamed or reordered on resize");
                causes.forbidden(&at.index(i).child("name"), &text);
                are_same = false;
            }
        }
    }
    are_same
}
