//! Updates of jobs (`ValidateJobUpdate`).

use hydrofoil_types::{Causes, Path, Value};

use super::{status, validate};
use crate::Request;
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::meta;
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateJobUpdate` and that of the status.
pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        meta::update(req.kind, object, old, causes);
        return status::update(object, old, causes);
    }
    // The strategy validates the job, and then its spec again as part of the update.
    meta::create(req.kind, object, causes);
    validate::rules(req.release(), object, Some(old), causes);
    meta::update(req.kind, object, old, causes);
    let (new, before) = (object.field("spec"), old.field("spec"));
    validate::whole(req.release(), new, causes);
    completions(new, before, causes);
    causes.immutable_internal(
        &SPEC.child("selector"),
        "*meta.LabelSelector",
        new.field("selector"),
        before.field("selector"),
    );
    template(req.release(), object, old, causes);
    for (key, shape) in [
        ("completionMode", "*s"),
        ("podFailurePolicy", "*batch.PodFailurePolicy"),
        ("backoffLimitPerIndex", "*i"),
        ("managedBy", "*s"),
        ("successPolicy", "*batch.SuccessPolicy"),
    ] {
        causes.immutable_internal(&SPEC.child(key), shape, new.field(key), before.field(key));
    }
}

/// `validateCompletions`: an indexed job may change them with its parallelism.
fn completions(new: &Value, before: &Value, causes: &mut Causes) {
    let at = SPEC.child("completions");
    if new.text("completionMode") != "Indexed" {
        return causes.immutable_internal(&at, "*i", new.field("completions"), before.field("completions"));
    }
    let Some(count) = new.opt_int("completions") else { return };
    if before.opt_int("completions") != Some(count) && count != new.int("parallelism") {
        causes.invalid_int(&at, count, "can only be modified in tandem with spec.parallelism");
    }
}

/// `validatePodTemplateUpdate`: a suspended job may change the placement and the resources of its pods.
fn template(release: Release, object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.field("spec").field("template"), old.field("spec").field("template"));
    let suspended = old.field("spec").flag("suspend");
    let idle = suspended
        && old.field("status").int("active") == 0
        && old
            .field("status")
            .list("conditions")
            .iter()
            .any(|c| c.text("type") == "Suspended" && c.text("status") == "True");
    let is_placed = if release.enabled(Gate::MutableSchedulingDirectivesForSuspendedJobs) {
        !idle
    } else {
        !suspended || old.field("status").has("startTime")
    };
    let resizes = idle && release.enabled(Gate::MutablePodResourcesForSuspendedJobs);
    let at = SPEC.child("template");
    if is_placed && !resizes {
        return causes.immutable_internal(&at, "core.PodTemplateSpec", new, before);
    }
    let mut allowed = before.field("spec").clone();
    if !is_placed {
        affinity(new.field("spec"), &mut allowed);
        for key in ["nodeSelector", "tolerations", "schedulingGates"] {
            allowed.copy_from(new.field("spec"), key);
        }
    }
    if !resizes {
        let mut kept = new.clone();
        kept.put("spec", allowed);
        return causes.immutable_internal(&at, "core.PodTemplateSpec", new, &kept);
    }
    for list in ["containers", "initContainers"] {
        let now = new.field("spec").list(list);
        if now.len() != allowed.list(list).len() {
            continue;
        }
        let mut all = now.iter();
        allowed.each(list, |container| {
            if let Some(now) = all.next().filter(|now| now.text("name") == container.text("name")) {
                container.copy_from(now, "resources");
            }
        });
    }
    causes.immutable_internal(&at.child("spec"), "core.PodSpec", new.field("spec"), &allowed);
}

/// Allow changes of node affinity; the affinity to pods may not change.
fn affinity(new: &Value, allowed: &mut Value) {
    if let Some(now) = new.opt("affinity") {
        allowed.make("affinity").copy_from(now, "nodeAffinity");
    } else {
        allowed.within("affinity", |a| a.drop("nodeAffinity"));
        if allowed.zero("affinity") {
            allowed.drop("affinity");
        }
    }
}
