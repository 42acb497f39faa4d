//! `PrepareForUpdate` of the main resource.

use hydrofoil_types::Value;

use super::{claim, create, daemon, pod, service};
use crate::Kind;
use crate::read::{Read, Write, same, same_field};

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
        ("", "PersistentVolumeClaim") => claim::normalize_sources(object.make("spec")),
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
    match key {
        ("apps", "Deployment") => {
            !same_field(object, old, "spec") || !same_field(object.sub("metadata"), old.sub("metadata"), "annotations")
        }
        ("", "ReplicationController")
        | ("apps", "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch" | "flowcontrol.apiserver.k8s.io" | "apiextensions.k8s.io" | "storagemigration.k8s.io", _)
        | ("policy", "PodDisruptionBudget")
        | ("networking.k8s.io", "Ingress" | "NetworkPolicy" | "IngressClass")
        | ("storage.k8s.io", "CSIDriver")
        | ("resource.k8s.io", "DeviceClass" | "ResourceSlice" | "DeviceTaintRule")
        | (
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "MutatingAdmissionPolicy"
            | "MutatingAdmissionPolicyBinding",
        ) => !same_field(object, old, "spec"),
        ("admissionregistration.k8s.io", _) => !same_field(object, old, "webhooks"),
        ("", "PodTemplate") => !same_field(object, old, "template"),
        ("discovery.k8s.io", "EndpointSlice") => {
            ["endpoints", "ports", "addressType"].iter().any(|key| !same_field(object, old, key))
                || !same(object.sub("metadata").sub("labels"), old.sub("metadata").sub("labels"))
        }
        _ => false,
    }
}
