//! Kinds of the group `resource.k8s.io`.

mod configuration;
mod device_claim;
mod device_class;
mod device_taint_rule;
mod names;
mod resource_claim;
mod resource_claim_template;
mod resource_pool_status_request;
mod resource_slice;
mod selectors;
mod taint;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group in one of its versions.
pub(super) fn of(version: &str, kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "DeviceClass" => &device_class::STRATEGY,
        "DeviceTaintRule" => &device_taint_rule::STRATEGY,
        "ResourceClaim" if version == "v1beta1" => &resource_claim::V1BETA1,
        "ResourceClaim" => &resource_claim::STRATEGY,
        "ResourceClaimTemplate" if version == "v1beta1" => &resource_claim_template::V1BETA1,
        "ResourceClaimTemplate" => &resource_claim_template::STRATEGY,
        "ResourcePoolStatusRequest" => &resource_pool_status_request::STRATEGY,
        "ResourceSlice" if version == "v1beta1" => &resource_slice::V1BETA1,
        "ResourceSlice" => &resource_slice::STRATEGY,
        _ => return None,
    })
}
