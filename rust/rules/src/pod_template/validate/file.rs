//! Files within volumes: their paths, modes and sources.

use hydrofoil_types::{Causes, Path, Value};

use super::{env, path};
use crate::check::Check;
use hydrofoil_types::read::Read;

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// Refuse modes beyond the permission bits.
pub fn mode(value: &Value, key: &str, at: &Path<'_>, causes: &mut Causes) {
    if let Some(mode) = value.opt_int(key).filter(|m| !(0..=0o777).contains(m)) {
        causes.invalid_int(&at.child(key), mode, MODE);
    }
}

/// Validate a source of files that is an object of this name.
pub fn items(value: &Value, name: &str, at: &Path<'_>, causes: &mut Causes) {
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
pub fn key_to_path(item: &Value, at: &Path<'_>, causes: &mut Causes) {
    for key in ["key", "path"] {
        if item.zero(key) {
            causes.need(&at.child(key));
        }
    }
    path::not_reserved(item.text("path"), &at.child("path"), causes);
    mode(item, "mode", at, causes);
}

/// `validateDownwardAPIVolumeFile`, which upstream reports without the index of the file.
pub fn downward_file(file: &Value, at: &Path<'_>, causes: &mut Causes) {
    if file.zero("path") {
        causes.need(&at.child("path"));
    }
    path::not_reserved(file.text("path"), &at.child("path"), causes);
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
