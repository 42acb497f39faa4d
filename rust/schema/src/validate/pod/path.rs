//! Paths of files within volumes.

use hydrofoil_types::{Causes, Path};

/// `validatePathNoBacksteps`.
pub(in crate::validate) fn no_backsteps(text: &str, path: &Path<'_>, causes: &mut Causes) {
    if has_backsteps(text) {
        causes.invalid_str(path, text, "must not contain '..'");
    }
}

pub(super) fn has_backsteps(text: &str) -> bool {
    text.split('/').any(|part| part == "..")
}

/// `validateLocalDescendingPath`.
pub(super) fn descending(text: &str, path: &Path<'_>, causes: &mut Causes) {
    if text.starts_with('/') {
        causes.invalid_str(path, text, "must be a relative path");
    }
    no_backsteps(text, path, causes);
}

/// `ValidateLocalNonReservedPath`.
pub(super) fn not_reserved(text: &str, path: &Path<'_>, causes: &mut Causes) {
    descending(text, path, causes);
    if text.starts_with("..") && !text.starts_with("../") {
        causes.invalid_str(path, text, "must not start with '..'");
    }
}
