//! Jobs and cron jobs.

use hydrofoil_types::Value;

use super::pod;
use crate::read::{Read, Write};

pub(super) fn job(object: &mut Value) {
    let spec = object.make("spec");
    if !spec.has("completions") && !spec.has("parallelism") {
        spec.put("completions", 1);
    }
    spec.unset("parallelism", 1);
    let limit = if spec.has("backoffLimitPerIndex") { i64::from(i32::MAX) } else { 6 };
    spec.unset("backoffLimit", limit);
    spec.unset("completionMode", "NonIndexed");
    spec.unset("suspend", false);
    let replacement = if spec.has("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    spec.unset("podReplacementPolicy", replacement);
    spec.unset("manualSelector", false);
    job_parts(spec);
    let labels = spec.sub("template").sub("metadata").opt("labels").cloned();
    if let Some(labels) = labels.filter(|l| !l.is_zero())
        && object.sub("metadata").zero("labels")
    {
        object.make("metadata").put("labels", labels);
    }
}

pub(super) fn cron_job(object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("concurrencyPolicy", "Allow");
    spec.unset("suspend", false);
    spec.unset("successfulJobsHistoryLimit", 3);
    spec.unset("failedJobsHistoryLimit", 1);
    // SetDefaults_Job is not applied to the job template, only the defaults within it.
    job_parts(spec.make("jobTemplate").make("spec"));
}

fn job_parts(spec: &mut Value) {
    spec.within("podFailurePolicy", |policy| {
        policy.each("rules", |rule| {
            rule.each("onPodConditions", |pattern| pattern.fill("status", "True"));
        });
    });
    pod::spec(spec.make("template").make("spec"));
}
