//! Endpoint slices.

use hydrofoil_types::Value;

use crate::read::Write;

pub(super) fn endpoint_slice(object: &mut Value) {
    object.each("ports", |port| {
        port.unset("name", "");
        port.unset("protocol", "TCP");
    });
}
