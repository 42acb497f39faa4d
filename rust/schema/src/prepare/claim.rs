//! The two fields for the source of a claim (`pkg/api/persistentvolumeclaim/util.go`).

use hydrofoil_types::Value;

use crate::read::{Read, Write};

/// `NormalizeDataSources`: either field fills the other. `kept` says that there was a source before.
pub(super) fn normalize_sources(spec: &mut Value, kept: bool) {
    // EnforceDataSourceBackwardsCompatibility: alone, the old field of a new claim takes claims and snapshots only.
    let known = kept
        || spec.has("dataSourceRef")
        || spec.opt("dataSource").is_none_or(|s| match s.s("kind") {
            "PersistentVolumeClaim" => s.s("apiGroup").is_empty(),
            "VolumeSnapshot" => s.s("apiGroup") == "snapshot.storage.k8s.io",
            _ => false,
        });
    if !known {
        spec.drop("dataSource");
    }
    // CrossNamespaceVolumeDataSource is off.
    if !spec.sub("dataSourceRef").zero("namespace") {
        spec.drop("dataSourceRef");
    }
    match (spec.opt("dataSource").cloned(), spec.opt("dataSourceRef").cloned()) {
        (Some(source), None) => spec.put("dataSourceRef", source),
        (None, Some(reference)) if reference.zero("namespace") => {
            let mut source = reference;
            source.drop("namespace");
            spec.put("dataSource", source);
        }
        _ => {}
    }
}
