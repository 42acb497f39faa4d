//! Kinds of the group `apiextensions.k8s.io`.

mod custom_resource_definition;

use crate::kind::Strategy;
pub use custom_resource_definition::nonstructural;

/// Return the strategy of a kind of the group in one of its versions.
pub(super) fn of(version: &str, kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "CustomResourceDefinition" if version == "v1beta1" => &custom_resource_definition::V1BETA1,
        "CustomResourceDefinition" => &custom_resource_definition::STRATEGY,
        _ => return None,
    })
}
