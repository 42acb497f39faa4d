//! Updates of jobs (`ValidateJobUpdate`).

use hydrofoil_types::{Causes, Path, Value};

use super::{job, status};
use crate::Request;
use crate::internal::InternalCauses;
use crate::read::{Read, Write};
use crate::validate::check::Check;
use crate::validate::meta;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        meta::update(req.kind, object, old, causes);
        return status::update(object, old, causes);
    }
    // The strategy validates the job, and then its spec again as part of the update.
    meta::create(req.kind, object, causes);
    job::rules(object, Some(old), causes);
    meta::update(req.kind, object, old, causes);
    let (new, before) = (object.sub("spec"), old.sub("spec"));
    job::whole(new, causes);
    completions(new, before, causes);
    causes.immutable_internal(
        &SPEC.child("selector"),
        "*meta.LabelSelector",
        new.sub("selector"),
        before.sub("selector"),
    );
    template(object, old, causes);
    for (key, shape) in [
        ("completionMode", "*s"),
        ("podFailurePolicy", "*batch.PodFailurePolicy"),
        ("backoffLimitPerIndex", "*i"),
        ("managedBy", "*s"),
        ("successPolicy", "*batch.SuccessPolicy"),
    ] {
        causes.immutable_internal(&SPEC.child(key), shape, new.sub(key), before.sub(key));
    }
}

/// `validateCompletions`: an indexed job may change them with its parallelism.
fn completions(new: &Value, before: &Value, causes: &mut Causes) {
    let at = SPEC.child("completions");
    if new.s("completionMode") != "Indexed" {
        return causes.immutable_internal(&at, "*i", new.sub("completions"), before.sub("completions"));
    }
    let Some(count) = new.oi("completions") else { return };
    if before.oi("completions") != Some(count) && count != new.i("parallelism") {
        causes.invalid_int(&at, count, "can only be modified in tandem with spec.parallelism");
    }
}

/// `validatePodTemplateUpdate`: a suspended job may change where its pods run and what they may use.
fn template(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.sub("spec").sub("template"), old.sub("spec").sub("template"));
    let suspended = old.sub("spec").b("suspend");
    let idle = suspended
        && old.sub("status").i("active") == 0
        && old.sub("status").list("conditions").iter().any(|c| c.s("type") == "Suspended" && c.s("status") == "True");
    let at = SPEC.child("template");
    if !idle {
        return causes.immutable_internal(&at, "core.PodTemplateSpec", new, before);
    }
    let mut allowed = before.sub("spec").clone();
    affinity(new.sub("spec"), &mut allowed);
    for key in ["nodeSelector", "tolerations", "schedulingGates"] {
        allowed.copy_from(new.sub("spec"), key);
    }
    for list in ["containers", "initContainers"] {
        let now = new.sub("spec").list(list);
        if now.len() != allowed.list(list).len() {
            continue;
        }
        let mut all = now.iter();
        allowed.each(list, |container| {
            if let Some(now) = all.next().filter(|now| now.s("name") == container.s("name")) {
                container.copy_from(now, "resources");
            }
        });
    }
    causes.immutable_internal(&at.child("spec"), "core.PodSpec", new.sub("spec"), &allowed);
}

/// Node affinity may change; the affinity to pods may not.
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
