//! `PrepareForCreate`: status wiped, generation started.

use hydrofoil_types::{Timestamp, Value};

use super::{claim, daemon, job, pod, service};
use crate::Kind;
use crate::read::{Read, Write};

pub(super) fn prepare(kind: &Kind, object: &mut Value, now: Timestamp) {
    let (wipes, counts) = switches(kind.key());
    if wipes {
        object.drop("status");
    }
    if counts {
        object.make("metadata").put("generation", 1);
    }
    match kind.key() {
        ("", "Pod") => pod::create(object, now),
        ("", "Namespace") => namespace(object),
        ("", "PersistentVolume") => {
            let status = object.make("status");
            status.put("phase", "Pending");
            status.put("lastPhaseTransitionTime", now.rfc3339());
        }
        ("", "PersistentVolumeClaim") => {
            object.make("status").put("phase", "Pending");
            claim::normalize_sources(object.make("spec"), false);
        }
        ("", "ServiceAccount") => secret_names(object),
        ("", "LimitRange") => random_name(object),
        ("", "Service") => service::create(object),
        ("apps", "DaemonSet") => daemon::create(object),
        ("apps", "StatefulSet") => claims(object),
        ("batch", "Job") => job::create(object),
        ("apiregistration.k8s.io", "APIService") => local_service(object, now),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => stored_version(object),
        _ => {}
    }
}

/// A limit range that brings no name gets one.
fn random_name(object: &mut Value) {
    let meta = object.make("metadata");
    if meta.s("name").is_empty() {
        let uid = meta.s("uid").to_owned();
        meta.put("name", uid);
    }
}

/// Whether creation wipes the status, and whether generations are counted.
fn switches(key: (&str, &str)) -> (bool, bool) {
    match key {
        ("", "ReplicationController" | "Pod")
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job" | "CronJob")
        | ("policy", "PodDisruptionBudget")
        | ("networking.k8s.io", "Ingress")
        | (
            "flowcontrol.apiserver.k8s.io"
            | "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "storagemigration.k8s.io",
            _,
        )
        | ("resource.k8s.io", "DeviceTaintRule") => (true, true),
        ("", "Service" | "ResourceQuota" | "Namespace" | "PersistentVolume" | "PersistentVolumeClaim")
        | ("autoscaling", "HorizontalPodAutoscaler")
        | ("certificates.k8s.io", "CertificateSigningRequest" | "PodCertificateRequest")
        | ("storage.k8s.io", "VolumeAttachment")
        | ("networking.k8s.io", "ServiceCIDR")
        | ("apiregistration.k8s.io" | "internal.apiserver.k8s.io", _)
        | ("resource.k8s.io", "ResourceClaim" | "ResourcePoolStatusRequest")
        | ("scheduling.k8s.io", "PodGroup") => (true, false),
        ("", "PodTemplate")
        | ("networking.k8s.io", "NetworkPolicy" | "IngressClass")
        | ("discovery.k8s.io", "EndpointSlice")
        | ("scheduling.k8s.io", "PriorityClass" | "Workload")
        | ("resource.k8s.io", "DeviceClass" | "ResourceSlice") => (false, true),
        _ => (false, false),
    }
}

fn namespace(object: &mut Value) {
    object.make("status").put("phase", "Active");
    // Of a name that was made up just now.
    crate::default::named_namespace(object);
    let spec = object.make("spec");
    let mut finalizers = spec.list("finalizers").to_vec();
    if !finalizers.iter().any(|f| f.as_str() == Some("kubernetes")) {
        finalizers.push(Value::from("kubernetes"));
        spec.put("finalizers", finalizers);
    }
}

/// `cleanSecretReferences`: only the names are kept.
pub(super) fn secret_names(object: &mut Value) {
    object.each("secrets", |secret| {
        let name = secret.s("name").to_owned();
        *secret = Value::object();
        if !name.is_empty() {
            secret.put("name", name);
        }
    });
}

/// `dropDisabledFields` of stateful sets resets the status of claim templates to its default.
fn claims(object: &mut Value) {
    object.within("spec", |spec| {
        spec.each("volumeClaimTemplates", |claim| {
            claim.within("metadata", |m| m.drop("creationTimestamp"));
        });
    });
}

/// Services of this server itself are available at once (kube-aggregator `registry/apiservice`).
fn local_service(object: &mut Value, now: Timestamp) {
    if object.sub("spec").has("service") {
        return;
    }
    let mut condition = Value::object();
    condition.put("type", "Available");
    condition.put("status", "True");
    condition.put("lastTransitionTime", now.rfc3339());
    condition.put("reason", "Local");
    condition.put("message", "Local APIServices are always available");
    object.make("status").put("conditions", vec![condition]);
}

/// The storage version is recorded as stored.
pub(super) fn stored_version(object: &mut Value) {
    let Some(name) =
        object.sub("spec").list("versions").iter().find(|v| v.b("storage")).map(|v| v.s("name").to_owned())
    else {
        return;
    };
    let status = object.make("status");
    let mut stored = status.list("storedVersions").to_vec();
    if !stored.iter().any(|v| v.as_str() == Some(&name)) {
        stored.push(Value::from(name));
        status.put("storedVersions", stored);
    }
}
