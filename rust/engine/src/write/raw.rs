//! The form of raw members (`runtime.RawExtension`) after conversion through upstream's types.

use std::borrow::Cow;

use hydrofoil_codec::json::{self, RawForm};
use hydrofoil_types::Value;

use crate::kind::ObjectKind;

/// Convert raw members to the form that conversion through upstream's types gives them.
pub(super) fn change(kind: &dyn ObjectKind, object: &mut Value, form: RawForm) {
    if kind.has_raw() {
        json::change_raw(&kind.info().schema, object, form);
    }
}

/// Return an object whose raw members are parsed.
pub(super) fn open<'v>(kind: &dyn ObjectKind, object: &'v Value) -> Cow<'v, Value> {
    let mut open = Cow::Borrowed(object);
    if kind.has_raw() {
        json::change_raw(&kind.info().schema, open.to_mut(), RawForm::Open);
    }
    open
}

/// Convert raw members to the form of Go's maps after an apply, unless nothing changed: then keep the live object with
/// its new managed fields.
pub(super) fn settle_applied(kind: &dyn ObjectKind, live: Option<&Value>, object: &mut Value) {
    let bare = |object: &Value| {
        let mut bare = open(kind, object).into_owned();
        bare.object_at_mut(&["metadata"]).remove("managedFields");
        bare
    };
    let Some(live) = live.filter(|live| bare(live) == bare(object)) else {
        return change(kind, object, RawForm::Ordered);
    };
    let owners = object.object_at_mut(&["metadata"]).remove("managedFields");
    *object = live.clone();
    let metadata = object.object_at_mut(&["metadata"]);
    match owners {
        Some(owners) => metadata.set("managedFields", owners),
        None => drop(metadata.remove("managedFields")),
    }
}
