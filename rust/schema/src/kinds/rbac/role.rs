//! Roles (`pkg/registry/rbac/role/strategy.go`).

use super::policy_rule;
use crate::kind::{MetadataCheck, NameRule, Strategy};

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::PathSegment,
    allow_create_on_update: true,
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| policy_rule::validate(object, true, causes),
    ..Strategy::DEFAULT
};
