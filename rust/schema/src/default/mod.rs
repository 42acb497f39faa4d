//! Versioned defaults: `SetDefaults_*` of kubernetes `pkg/apis/<group>/<version>/defaults.go`.
//!
//! Every default is idempotent, as upstream applies them on each decode.

mod admissionregistration;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod core;
mod crd;
mod discovery;
mod flowcontrol;
mod image;
mod networking;
mod pod;
mod probe;
mod rbac;
mod resource;
mod scheduling;
mod service;
mod storage;
mod volume;

pub(crate) use autoscaling::v2 as autoscaler_v2;
pub(crate) use core::named_namespace;
use hydrofoil_types::{Timestamp, Value};

use crate::Kind;
use crate::read::Write;

/// Fills the defaults that a decoded object has at a moment.
pub fn apply(kind: &Kind, object: &mut Value, now: Timestamp) {
    match kind.key() {
        ("", "Pod") => pod::pod(object),
        ("", "PodTemplate") => {
            object.make("template").make("spec");
            pod::template(object, "template");
        }
        ("", "ReplicationController") => apps::replication_controller(object),
        ("", "Service") => service::service(object),
        ("", "Secret") => core::secret(object),
        ("", "Namespace") => core::namespace(object),
        ("", "Node") => core::node(object),
        ("", "LimitRange") => core::limit_range(object),
        ("", "ResourceQuota") => core::resource_quota(object),
        ("", "Endpoints") => core::endpoints(object),
        ("", "PersistentVolume") => volume::persistent_volume(object),
        ("", "PersistentVolumeClaim") => volume::claim(object),
        ("apps", "Deployment") => apps::deployment(object),
        ("apps", "StatefulSet") => apps::stateful_set(object),
        ("apps", "DaemonSet") => apps::daemon_set(object),
        ("apps", "ReplicaSet") => apps::replica_set(object),
        ("batch", "Job") => batch::job(object),
        ("batch", "CronJob") => batch::cron_job(object),
        ("autoscaling", "HorizontalPodAutoscaler") if kind.version == "v1" => autoscaling::v1(kind, object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaling::v2(object),
        ("networking.k8s.io", "NetworkPolicy") => networking::network_policy(object),
        ("networking.k8s.io", "IngressClass") => networking::ingress_class(object),
        ("discovery.k8s.io", "EndpointSlice") => discovery::endpoint_slice(object),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => rbac::binding(object),
        ("scheduling.k8s.io", "PriorityClass") => scheduling::priority_class(object),
        ("storage.k8s.io", "StorageClass") => storage::storage_class(object),
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver(object),
        ("storage.k8s.io", "VolumeAttachment") => storage::volume_attachment(object),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => flowcontrol::flow_schema(object),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => flowcontrol::priority_level(object),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => admissionregistration::mutating(object),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => admissionregistration::validating(object),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy") => {
            admissionregistration::policy(object);
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding") => {
            admissionregistration::binding(object);
        }
        ("apiregistration.k8s.io", "APIService") => apiregistration::api_service(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") if kind.version == "v1beta1" => crd::beta(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => crd::definition(object),
        ("resource.k8s.io", "ResourceClaim") => resource::claim(&kind.version, object),
        ("resource.k8s.io", "ResourceClaimTemplate") => resource::claim_template(&kind.version, object),
        ("resource.k8s.io", "ResourceSlice") => resource::slice(&kind.version, object, now),
        ("resource.k8s.io", "DeviceTaintRule") => resource::taint_rule(object, now),
        _ => {}
    }
}
