//! The one map from the engine's errors to Python's.

use hydrofoil_merge::ApplyError;
use hydrofoil_store::StoreError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(_native, DecodeError, PyException, "A body is no object of its type: kind of error, message.");
create_exception!(_native, ApplyConflictError, PyException, "Others own what is applied: text, causes.");
create_exception!(_native, ExistsError, PyException, "An object of that key exists.");
create_exception!(_native, MissingError, PyException, "No object of that key exists.");
create_exception!(_native, ConflictError, PyException, "The object stands at another revision: the current one.");
create_exception!(_native, ExpiredError, PyException, "The history no longer reaches back so far: asked, oldest.");
create_exception!(_native, FutureError, PyException, "The revision has not been reached: asked, current.");

create_exception!(
    _native,
    ConversionError,
    PyException,
    "An object is not known in a version: `webhook` and the version when one has yet to convert it, `invalid` and why."
);

/// An object that cannot be shown in a version, or not yet.
pub(crate) fn conversion_error(kind: &'static str, text: &str) -> PyErr {
    ConversionError::new_err((kind, text.to_owned()))
}

pub(crate) fn store_error(error: StoreError) -> PyErr {
    match error {
        StoreError::Exists => ExistsError::new_err(()),
        StoreError::NotFound => MissingError::new_err(()),
        StoreError::Conflict { current } => ConflictError::new_err(current),
        StoreError::Expired { asked, oldest } => ExpiredError::new_err((asked, oldest)),
        StoreError::Future { asked, current } => FutureError::new_err((asked, current)),
    }
}

pub(crate) fn decode_error(error: &hydrofoil_codec::DecodeError) -> PyErr {
    let kind = match error {
        hydrofoil_codec::DecodeError::Syntax(_) => "syntax",
        hydrofoil_codec::DecodeError::Type(_) => "type",
    };
    DecodeError::new_err((kind, error.to_string()))
}

pub(crate) fn patch_error(error: &hydrofoil_merge::PatchError) -> PyErr {
    let kind = match error {
        hydrofoil_merge::PatchError::Malformed(_) => "syntax",
        hydrofoil_merge::PatchError::Failed(_) => "failed",
        hydrofoil_merge::PatchError::TooMany(_) => "too many",
        hydrofoil_merge::PatchError::Internal(_) => "internal",
    };
    DecodeError::new_err((kind, error.to_string()))
}

pub(crate) fn apply_error(error: &ApplyError) -> PyErr {
    match error {
        ApplyError::BadRequest(text) => DecodeError::new_err(("bad request", text.clone())),
        ApplyError::Internal(text) => DecodeError::new_err(("internal", text.clone())),
        ApplyError::Conflict(conflicts) => {
            let causes: Vec<(String, String)> =
                conflicts.causes().into_iter().map(|c| (c.message(), c.path.clone())).collect();
            ApplyConflictError::new_err((conflicts.to_string(), causes))
        }
    }
}
