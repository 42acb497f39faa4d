//! Certificate signing requests (`pkg/registry/certificates/certificates/strategy.go`).

mod prepare;
mod table;
mod validate;

use crate::kind::{MetadataCheck, NameRule, Strategy};
use hydrofoil_types::read::Write;

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::PathSegment,
    has_status: true,
    reset_fields: |subresource| match subresource {
        "" => Some(&[&["spec"], &["status"]]),
        "status" => Some(&[&["spec"], &["status", "conditions"]]),
        "approval" => Some(&[&["spec"], &["status", "certificate"]]),
        _ => None,
    },
    prepare_update: |_, object, old| object.copy_from(old, "spec"),
    prepare_status: |_, object, old, now| prepare::status(object, old, now),
    prepare_subresource: |_, subresource, object, old, now| prepare::approval(subresource, object, old, now),
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    metadata_on_status: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate::create(object, causes),
    validate_update: validate::update,
    row: Some(table::row),
    ..Strategy::DEFAULT
};
