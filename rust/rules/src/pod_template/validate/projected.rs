//! Projected volumes.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, KeySet, Path, Value};

use super::{file, path};
use crate::check::Check;
use hydrofoil_types::read::Read;

const CONFLICT: &str = "conflicting duplicate paths";

/// `validateProjectionSources`; disabled sources were dropped before.
pub fn sources(projection: &Value, at: &Path<'_>, causes: &mut Causes) {
    let mut paths = KeySet::default();
    let list = at.child("sources");
    for (i, source) in projection.list("sources").iter().enumerate() {
        let idx = list.index(i);
        let mut count = 0;
        for key in ["secret", "configMap"] {
            let Some(value) = source.opt(key) else { continue };
            count += 1;
            let here = idx.child(key);
            if value.zero("name") {
                causes.need(&here.child("name"));
            }
            let items = here.child("items");
            for (j, item) in value.list("items").iter().enumerate() {
                file::key_to_path(item, &items.index(j), causes);
                check_path(&mut paths, item.text("path"), value.text("name"), at, causes);
            }
        }
        if let Some(value) = source.opt("downwardAPI") {
            count += 1;
            for file in value.list("items") {
                file::downward_file(file, &idx.child("downwardAPI"), causes);
                check_path(&mut paths, file.text("path"), file.text("path"), at, causes);
            }
        }
        if let Some(token) = source.opt("serviceAccountToken") {
            count += 1;
            let seconds = token.int("expirationSeconds");
            let here = idx.child("serviceAccountToken");
            let here = here.child("expirationSeconds");
            if seconds < 600 {
                causes.invalid_int(&here, seconds, "may not specify a duration less than 10 minutes");
            }
            if seconds > 1 << 32 {
                causes.invalid_int(&here, seconds, "may not specify a duration larger than 2^32 seconds");
            }
            // Upstream reports the path of the whole volume.
            if token.zero("path") {
                causes.need(&at.child("path"));
            } else {
                path::not_reserved(token.text("path"), &at.child("path"), causes);
            }
        }
        count += usize::from(source.has("clusterTrustBundle")) + usize::from(source.has("podCertificate"));
        if count > 1 {
            causes.forbidden(&idx, "may not specify more than 1 volume type per source");
        }
    }
}

fn check_path<'a>(paths: &mut KeySet<&'a str>, path: &'a str, shown: &str, at: &Path<'_>, causes: &mut Causes) {
    if path.is_empty() {
        return;
    }
    if !paths.insert(path) {
        causes.invalid_str(at, shown, CONFLICT);
    }
}
