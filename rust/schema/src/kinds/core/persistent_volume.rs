//! Persistent volumes (`pkg/registry/core/persistentvolume/strategy.go`).

use hydrofoil_types::{Causes, Path, Timestamp, Value};

use crate::Request;
use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal::{self as internal, InternalCauses};
use hydrofoil_rules::Gate;
use hydrofoil_rules::check::IMMUTABLE;
use hydrofoil_rules::quantities::resource_list;
use hydrofoil_rules::table::text::{self, deref};
use hydrofoil_rules::table::{Subject, cells, volume};
use hydrofoil_rules::volume_source::shared_sources;
use hydrofoil_rules::{meta, node_label, persistent_volume, volume_claim};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    default: |_, object, _| default(object),
    prepare_create: |_, object, now| prepare_create(object, now),
    prepare_status: |_, object, old, now| prepare_status(object, old, now),
    metadata_on_update: &[MetadataCheck::Object],
    validate: |_, object, causes| validate(object, causes),
    validate_update,
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `SetDefaults_PersistentVolume`.
fn default(object: &mut Value) {
    object.make("status").fill("phase", "Pending");
    let spec = object.make("spec");
    spec.fill("persistentVolumeReclaimPolicy", "Retain");
    spec.unset("volumeMode", "Filesystem");
    resource_list(spec, "capacity");
    shared_sources(spec);
}

/// Set the phase of a new volume.
fn prepare_create(object: &mut Value, now: Timestamp) {
    let status = object.make("status");
    status.put("phase", "Pending");
    status.put("lastPhaseTransitionTime", now.rfc3339());
}

/// `/status` of a volume.
fn prepare_status(object: &mut Value, old: &Value, now: Timestamp) {
    volume_phase(object.make("status"), old.field("status"), now);
}

/// Record when the phase of a volume changed last (`pkg/registry/core/persistentvolume/strategy.go`).
fn volume_phase(status: &mut Value, old: &Value, now: Timestamp) {
    const TIME: &str = "lastPhaseTransitionTime";
    let is_told = status.opt(TIME).is_some();
    if status.text("phase") == old.text("phase") {
        if !is_told {
            status.copy_from(old, TIME);
        }
    } else if !is_told || status.opt(TIME) == old.opt(TIME) {
        status.put(TIME, now.rfc3339());
    }
}

/// The source as the internal type.
const SOURCE: &str = "core.PersistentVolumeSource";

fn validate(object: &Value, causes: &mut Causes) {
    persistent_volume::spec(
        object.field("spec"),
        object.field("metadata").text("name"),
        false,
        &Path::new("spec"),
        causes,
    );
    mount_options(object, causes);
}

/// `ValidatePersistentVolume` of `pkg/volume/validation`: options only where a plug-in supports them.
fn mount_options(object: &Value, causes: &mut Causes) {
    const KEY: &str = "volume.beta.kubernetes.io/mount-options";
    const TAKERS: [&str; 12] = [
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "glusterfs",
        "nfs",
        "rbd",
        "quobyte",
        "iscsi",
        "cinder",
        "cephfs",
        "azureFile",
        "vsphereVolume",
        "azureDisk",
    ];
    let spec = object.field("spec");
    if TAKERS.iter().any(|t| spec.has(t)) {
        return;
    }
    let meta = Path::new("metadata");
    if object.field("metadata").field("annotations").has(KEY) {
        let at = meta.child("annotations");
        causes.forbidden(&at.child(KEY), "may not specify mount options for this volume type");
    }
}

/// Return the general name of a label with a beta name; a label without one may lose its name, as upstream's table of
/// names has nothing for it.
fn general(label: &str) -> &str {
    match label {
        "beta.kubernetes.io/arch" => "kubernetes.io/arch",
        "beta.kubernetes.io/instance-type" => "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/os" => "kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region" => "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone" => "topology.kubernetes.io/zone",
        _ => "",
    }
}

