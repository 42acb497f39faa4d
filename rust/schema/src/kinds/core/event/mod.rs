//! Events of the core group (`pkg/registry/core/event/strategy.go`).

pub(in crate::kinds) mod table;
pub(in crate::kinds) mod validate;

use hydrofoil_types::{SmolStr, Value};

use crate::kind::{MetadataOrder, Strategy};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    metadata_on_status: &[],
    validate: validate::create,
    validate_update: |_, object, _, causes| validate::update(object, causes),
    row: Some(|of| table::row(of, &table::CORE)),
    field_value,
    ..Strategy::DEFAULT
};

/// `ToSelectableFields`, under the names of both groups.
pub(in crate::kinds) fn field_value(label: &str, object: &Value) -> Option<SmolStr> {
    match label {
        // An event reported by a component names it in either of two fields.
        "source" => {
            let component = object.field("source").text("component");
            Some(if component.is_empty() { object.text("reportingComponent") } else { component }.into())
        }
        "reportingController" => Some(object.text("reportingComponent").into()),
        _ => label.strip_prefix("regarding.").map(|rest| object.field("involvedObject").text(rest).into()),
    }
}
