//! `PrepareForUpdate` of the main resource.

use hydrofoil_types::Value;

use super::{claim, create, daemon, pod, service};
use crate::read::{Read, Write, same, same_field};
use crate::{Kind, internal};

pub(super) fn prepare(kind: &Kind, object: &mut Value, old: &Value) {
    if keeps_status(kind.key()) {
        object.copy_from(old, "status");
    }
    match kind.key() {
        ("", "Pod") => return pod::generation(object, old),
        ("", "Namespace") => {
            let finalizers = old.sub("spec").opt("finalizers").cloned();
            match finalizers {
                Some(list) => object.make("spec").put("finalizers", list),
                None => object.make("spec").drop("finalizers"),
            }
        }
        ("", "PersistentVolumeClaim") => {
            claim::normalize_sources(object.make("spec"), old.sub("spec").has("dataSource"));
        }
        ("", "Service") => service::update(object, old),
        ("", "ServiceAccount") => create::secret_names(object),
        ("", "Secret") if object.zero("type") => object.copy_from(old, "type"),
        ("apps", "DaemonSet") => daemon::update(object, old),
        ("certificates.k8s.io", "CertificateSigningRequest") => object.copy_from(old, "spec"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => create::stored_version(object),
        _ => {}
    }
    let generation = old.sub("metadata").i("generation");
    let next = generation.wrapping_add(i64::from(counted_change(kind.key(), object, old)));
    if next != 0 {
        object.make("metadata").put("generation", next);
    }
}

/// Kinds whose main resource leaves the status alone.
fn keeps_status(key: (&str, &str)) -> bool {
    matches!(
        key,
        (
            "",
            "Pod"
                | "Service"
                | "ResourceQuota"
                | "Namespace"
                | "Node"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "ReplicationController"
        ) | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
            | (
                "batch"
                    | "autoscaling"
                    | "flowcontrol.apiserver.k8s.io"
                    | "apiextensions.k8s.io"
                    | "apiregistration.k8s.io"
                    | "internal.apiserver.k8s.io"
                    | "storagemigration.k8s.io",
                _
            )
            | ("certificates.k8s.io", "CertificateSigningRequest" | "PodCertificateRequest")
            | ("policy", "PodDisruptionBudget")
            | ("networking.k8s.io", "Ingress" | "ServiceCIDR")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
            | ("resource.k8s.io", "ResourceClaim" | "DeviceTaintRule" | "ResourcePoolStatusRequest")
            | ("scheduling.k8s.io", "PodGroup")
    )
}

/// Whether an update makes a new generation.
fn counted_change(key: (&str, &str), object: &Value, old: &Value) -> bool {
    let differs = |field: &str, shape: &str| !internal::same(shape, object.sub(field), old.sub(field));
    match key {
        ("apps", "Deployment") => {
            differs("spec", "apps.DeploymentSpec")
                || !same_field(object.sub("metadata"), old.sub("metadata"), "annotations")
        }
        ("", "PodTemplate") => differs("template", "core.PodTemplateSpec"),
        // `reflect.DeepEqual`: empty is not absent.
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
            object.sub("webhooks") != old.sub("webhooks")
        }
        ("discovery.k8s.io", "EndpointSlice") => {
            differs("endpoints", "[]discovery.Endpoint")
                || differs("ports", "[]discovery.EndpointPort")
                || !same_field(object, old, "addressType")
                || !same(object.sub("metadata").sub("labels"), old.sub("metadata").sub("labels"))
        }
        ("apiextensions.k8s.io" | "storagemigration.k8s.io", _) => !same_field(object, old, "spec"),
        _ => counted_spec(key).is_some_and(|shape| differs("spec", shape)),
    }
}

/// The internal type of the spec of a kind whose generations are those of its spec.
fn counted_spec(key: (&str, &str)) -> Option<&'static str> {
    Some(match key {
        ("", "ReplicationController") => "core.ReplicationControllerSpec",
        ("apps", "StatefulSet") => "apps.StatefulSetSpec",
        ("apps", "DaemonSet") => "apps.DaemonSetSpec",
        ("apps", "ReplicaSet") => "apps.ReplicaSetSpec",
        ("batch", "Job") => "batch.JobSpec",
        ("batch", "CronJob") => "batch.CronJobSpec",
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => "flowcontrol.FlowSchemaSpec",
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => "flowcontrol.PriorityLevelConfigurationSpec",
        ("policy", "PodDisruptionBudget") => "policy.PodDisruptionBudgetSpec",
        ("networking.k8s.io", "Ingress") => "networking.IngressSpec",
        ("networking.k8s.io", "NetworkPolicy") => "networking.NetworkPolicySpec",
        ("networking.k8s.io", "IngressClass") => "networking.IngressClassSpec",
        ("storage.k8s.io", "CSIDriver") => "storage.CSIDriverSpec",
        ("resource.k8s.io", "DeviceClass") => "resource.DeviceClassSpec",
        ("resource.k8s.io", "ResourceSlice") => "resource.ResourceSliceSpec",
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => {
            "admissionregistration.ValidatingAdmissionPolicySpec"
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => {
            "admissionregistration.ValidatingAdmissionPolicyBindingSpec"
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => {
            "admissionregistration.MutatingAdmissionPolicySpec"
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding") => {
            "admissionregistration.MutatingAdmissionPolicyBindingSpec"
        }
        _ => return None,
    })
}
