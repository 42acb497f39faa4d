//! Custom resource definitions (apiextensions-apiserver `pkg/registry/customresourcedefinition/strategy.go`).

mod approval;
mod conversion;
mod convert;
mod default;
mod field_path;
mod internal;
mod names;
mod nonstructural;
mod options;
mod printer_columns;
mod schema;
mod schema_defaults;
mod selectable_fields;
mod shared;
mod stored_versions;
mod structural;
mod subresources;
mod validate;
mod validation_rules;
mod versions;
mod warn;

use crate::kind::{Conversion, GenerationRule, MetadataOrder, Strategy};
use hydrofoil_types::read::{Read, same_field};
pub use nonstructural::nonstructural;

pub(crate) static STRATEGY: Strategy = Strategy { ..V1 };

/// Version 1, in which definitions are stored.
const V1: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    generation: GenerationRule::of(|new, old| {
        !same_field(new, old, "spec") || !internal::same_versions(new.field("spec"), old.field("spec"))
    }),
    default: |_, object, _| default::definition(object),
    prepare_create: |_, object, _| stored_versions::record(object),
    prepare_update: |_, object, _| stored_versions::record(object),
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: validate::create,
    validate_update: validate::update,
    warn_create: |_, object, out| warn::formats(object, out),
    warn_update: |_, object, old, out| warn::new_formats(object, old, out),
    ..Strategy::DEFAULT
};

/// Version 1beta1.
pub(crate) static V1BETA1: Strategy = Strategy {
    default: |_, object, _| default::beta(object),
    storage: Some(Conversion { up: convert::up, down: convert::down }),
    ..V1
};
