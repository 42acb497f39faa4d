//! Paths of files within volumes.

use hydrofoil_types::{Causes, Path};

/// `validatePathNoBacksteps`.
pub fn no_backsteps(text: &str, path: &Path<'_>, causes: &mut Causes) {
    if has_backsteps(text) {
        causes.invalid_str(path, text, "must not contain '..'");
    }
}

/// Report whether a path has a `..` element.
pub fn has_backsteps(text: &str) -> bool {
    text.split('/').any(|part| part == "..")
}

/// `validateLocalDescendingPath`.
pub fn descending(text: &str, path: &Path<'_>, causes: &mut Causes) {
    if text.starts_with('/') {
        causes.invalid_str(path, text, "must be a relative path");
    }
    no_backsteps(text, path, causes);
}

/// `ValidateLocalNonReservedPath`.
pub fn not_reserved(text: &str, path: &Path<'_>, causes: &mut Causes) {
    descending(text, path, causes);
    if text.starts_with("..") && !text.starts_with("../") {
        causes.invalid_str(path, text, "must not start with '..'");
    }
}
