//! Cluster roles (`pkg/registry/rbac/clusterrole/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::policy_rule;
use crate::kind::{MetadataCheck, NameRule, Strategy};
use hydrofoil_rules::selector;
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::PathSegment,
    allow_create_on_update: true,
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    ..Strategy::DEFAULT
};

/// `ValidateClusterRole`.
fn validate(object: &Value, causes: &mut Causes) {
    policy_rule::validate(object, false, causes);
    let Some(aggregation) = object.opt("aggregationRule") else { return };
    let path = Path::new("aggregationRule");
    let at = path.child("clusterRoleSelectors");
    let selectors = aggregation.list("clusterRoleSelectors");
    if selectors.is_empty() {
        causes.required(&at, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    for (i, one) in selectors.iter().enumerate() {
        let before = causes.len();
        selector::label_selector(one, &at.index(i), causes);
        if causes.len() > before {
            // Upstream shows the converted selector, which is nil.
            causes.invalid(&at.index(i), &Value::Null, "invalid label selector.");
        }
    }
}
