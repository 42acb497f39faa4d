//! The volumes of a pod.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Seen, Value};

use super::{Checked, Named, env, path, projected, source};
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::name;
use crate::validate::resource;

const ONE: &str = "may not specify more than 1 volume type";
const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// `ValidateVolumes`; gives back those without causes.
pub(super) fn volumes<'a>(
    spec: &Checked<'a>,
    metadata: Option<&Value>,
    at: &Path<'_>,
    causes: &mut Causes,
) -> Named<'a> {
    let list = spec.spec.list("volumes");
    let pod = metadata.map_or("", |m| m.s("name"));
    let mut good: Vec<&Value> = Vec::new();
    let mut names = Seen::default();
    let ephemeral = super::named(list.iter().filter(|v| v.has("ephemeral")));
    for (i, volume) in list.iter().enumerate() {
        let idx = at.index(i);
        let own = volume.s("name");
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
            let claim = claim.s("claimName");
            let made =
                claim.strip_prefix(pod).and_then(|c| c.strip_prefix('-')).is_some_and(|rest| ephemeral.has(&rest));
            if made {
                let idx = idx.child("persistentVolumeClaim");
                let detail = "must not reference a PVC that gets created for an ephemeral volume";
                causes.invalid_str(&idx.child("claimName"), claim, detail);
            }
        }
    }
    super::named(good)
}

/// The sources in upstream's order, which decides what is said of a second one.
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

fn sources(spec: &Checked<'_>, volume: &Value, pod: &str, at: &Path<'_>, causes: &mut Causes) {
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
                let claim = format!("{pod}-{}", volume.s("name"));
                name::subdomain(&claim, &mut |detail| {
                    causes.invalid_str(&at.child("name"), volume.s("name"), &format!("PVC name \"{claim}\": {detail}"));
                });
            }
        }
        if key == "iscsi" && value.has("initiatorName") {
            let length = volume.s("name").len() + 1 + value.s("targetPortal").len();
            if length > 64 {
                causes.invalid_str(&at.child("name"), volume.s("name"), source::ISCSI_TOO_LONG);
            }
        }
    }
    if count == 0 {
        causes.required(at, "must specify a volume type");
    }
}

fn one(spec: &Checked<'_>, key: &str, value: &Value, at: &Path<'_>, causes: &mut Causes) {
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
            path::descending(value.s("directory"), &at.child("directory"), causes);
        }
        "secret" => items(value, "secretName", at, causes),
        "configMap" => items(value, "name", at, causes),
        "persistentVolumeClaim" => {
            if value.zero("claimName") {
                causes.need(&at.child("claimName"));
            }
        }
        "downwardAPI" => {
            mode(value, "defaultMode", at, causes);
            for file in value.list("items") {
                downward_file(file, at, causes);
            }
        }
        "projected" => {
            mode(value, "defaultMode", at, causes);
            projected::sources(value, at, causes);
        }
        "csi" => {
            source::csi_driver_name(value.s("driver"), &at.child("driver"), causes);
            if let Some(secret) = value.opt("nodePublishSecretRef") {
                if secret.zero("name") {
                    causes.need(&at.child("nodePublishSecretRef").child("name"));
                } else {
                    causes.format(&at.child("name"), secret.s("name"), name::subdomain);
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
            causes.one_of_required(&at.child("pullPolicy"), value.s("pullPolicy"), &policies);
        }
        other => source::shared(other, value, at, causes),
    }
}

/// `ValidatePersistentVolumeClaimTemplate`.
fn claim_template(template: &Value, at: &Path<'_>, causes: &mut Causes) {
    // ObjectMeta in Go's order; labels and annotations are what may be set.
    const FIELDS: [&str; 12] = [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ];
    let (metadata, path) = (template.sub("metadata"), at.child("metadata"));
    crate::validate::meta::annotations(metadata, &path.child("annotations"), causes);
    crate::validate::meta::labels(metadata.get("labels"), &path.child("labels"), causes);
    for key in FIELDS {
        if !metadata.zero(key) || metadata.get(key).is_some_and(|v| v.as_array().is_some()) {
            // The reflection upstream does lowers one letter only.
            let shown = if key == "uid" { "uID" } else { key };
            causes.forbidden(&path.child(shown), "cannot be set");
        }
    }
    crate::validate::core::claim::spec(template.sub("spec"), &at.child("spec"), causes);
}

pub(super) fn mode(value: &Value, key: &str, at: &Path<'_>, causes: &mut Causes) {
    if let Some(mode) = value.oi(key).filter(|m| !(0..=0o777).contains(m)) {
        causes.invalid_int(&at.child(key), mode, MODE);
    }
}

fn items(value: &Value, name: &str, at: &Path<'_>, causes: &mut Causes) {
    if value.zero(name) {
        causes.need(&at.child(name));
    }
    mode(value, "defaultMode", at, causes);
    let at = at.child("items");
    for (i, item) in value.list("items").iter().enumerate() {
        key_to_path(item, &at.index(i), causes);
    }
}

/// `validateKeyToPath`.
pub(super) fn key_to_path(item: &Value, at: &Path<'_>, causes: &mut Causes) {
    for key in ["key", "path"] {
        if item.zero(key) {
            causes.need(&at.child(key));
        }
    }
    path::not_reserved(item.s("path"), &at.child("path"), causes);
    mode(item, "mode", at, causes);
}

/// `validateDownwardAPIVolumeFile`, which upstream reports without the index of the file.
pub(super) fn downward_file(file: &Value, at: &Path<'_>, causes: &mut Causes) {
    if file.zero("path") {
        causes.need(&at.child("path"));
    }
    path::not_reserved(file.s("path"), &at.child("path"), causes);
    if let Some(r) = file.opt("fieldRef") {
        env::field_ref(r, &env::FILE_FIELDS, &at.child("fieldRef"), causes);
        if file.has("resourceFieldRef") {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            causes.invalid_str(at, "resource", detail);
        }
    } else if let Some(r) = file.opt("resourceFieldRef") {
        env::resource_ref(r, true, &at.child("resourceFieldRef"), causes);
    } else {
        causes.required(at, "one of fieldRef and resourceFieldRef is required");
    }
    mode(file, "mode", at, causes);
}
