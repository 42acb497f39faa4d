//! Volume attachments (`pkg/registry/storage/volumeattachment/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{MetadataCheck, Strategy, reset_metadata};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::pod_template::validate::csi_driver_name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{persistent_volume, volume_source};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    returns_deleted_object: true,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[MetadataCheck::Object],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// The bytes of all metadata of an attachment (`maxAttachedVolumeMetadataSize`).
const MOST_BYTES: usize = 256 << 10;
const SPEC: Path<'static> = Path::new("spec");

fn default(object: &mut Value) {
    object.within("spec", |s| {
        s.within("source", |s| s.within("inlineVolumeSpec", volume_source::inline));
    });
}

/// `ValidateVolumeAttachment`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let at = SPEC.child("attacher");
    if spec.zero("attacher") {
        causes.need(&at);
    } else {
        csi_driver_name(spec.text("attacher"), &at, causes);
    }
    let source = spec.field("source");
    let at = SPEC.child("source");
    match (source.opt("inlineVolumeSpec"), source.opt("persistentVolumeName")) {
        (None, None) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            causes.required(&at, detail);
        }
        (Some(_), Some(_)) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            causes.forbidden(&at, detail);
        }
        (None, Some(name)) => {
            if name.as_str().unwrap_or("").is_empty() {
                causes.required(&at.child("persistentVolumeName"), "must specify non empty persistentVolumeName");
            }
        }
        (Some(inline), None) => persistent_volume::spec(inline, "", true, &at.child("inlineVolumeSpec"), causes),
    }
    if let Some(volume) = source.opt("persistentVolumeName") {
        causes.format(&at.child("persistentVolumeName"), volume.as_str().unwrap_or(""), name::subdomain);
    }
    causes.format(&SPEC.child("nodeName"), spec.text("nodeName"), name::subdomain);
    let status = Path::new("status");
    let size: usize = object
        .field("status")
        .entries("attachmentMetadata")
        .map(|(key, value)| key.len().saturating_add(value.as_str().unwrap_or("").len()))
        .fold(0, usize::saturating_add);
    if size > MOST_BYTES {
        causes.too_long(&status.child("attachmentMetadata"), MOST_BYTES);
    }
    for key in ["attachError", "detachError"] {
        let error = object.field("status").field(key);
        // The bound that upstream reports is another one.
        if error.text("message").len() > 1024 {
            causes.too_long(&status.child(key).child("message"), MOST_BYTES);
        }
        if let Some(code) = error.opt_int("errorCode") {
            causes.range(&status.child(key).child("errorCode"), code, 0, i64::from(i32::MAX));
        }
    }
}

/// `ValidateVolumeAttachmentUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    validate(object, causes);
    causes.immutable_internal(&SPEC, "storage.VolumeAttachmentSpec", object.field("spec"), old.field("spec"));
}

/// `printVolumeAttachment`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    cells![
        subject.name(),
        spec.text("attacher"),
        spec.field("source").text("persistentVolumeName"),
        spec.text("nodeName"),
        subject.status().flag("attached"),
        subject.age(),
    ]
}
