//! Cluster role bindings (`pkg/registry/rbac/clusterrolebinding/strategy.go`).

use super::binding;
use crate::kind::{MetadataCheck, NameRule, Strategy};

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::PathSegment,
    allow_create_on_update: true,
    default: |_, object, _| binding::default(object),
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| binding::validate(object, false, causes),
    validate_update: |_, object, old, causes| binding::validate_update(object, old, false, causes),
    row: Some(binding::row),
    ..Strategy::DEFAULT
};
