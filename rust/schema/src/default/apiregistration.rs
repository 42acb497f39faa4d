//! Aggregated API services.

use hydrofoil_types::Value;

use crate::read::Write;

pub(super) fn api_service(object: &mut Value) {
    object.within("spec", |s| s.within("service", |s| s.unset("port", 443)));
}
