//! `PrepareForUpdate` of subresources.

use std::collections::HashSet;

use hydrofoil_types::{Lookup, SmolStr, Timestamp, Value};

use super::{daemon, pod};
use crate::Kind;
use crate::read::{Read, Write};

pub(super) fn prepare(kind: &Kind, subresource: &str, object: &mut Value, old: &Value, now: Timestamp) {
    match (kind.key(), subresource) {
        (("", "Pod"), "status") => pod::status(object, old),
        (("", "Pod"), "ephemeralcontainers") => pod::ephemeral(object, old),
        (("", "Pod"), "resize") => pod::resize(object, old),
        (("", "Namespace"), "finalize") => object.copy_from(old, "status"),
        (("certificates.k8s.io", "CertificateSigningRequest"), "approval") => {
            let conditions = object.sub("status").opt("conditions").cloned();
            object.copy_from(old, "spec");
            object.copy_from(old, "status");
            match conditions {
                Some(list) => object.make("status").put("conditions", list),
                None => object.within("status", |s| s.drop("conditions")),
            }
            stamp(object, old, now);
        }
        (("certificates.k8s.io", "CertificateSigningRequest"), "status") => {
            object.copy_from(old, "spec");
            stamp(object, old, now);
        }
        (("apps", "Deployment"), "status") => {
            object.copy_from(old, "spec");
            object.make("metadata").copy_from(old.sub("metadata"), "labels");
        }
        (_, "status") => {
            if kind.key() == ("resource.k8s.io", "ResourceClaim") {
                drop_deallocated(object, old);
            }
            object.copy_from(old, "spec");
            match kind.key() {
                ("apps", "DaemonSet") => daemon::status(object, old),
                ("", "PersistentVolume") => volume_phase(object.make("status"), old.sub("status"), now),
                _ => {}
            }
            if resets_meta(kind.key()) {
                reset_meta(object, old);
            }
        }
        _ => {}
    }
}

/// When the phase of a volume changed last (`pkg/registry/core/persistentvolume/strategy.go`).
fn volume_phase(status: &mut Value, old: &Value, now: Timestamp) {
    const TIME: &str = "lastPhaseTransitionTime";
    let is_told = status.opt(TIME).is_some();
    if status.s("phase") == old.s("phase") {
        if !is_told {
            status.copy_from(old, TIME);
        }
    } else if !is_told || status.opt(TIME) == old.opt(TIME) {
        status.put(TIME, now.rfc3339());
    }
}

/// `dropDeallocatedStatusDevices`: the status of a device goes with its allocation.
fn drop_deallocated(object: &mut Value, old: &Value) {
    fn id(device: &Value) -> [String; 4] {
        ["driver", "pool", "device", "shareID"].map(|key| device.s(key).to_owned())
    }
    let results = |claim: &Value| -> Vec<[String; 4]> {
        claim.sub("status").sub("allocation").sub("devices").list("results").iter().map(id).collect()
    };
    let kept: HashSet<_> = results(object).into_iter().collect();
    let gone: HashSet<_> = results(old).into_iter().filter(|d| !kept.contains(d)).collect();
    object.within("status", |status| {
        let left: Vec<Value> = status.list("devices").iter().filter(|d| !gone.contains(&id(d))).cloned().collect();
        if left.is_empty() {
            status.drop("devices");
        } else {
            status.put("devices", left);
        }
    });
}

fn resets_meta(key: (&str, &str)) -> bool {
    matches!(
        key,
        (
            // Not of definitions: their strategy resets the metadata to itself (kubernetes issue 137681).
            "apiregistration.k8s.io"
                | "flowcontrol.apiserver.k8s.io"
                | "admissionregistration.k8s.io"
                | "resource.k8s.io"
                | "storagemigration.k8s.io",
            _
        ) | ("storage.k8s.io", "VolumeAttachment")
            | ("networking.k8s.io", "ServiceCIDR")
            | ("certificates.k8s.io", "PodCertificateRequest")
            | ("scheduling.k8s.io", "PodGroup")
    )
}

/// `metav1.ResetObjectMetaForStatus`.
fn reset_meta(object: &mut Value, old: &Value) {
    let meta = object.make("metadata");
    for key in ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"]
    {
        meta.copy_from(old.sub("metadata"), key);
    }
}

/// `populateConditionTimestamps`: new conditions get the present time, kept ones the transition of before.
fn stamp(object: &mut Value, old: &Value, now: Timestamp) {
    let now = now.rfc3339();
    let before = Lookup::of(old.sub("status").list("conditions"), |b| [b.s("type"), b.s("status")].map(SmolStr::new));
    object.within("status", |status| {
        status.each("conditions", |condition| {
            condition.fill("lastUpdateTime", now.as_str());
            if condition.zero("lastTransitionTime") {
                let known = before
                    .first(&[condition.s("type"), condition.s("status")].map(SmolStr::new))
                    .map(|b| b.s("lastTransitionTime").to_owned())
                    .filter(|t| !t.is_empty());
                condition.put("lastTransitionTime", known.unwrap_or_else(|| now.clone()));
            }
        });
    });
}
