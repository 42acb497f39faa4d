//! The volumes of a pod.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, KeySet, Path, Value};

use super::{Named, PodContext, file, path, projected, source};
use crate::check::Check;
use crate::format::name;
use crate::{resource, volume_claim};
use hydrofoil_types::read::Read;

const ONE: &str = "may not specify more than 1 volume type";

/// `ValidateVolumes`; return those without causes.
pub fn volumes<'a>(spec: &PodContext<'a>, metadata: Option<&Value>, at: &Path<'_>, causes: &mut Causes) -> Named<'a> {
    let list = spec.spec.list("volumes");
    let pod = metadata.map_or("", |m| m.text("name"));
    let mut good: Vec<&Value> = Vec::new();
    let mut names = KeySet::default();
    let ephemeral = super::by_name(list.iter().filter(|v| v.has("ephemeral")));
    for (i, volume) in list.iter().enumerate() {
        let idx = at.index(i);
        let own = volume.text("name");
        let before = causes.len();
        sources(spec, volume, pod, &idx, causes);
        if own.is_empty() {
            causes.need(&idx.child("name"));
        } else {
            causes.format(&idx.child("name"), own, name::label);
        }
        if names.contains(&own) {
            causes.duplicate_str(&idx.child("name"), own);
        }
        if causes.len() == before {
            names.insert(own);
            good.push(volume);
        }
        if let Some(claim) = volume.opt("persistentVolumeClaim").filter(|_| !pod.is_empty()) {
            let claim = claim.text("claimName");
            let made =
                claim.strip_prefix(pod).and_then(|c| c.strip_prefix('-')).is_some_and(|rest| ephemeral.has(&rest));
            if made {
                let idx = idx.child("persistentVolumeClaim");
                let detail = "must not reference a PVC that gets created for an ephemeral volume";
                causes.invalid_str(&idx.child("claimName"), claim, detail);
            }
        }
    }
    super::by_name(good)
}

/// The sources in upstream's order, which decides the message for a second one.
const ORDER: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

fn sources(spec: &PodContext<'_>, volume: &Value, pod: &str, at: &Path<'_>, causes: &mut Causes) {
    let mut count = 0;
    for key in ORDER {
        let Some(value) = volume.opt(key) else { continue };
        count += 1;
        if count > 1 {
            // Two of upstream's paths are not the field's name.
            let shown = match key {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                other => other,
            };
            causes.forbidden(&at.child(shown), ONE);
        } else {
            let shown = if key == "gcePersistentDisk" { "persistentDisk" } else { key };
            one(spec, key, value, &at.child(shown), causes);
            if key == "ephemeral" && !pod.is_empty() && !volume.zero("name") {
                let claim = format!("{pod}-{}", volume.text("name"));
                name::subdomain(&claim, &mut |detail| {
                    causes.invalid_str(
                        &at.child("name"),
                        volume.text("name"),
                        &format!("PVC name \"{claim}\": {detail}"),
                    );
                });
            }
        }
        if key == "iscsi" && value.has("initiatorName") {
            let length = volume.text("name").len() + 1 + value.text("targetPortal").len();
            if length > 64 {
                causes.invalid_str(&at.child("name"), volume.text("name"), source::ISCSI_TOO_LONG);
            }
        }
    }
    if count == 0 {
        causes.required(at, "must specify a volume type");
    }
}

fn one(spec: &PodContext<'_>, key: &str, value: &Value, at: &Path<'_>, causes: &mut Causes) {
    match key {
        "emptyDir" => {
            if value.opt("sizeLimit").is_some_and(|q| resource::quantity(q).nano() < 0) {
                causes.forbidden(&at.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
            }
        }
        "gitRepo" => {
            if value.zero("repository") {
                causes.need(&at.child("repository"));
            }
            path::descending(value.text("directory"), &at.child("directory"), causes);
        }
        "secret" => file::items(value, "secretName", at, causes),
        "configMap" => file::items(value, "name", at, causes),
        "persistentVolumeClaim" => {
            if value.zero("claimName") {
                causes.need(&at.child("claimName"));
            }
        }
        "downwardAPI" => {
            file::mode(value, "defaultMode", at, causes);
            for file in value.list("items") {
                file::downward_file(file, at, causes);
            }
        }
        "projected" => {
            file::mode(value, "defaultMode", at, causes);
            projected::sources(value, at, causes);
        }
        "csi" => {
            source::csi_driver_name(value.text("driver"), &at.child("driver"), causes);
            if let Some(secret) = value.opt("nodePublishSecretRef") {
                if secret.zero("name") {
                    causes.need(&at.child("nodePublishSecretRef").child("name"));
                } else {
                    causes.format(&at.child("name"), secret.text("name"), name::subdomain);
                }
            }
        }
        "ephemeral" => match value.opt("volumeClaimTemplate") {
            None => causes.need(&at.child("volumeClaimTemplate")),
            Some(template) => {
                let at = at.child("volumeClaimTemplate");
                claim_template(template, &at, causes);
            }
        },
        "image" => {
            if spec.is_pod && value.zero("reference") {
                causes.need(&at.child("reference"));
            }
            let policies = ["Always", "IfNotPresent", "Never"];
            causes.one_of_required(&at.child("pullPolicy"), value.text("pullPolicy"), &policies);
        }
        other => source::volume_source(other, value, at, causes),
    }
}

/// `ValidatePersistentVolumeClaimTemplate`.
fn claim_template(template: &Value, at: &Path<'_>, causes: &mut Causes) {
    // ObjectMeta in Go's order; only labels and annotations may be set.
    const FIELDS: [&str; 13] = [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ];
    let (metadata, path) = (template.field("metadata"), at.child("metadata"));
    crate::meta::annotations(metadata, &path.child("annotations"), causes);
    crate::meta::labels(metadata.get("labels"), &path.child("labels"), causes);
    for key in FIELDS {
        // Pointers and lists without a value in them count as well.
        let pointer = matches!(key, "deletionTimestamp" | "deletionGracePeriodSeconds") && metadata.has(key);
        if pointer || !metadata.zero(key) || metadata.get(key).is_some_and(|v| v.as_array().is_some()) {
            // The reflection upstream does lowers one letter only.
            let shown = if key == "uid" { "uID" } else { key };
            causes.forbidden(&path.child(shown), "cannot be set");
        }
    }
    volume_claim::validate(template.field("spec"), &at.child("spec"), causes);
}
