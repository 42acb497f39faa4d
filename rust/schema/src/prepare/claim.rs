//! The two fields for the source of a claim (`pkg/api/persistentvolumeclaim/util.go`).

use hydrofoil_types::Value;

use crate::read::{Read, Write};

/// `NormalizeDataSources`: either field fills the other.
pub(super) fn normalize_sources(spec: &mut Value) {
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
