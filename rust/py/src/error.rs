//! The one conversion of the engine's errors to Python's.

use hydrofoil_engine::Error;
use hydrofoil_merge::ApplyError;
use hydrofoil_store::StoreError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(_native, DecodeError, PyException, "A body is no object of its type: kind of error, message.");
create_exception!(_native, ApplyConflictError, PyException, "Others own what is applied: text, causes.");
create_exception!(_native, ExistsError, PyException, "An object of that key exists.");
create_exception!(_native, MissingError, PyException, "No object of that key exists.");
create_exception!(_native, ConflictError, PyException, "The object stands at another revision: the current one.");
create_exception!(_native, ExpiredError, PyException, "The history no longer reaches back so far: asked, oldest.");
create_exception!(_native, FutureError, PyException, "The revision has not been reached: asked, current.");
create_exception!(_native, RefusedError, PyException, "A log refuses a write: kind of refusal, why.");
create_exception!(_native, DataError, PyException, "A file or folder of a log cannot be used: one line that names it.");
create_exception!(_native, EvaluationError, PyException, "An expression has no result.");
create_exception!(_native, ConversionError, PyException, "An object is not known in a version: kind of error, why.");

create_exception!(_native, PendingError, PyException, "A webhook converts an object first: its JSON, the version.");

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

impl From<Raised> for PyErr {
    fn from(Raised(error): Raised) -> Self {
        let (reason, text) = (error.reason(), error.to_string());
        match error {
            Error::Apply(ApplyError::Conflict(conflicts)) => {
                let causes: Vec<_> = conflicts.causes().into_iter().map(|c| (c.message(), c.path.clone())).collect();
                ApplyConflictError::new_err((text, causes))
            }
            Error::Decode(_) | Error::Patch(_) | Error::Apply(_) => DecodeError::new_err((reason, text)),
            Error::Patched { message, outcome } => DecodeError::new_err((reason, message, outcome)),
            Error::TypeMeta { api_version: v, kind, outcome } => DecodeError::new_err((reason, v, kind, outcome)),
            Error::Pending { object, api_version } => PendingError::new_err((object, api_version)),
            Error::Unconverted(_) | Error::Unconvertible(_) => ConversionError::new_err((reason, text)),
            Error::Store(StoreError::Exists) => ExistsError::new_err(()),
            Error::Store(StoreError::NotFound) => MissingError::new_err(()),
            Error::Store(StoreError::Conflict { current }) => ConflictError::new_err(current),
            Error::Store(StoreError::Expired { asked, oldest }) => ExpiredError::new_err((asked, oldest)),
            Error::Store(StoreError::Future { asked, current }) => FutureError::new_err((asked, current)),
            Error::Evaluation(_) => EvaluationError::new_err(text),
            Error::Committed => PyRuntimeError::new_err(text),
            Error::Unknown(_) => PyKeyError::new_err(text),
            Error::Invalid(_) => PyValueError::new_err(text),
        }
    }
}
