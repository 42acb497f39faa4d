//! The one conversion of the engine's errors to Python's: classes with fields, whose text is their message.

use hydrofoil_engine::Error;
use hydrofoil_merge::ApplyError;
use hydrofoil_store::StoreError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3::{IntoPyObjectExt, PyTypeInfo};

create_exception!(_native, DecodeError, PyException, "A body, patch or configuration is refused.");
create_exception!(_native, TypeMetaError, DecodeError, "The result of a patch has another type.");
create_exception!(_native, ApplyConflictError, PyException, "Others own fields of a configuration.");
create_exception!(_native, ExistsError, PyException, "An object of that key exists.");
create_exception!(_native, MissingError, PyException, "No object of that key exists.");
create_exception!(_native, ConflictError, PyException, "The object is at another revision.");
create_exception!(_native, ExpiredError, PyException, "The history no longer has that revision.");
create_exception!(_native, FutureError, PyException, "The revision has not been reached.");
create_exception!(_native, RefusedError, PyException, "A log refuses a write.");
create_exception!(_native, DataError, PyException, "A file or folder of a log cannot be used: one line that names it.");
create_exception!(_native, EvaluationError, PyException, "An expression has no result.");
create_exception!(_native, ConversionError, PyException, "An object is not known in a version.");

/// The result of a method that may raise.
pub(crate) type Fallible<T> = Result<T, Raised>;

/// An error of the engine on its way to Python.
#[derive(Debug)]
pub(crate) struct Raised(Error);

impl<E: Into<Error>> From<E> for Raised {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// Return an exception whose fields are those of a dict.
pub(crate) fn with_fields<E: PyTypeInfo>(text: &str, set: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| {
        // A fault while it is made is raised in its place.
        let make = || {
            let fields = PyDict::new(py);
            set(&fields)?;
            let error = py.get_type::<E>().call1((text,))?;
            for (name, value) in fields {
                error.setattr(name.cast::<PyString>()?, value)?;
            }
            PyResult::Ok(PyErr::from_value(error.into_bound_py_any(py)?))
        };
        make().unwrap_or_else(|fault| fault)
    })
}

/// Return an exception with the kind of an error, by which handlers distinguish it, and its message.
pub(crate) fn with_reason<E: PyTypeInfo>(reason: &str, message: &str) -> PyErr {
    with_fields::<E>(message, |fields| {
        fields.set_item("reason", reason)?;
        fields.set_item("message", message)
    })
}

impl From<Raised> for PyErr {
    fn from(Raised(error): Raised) -> Self {
        let (reason, text) = (error.reason(), error.to_string());
        match error {
            Error::Apply(ApplyError::Conflict(conflicts)) => {
                let causes: Vec<_> = conflicts.causes().into_iter().map(|c| (c.message(), c.path.clone())).collect();
                with_fields::<ApplyConflictError>(&text, |fields| {
                    fields.set_item("message", &text)?;
                    fields.set_item("causes", causes)
                })
            }
            Error::Decode(_) | Error::Patch(_) | Error::Apply(_) => {
                decode_error::<DecodeError>(reason, &text, None, None)
            }
            Error::Patched { message, outcome } => decode_error::<DecodeError>(reason, &message, Some(&outcome), None),
            Error::TypeMeta { api_version, kind, outcome } => {
                decode_error::<TypeMetaError>(reason, &text, Some(&outcome), Some((&api_version, &kind)))
            }
            Error::Pending { .. } | Error::Unconverted(_) | Error::Unconvertible(_) => {
                with_reason::<ConversionError>(reason, &text)
            }
            Error::Store(StoreError::Exists) => ExistsError::new_err(()),
            Error::Store(StoreError::NotFound) => MissingError::new_err(()),
            Error::Store(StoreError::Conflict { current }) => {
                with_fields::<ConflictError>(&text, |fields| fields.set_item("current", current))
            }
            Error::Store(StoreError::Expired { asked, oldest }) => with_fields::<ExpiredError>(&text, |fields| {
                fields.set_item("asked", asked)?;
                fields.set_item("oldest", oldest)
            }),
            Error::Store(StoreError::Future { asked, current }) => with_fields::<FutureError>(&text, |fields| {
                fields.set_item("asked", asked)?;
                fields.set_item("current", current)
            }),
            Error::Evaluation(_) => EvaluationError::new_err(text),
            Error::Committed => PyRuntimeError::new_err(text),
            Error::Unknown(_) => PyKeyError::new_err(text),
            Error::Invalid(_) => PyValueError::new_err(text),
        }
    }
}

/// Return the error of a body, patch or configuration; `outcome` is the whole result of a patch, as messages show it,
/// and `type_meta` its `apiVersion` and kind.
fn decode_error<E: PyTypeInfo>(
    reason: &str,
    message: &str,
    outcome: Option<&str>,
    type_meta: Option<(&str, &str)>,
) -> PyErr {
    with_fields::<E>(message, |fields| {
        fields.set_item("reason", reason)?;
        fields.set_item("message", message)?;
        fields.set_item("outcome", outcome)?;
        if let Some((api_version, kind)) = type_meta {
            fields.set_item("api_version", api_version)?;
            fields.set_item("kind", kind)?;
        }
        Ok(())
    })
}