/// `validatePvNodeAffinity`: labels may move from their beta names to the general ones.
fn node_affinity(new: &Value, old: &Value, causes: &mut Causes) {
    const SHAPE: &str = "*core.VolumeNodeAffinity";
    let terms = new.field("required").list("nodeSelectorTerms");
    let mut moved = old.clone();
    let mut terms = terms.iter();
    moved.within("required", |required| {
        required.each("nodeSelectorTerms", |term| {
            let Some(new) = terms.next() else { return };
            for list in ["matchExpressions", "matchFields"] {
                let mut keys = new.list(list).iter().map(|requirement| requirement.text("key"));
                term.each(list, |requirement| {
                    if let Some(key) = keys.next().filter(|key| general(requirement.text("key")) == *key) {
                        requirement.put("key", key);
                    }
                });
            }
        });
    });
    if !internal::same(SHAPE, new, &moved) {
        let detail = "field is immutable, except for updating from beta label to GA";
        causes.invalid_internal(&Path::new("nodeAffinity"), SHAPE, new, detail);
    }
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return;
    }
    // The strategy validates the object, and so does ValidatePersistentVolumeUpdate.
    validate(object, causes);
    meta::create(req.kind, object, causes);
    persistent_volume::spec(
        object.field("spec"),
        object.field("metadata").text("name"),
        false,
        &Path::new("spec"),
        causes,
    );
    let (new, before) = (object.field("spec"), old.field("spec"));
    let mut munged = new.clone();
    let gained = |s: &Value| s.field("csi").has("controllerExpandSecretRef");
    if before.has("csi") && !gained(before) && gained(new) {
        munged.within("csi", |c| c.drop("controllerExpandSecretRef"));
    }
    if !internal::same(SOURCE, &munged, before) {
        let changed = internal::diff(SOURCE, before, &munged);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{changed}");
        causes.forbidden(&Path::new("spec").child("persistentvolumesource"), &detail);
    }
    if new.text("volumeMode") != before.text("volumeMode") {
        causes.invalid(&Path::new("volumeMode"), new.field("volumeMode"), IMMUTABLE);
    }
    if before.has("nodeAffinity") && !req.release().enabled(Gate::MutablePVNodeAffinity) {
        node_affinity(new.field("nodeAffinity"), before.field("nodeAffinity"), causes);
    }
    let class = "volumeAttributesClassName";
    if before.has(class) && !new.has(class) {
        causes.forbidden(&Path::new("spec").child(class), "update from non-nil value to nil is forbidden");
    }
}

/// `GetWarningsForPersistentVolume`.
fn warn(object: &Value, out: &mut Vec<String>) {
    volume_claim::warn_class(object, out);
    let spec = object.field("spec");
    if spec.text("persistentVolumeReclaimPolicy") == "Recycle" {
        out.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".into());
    }
    let path = Path::new("spec");
    let path = path.child("nodeAffinity");
    let path = path.child("required");
    let path = path.child("nodeSelectorTerms");
    let terms = spec.field("nodeAffinity").field("required").list("nodeSelectorTerms");
    for (i, term) in terms.iter().enumerate() {
        node_label::expressions(term, "matchExpressions", &path.index(i), out);
    }
    for (key, reported) in [
        ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
        ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
        ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
        ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
        ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
        ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
    ] {
        if spec.has(key) {
            // The path is upstream's spelling, not the field's.
            let name = if key == "storageos" { "storageOS" } else { key };
            out.push(format!("spec.{name}: {reported}"));
        }
    }
}

/// `printPersistentVolume`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let claim =
        spec.opt("claimRef").map_or_else(String::new, |c| format!("{}/{}", c.text("namespace"), c.text("name")));
    cells![
        subject.name(),
        text::quantity(spec.field("capacity"), "storage"),
        volume::modes(spec.list("accessModes")),
        spec.text("persistentVolumeReclaimPolicy"),
        volume::phase(subject),
        claim,
        volume::class(subject),
        deref(spec, "volumeAttributesClassName", "<unset>"),
        status.text("reason"),
        subject.age(),
        deref(spec, "volumeMode", "<unset>"),
    ]
}
