//! Storage classes, drivers and attachments.

use hydrofoil_types::Value;

use super::volume;
use crate::read::{Read, Write};

pub(super) fn storage_class(object: &mut Value) {
    object.unset("reclaimPolicy", "Delete");
    object.unset("volumeBindingMode", "Immediate");
}

pub(super) fn csi_driver(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("attachRequired", true);
    for key in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        spec.unset(key, false);
    }
    spec.unset("fsGroupPolicy", "ReadWriteOnceWithFSType");
    if spec.list("volumeLifecycleModes").is_empty() {
        spec.put("volumeLifecycleModes", vec![Value::from("Persistent")]);
    }
}

pub(super) fn volume_attachment(object: &mut Value) {
    object.within("spec", |s| {
        s.within("source", |s| s.within("inlineVolumeSpec", volume::inline));
    });
}
