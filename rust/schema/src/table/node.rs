//! Runtime classes.

use hydrofoil_types::Value;

use super::subject::Subject;
use crate::read::Read;

/// `printRuntimeClass`.
pub(super) fn runtime_class(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.object.s("handler"), of.age()]
}
