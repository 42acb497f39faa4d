//! Functions of patches (apiserver `pkg/cel/library/jsonpatch.go`).

use super::{Native, no_overload};
use crate::value::Val;

/// Return the function of a name.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "jsonpatch.escapeKey" => |args| match args {
            [Val::Str(key)] => Ok(Val::text(key.replace('~', "~0").replace('/', "~1"))),
            _ => no_overload("jsonpatch.escapeKey", args),
        },
        _ => return None,
    })
}
