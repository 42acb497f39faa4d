//! Volumes of pods, persistent volumes and claims.

use hydrofoil_types::Value;

use super::{core::resource_list, image::is_latest};
use crate::read::{Read, Write};

/// `SetDefaults_Volume` and the defaults of each source.
pub(super) fn volume(volume: &mut Value) {
    let Some(map) = volume.as_object_mut() else { return };
    if !map.iter().any(|(key, value)| key != "name" && !matches!(value, Value::Null)) {
        map.set("emptyDir", Value::object());
    }
    volume.within("image", |image| {
        if image.zero("pullPolicy") {
            let policy = if is_latest(image.s("reference")) { "Always" } else { "IfNotPresent" };
            image.put("pullPolicy", policy);
        }
    });
    for key in ["secret", "configMap", "downwardAPI", "projected"] {
        volume.within(key, |source| source.unset("defaultMode", 0o644));
    }
    volume.within("downwardAPI", |source| source.each("items", downward_item));
    volume.within("projected", |source| {
        source.each("sources", |projection| {
            projection.within("downwardAPI", |d| d.each("items", downward_item));
            projection.within("serviceAccountToken", |t| t.unset("expirationSeconds", 3600));
        });
    });
    volume.within("ephemeral", |source| {
        source.within("volumeClaimTemplate", |t| claim_spec(t.make("spec")));
    });
    shared_sources(volume);
}

fn downward_item(item: &mut Value) {
    item.within("fieldRef", |r| r.fill("apiVersion", "v1"));
}

/// Sources that pods and persistent volumes share.
fn shared_sources(holder: &mut Value) {
    holder.within("hostPath", |s| s.unset("type", ""));
    holder.within("iscsi", |s| s.fill("iscsiInterface", "default"));
    holder.within("rbd", |s| {
        s.fill("pool", "rbd");
        s.fill("user", "admin");
        s.fill("keyring", "/etc/ceph/keyring");
    });
    holder.within("azureDisk", |s| {
        s.unset("cachingMode", "ReadWrite");
        s.unset("kind", "Shared");
        s.unset("fsType", "ext4");
        s.unset("readOnly", false);
    });
    holder.within("scaleIO", |s| {
        s.fill("storageMode", "ThinProvisioned");
        s.fill("fsType", "xfs");
    });
}

/// `SetDefaults_PersistentVolume`.
pub(super) fn persistent_volume(object: &mut Value) {
    object.make("status").fill("phase", "Pending");
    let spec = object.make("spec");
    spec.fill("persistentVolumeReclaimPolicy", "Retain");
    spec.unset("volumeMode", "Filesystem");
    resource_list(spec, "capacity");
    shared_sources(spec);
}

/// `SetDefaults_PersistentVolumeClaim`.
pub(super) fn claim(object: &mut Value) {
    object.make("status").fill("phase", "Pending");
    object.within("status", |s| {
        resource_list(s, "capacity");
        resource_list(s, "allocatedResources");
    });
    claim_spec(object.make("spec"));
}

/// `SetDefaults_PersistentVolumeClaimSpec`.
pub(super) fn claim_spec(spec: &mut Value) {
    spec.unset("volumeMode", "Filesystem");
    spec.within("resources", |r| {
        resource_list(r, "limits");
        resource_list(r, "requests");
    });
}

/// The volume of an attachment: the sources of its spec, but none of `SetDefaults_PersistentVolume`.
pub(super) fn inline(spec: &mut Value) {
    resource_list(spec, "capacity");
    shared_sources(spec);
}
