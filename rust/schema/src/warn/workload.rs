//! Warnings of the kinds that hold a pod template.

use hydrofoil_types::{Path, Value};

use super::{core, pod};
use crate::Kind;
use crate::read::Read;
use crate::validate::format::name;

/// A name that makes a poor host name.
pub(crate) fn name(object: &Value, used: &str, out: &mut Vec<String>) {
    let mut told = String::new();
    name::label(object.sub("metadata").s("name"), &mut |message| {
        if !told.is_empty() {
            told.push(' ');
        }
        told.push_str(message);
    });
    if !told.is_empty() {
        out.push(format!(
            "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{told}]"
        ));
    }
}

/// Of a new object.
pub(crate) fn create(kind: &Kind, object: &Value, out: &mut Vec<String>) {
    if matches!(&*kind.kind, "Deployment" | "ReplicaSet" | "ReplicationController" | "Job" | "CronJob") {
        name(object, "Pod names and hostnames", out);
    }
    template(kind, object, out);
}

/// Of an update: templates tell again when the generation moved.
pub(crate) fn update(kind: &Kind, object: &Value, old: &Value, out: &mut Vec<String>) {
    if object.sub("metadata").i("generation") != old.sub("metadata").i("generation") {
        template(kind, object, out);
    } else if kind.kind == "StatefulSet" {
        stateful(object.sub("spec"), out);
    }
    if kind.kind == "CronJob" && object.sub("spec").s("schedule").contains("TZ") {
        out.push("CRON_TZ or TZ used in spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details".into());
    }
}

fn template(kind: &Kind, object: &Value, out: &mut Vec<String>) {
    let spec = object.sub("spec");
    let path = Path::new("spec");
    match &*kind.kind {
        "PodTemplate" => pod::warnings(object.sub("template"), &Path::new("template"), true, out),
        "ControllerRevision" => {}
        "Job" => job(spec, &path, out),
        "CronJob" => {
            let path = path.child("jobTemplate");
            job(spec.sub("jobTemplate").sub("spec"), &path.child("spec"), out);
        }
        other => {
            pod::warnings(spec.sub("template"), &path.child("template"), true, out);
            if other == "StatefulSet" {
                stateful(spec, out);
            }
        }
    }
}

/// `WarningsForJobSpec`.
fn job(spec: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    let many = spec.i("completions") > 100_000 && spec.i("parallelism") > 10_000;
    if many && spec.s("completionMode") == "Indexed" {
        out.push(format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
    pod::warnings(spec.sub("template"), &path.child("template"), true, out);
}

fn stateful(spec: &Value, out: &mut Vec<String>) {
    let path = Path::new("spec");
    let path = path.child("volumeClaimTemplates");
    for (i, template) in spec.list("volumeClaimTemplates").iter().enumerate() {
        core::claim(template.sub("spec"), &path.index(i), out);
    }
    if spec.i("revisionHistoryLimit") < 0 {
        out.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                .into(),
        );
    }
}
