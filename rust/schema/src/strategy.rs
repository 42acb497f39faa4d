//! What differs between kinds without code: the switches of their strategies.

use crate::Kind;

/// How the name of an object may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// An RFC 1123 subdomain, up to 253 bytes.
    Subdomain,
    /// An RFC 1123 label, up to 63 bytes.
    Label,
    /// An RFC 1035 label, up to 63 bytes.
    Label1035,
    /// A subdomain by the validation tags of its type, which leave generateName alone.
    Declared,
    /// Anything that fits into one segment of a URL path.
    PathSegment,
    /// Not restricted beyond what the kind's own rules say.
    Other,
}

/// The switches of one kind.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "upstream's strategies are independent switches")]
pub struct Traits {
    /// Whether PUT to an absent object creates it.
    pub allow_create_on_update: bool,
    /// Whether PUT may leave out the resourceVersion.
    pub allow_unconditional_update: bool,
    /// Whether DELETE answers with the object.
    pub returns_deleted_object: bool,
    /// Whether DELETE goes through a grace period.
    pub graceful_delete: bool,
    /// How names look.
    pub name_rule: NameRule,
    /// Whether `/status` exists and the main resource leaves the status alone.
    pub has_status: bool,
    /// Whether `/scale` exists.
    pub has_scale: bool,
}

/// The switches of a kind.
pub fn traits(kind: &Kind) -> Traits {
    let key = kind.key();
    Traits {
        allow_create_on_update: create_on_update(key),
        allow_unconditional_update: !conditional(key),
        returns_deleted_object: returns_deleted(key),
        graceful_delete: key == ("", "Pod"),
        name_rule: name_rule(key),
        has_status: has_status(key),
        has_scale: matches!(key, ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") | ("", "ReplicationController")),
    }
}

/// The paths that an endpoint does not let its clients set (`GetResetFields` of the strategies).
pub fn reset_fields(kind: &Kind, subresource: &str) -> &'static [&'static [&'static str]] {
    const METADATA: &[&str] = &["metadata"];
    const SPEC: &[&str] = &["spec"];
    const STATUS: &[&str] = &["status"];
    match (kind.key(), subresource) {
        (("certificates.k8s.io", "CertificateSigningRequest"), "") => &[SPEC, STATUS],
        (("certificates.k8s.io", "CertificateSigningRequest"), "status") => &[SPEC, &["status", "conditions"]],
        (("certificates.k8s.io", "CertificateSigningRequest"), "approval") => &[SPEC, &["status", "certificate"]],
        (("", "Namespace"), "finalize") => &[STATUS],
        (_, "") if traits(kind).has_status => &[STATUS],
        (("", "Pod"), "status") => &[SPEC, &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]],
        (("apps", "Deployment"), "status") => &[SPEC, &["metadata", "labels"]],
        (
            ("networking.k8s.io", "ServiceCIDR")
            | ("resource.k8s.io", "ResourceClaim" | "DeviceTaintRule" | "ResourcePoolStatusRequest")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("scheduling.k8s.io", "PodGroup")
            | (
                "flowcontrol.apiserver.k8s.io"
                | "admissionregistration.k8s.io"
                | "apiregistration.k8s.io"
                | "internal.apiserver.k8s.io"
                | "storagemigration.k8s.io",
                _,
            ),
            "status",
        ) => &[SPEC, METADATA],
        (_, "status") => &[SPEC],
        _ => &[],
    }
}

fn create_on_update(key: (&str, &str)) -> bool {
    matches!(
        key,
        ("coordination.k8s.io", "Lease" | "LeaseCandidate")
            | ("", "Service" | "Endpoints" | "Event" | "LimitRange")
            | ("events.k8s.io", "Event")
            | ("node.k8s.io", "RuntimeClass")
            | ("rbac.authorization.k8s.io", _)
    )
}

/// Kinds whose updates must name a resourceVersion.
fn conditional(key: (&str, &str)) -> bool {
    matches!(
        key,
        (
            "coordination.k8s.io"
                | "apiregistration.k8s.io"
                | "apiextensions.k8s.io"
                | "admissionregistration.k8s.io"
                | "internal.apiserver.k8s.io"
                | "storagemigration.k8s.io",
            _
        ) | ("storage.k8s.io", "VolumeAttachment" | "CSIDriver" | "CSINode" | "CSIStorageCapacity")
            | ("policy", "PodDisruptionBudget")
            | ("node.k8s.io", "RuntimeClass")
            | ("certificates.k8s.io", "ClusterTrustBundle" | "PodCertificateRequest")
    )
}

fn returns_deleted(key: (&str, &str)) -> bool {
    matches!(
        key,
        (
            "",
            "Pod"
                | "Service"
                | "Namespace"
                | "ServiceAccount"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "PodTemplate"
                | "ResourceQuota"
        ) | ("storage.k8s.io" | "resource.k8s.io", _)
    )
}

fn name_rule(key: (&str, &str)) -> NameRule {
    match key {
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") => NameRule::Label,
        ("rbac.authorization.k8s.io" | "policy", _) | ("certificates.k8s.io", "CertificateSigningRequest") => {
            NameRule::PathSegment
        }
        ("", "ReplicationController") | ("resource.k8s.io", "DeviceClass") => NameRule::Declared,
        (
            "certificates.k8s.io" | "apiregistration.k8s.io" | "networking.k8s.io",
            "ClusterTrustBundle" | "APIService" | "IPAddress",
        ) => NameRule::Other,
        _ => NameRule::Subdomain,
    }
}

fn has_status(key: (&str, &str)) -> bool {
    matches!(
        key,
        (
            "",
            "Namespace"
                | "Node"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "Pod"
                | "ReplicationController"
                | "ResourceQuota"
                | "Service"
        ) | ("apps", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("batch", "CronJob" | "Job")
            | ("certificates.k8s.io", "CertificateSigningRequest" | "PodCertificateRequest")
            | ("networking.k8s.io", "Ingress" | "ServiceCIDR")
            | ("policy", "PodDisruptionBudget")
            | ("storage.k8s.io", "VolumeAttachment")
            | ("flowcontrol.apiserver.k8s.io", _)
            | ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("apiregistration.k8s.io", "APIService")
            | ("resource.k8s.io", "ResourceClaim" | "DeviceTaintRule" | "ResourcePoolStatusRequest")
            | ("internal.apiserver.k8s.io", "StorageVersion")
            | ("storagemigration.k8s.io", "StorageVersionMigration")
            | ("scheduling.k8s.io", "PodGroup")
    )
}
