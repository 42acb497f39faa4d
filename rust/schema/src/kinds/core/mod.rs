//! Kinds of the core group.

mod component_status;
mod config_map;
mod endpoints;
pub(super) mod event;
mod limit_range;
mod namespace;
mod node;
mod persistent_volume;
pub(super) mod persistent_volume_claim;
pub(super) mod pod;
mod pod_template;
mod replication_controller;
mod resource_quota;
mod secret;
pub(crate) mod service;
mod service_account;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "ComponentStatus" => &component_status::STRATEGY,
        "ConfigMap" => &config_map::STRATEGY,
        "Endpoints" => &endpoints::STRATEGY,
        "Event" => &event::STRATEGY,
        "LimitRange" => &limit_range::STRATEGY,
        "Namespace" => &namespace::STRATEGY,
        "Node" => &node::STRATEGY,
        "PersistentVolume" => &persistent_volume::STRATEGY,
        "PersistentVolumeClaim" => &persistent_volume_claim::STRATEGY,
        "Pod" => &pod::STRATEGY,
        "PodTemplate" => &pod_template::STRATEGY,
        "ReplicationController" => &replication_controller::STRATEGY,
        "ResourceQuota" => &resource_quota::STRATEGY,
        "Secret" => &secret::STRATEGY,
        "Service" => &service::STRATEGY,
        "ServiceAccount" => &service_account::STRATEGY,
        _ => return None,
    })
}
