//! Kinds of the group `storage.k8s.io`.

mod class;
mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "CSIDriver" => &csi_driver::STRATEGY,
        "CSINode" => &csi_node::STRATEGY,
        "CSIStorageCapacity" => &csi_storage_capacity::STRATEGY,
        "StorageClass" => &storage_class::STRATEGY,
        "VolumeAttachment" => &volume_attachment::STRATEGY,
        "VolumeAttributesClass" => &volume_attributes_class::STRATEGY,
        _ => return None,
    })
}
