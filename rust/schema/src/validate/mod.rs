//! Validation: the rules of `pkg/apis/<group>/validation` behind the strategies of each kind.

mod access;
mod admission;
mod apiservice;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
pub(crate) mod check;
mod core;
mod crd;
mod discovery;
mod dra;
mod flowcontrol;
pub(crate) mod format;
pub(crate) mod meta;
mod networking;
mod pod;
mod rbac;
pub(crate) mod resource;
mod selector;
mod small;
mod storage;
mod workload;

pub use crd::nonstructural;
use hydrofoil_types::{Causes, Path, Value};

use self::core::{claim, cluster_ips, endpoints, event, limits, node, plain, quota, secret, service, volume};
use self::networking::{address, class, ingress, policy};
use crate::Request;
use crate::read::Read;

/// The causes for which the object may not be created.
pub fn create(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    let c = &mut causes;
    let key = req.kind.key();
    // Kinds whose rules start otherwise than with the metadata.
    match key {
        ("", "Pod") => pod::create(req.kind, object, c),
        ("" | "events.k8s.io", "Event") => event::create(req, object, c),
        ("apps", _) | ("", "ReplicationController") => apps::create(req, object, c),
        ("batch", "Job") => batch::create(req, object, c),
        ("batch", _) => batch::cron_create(req, object, c),
        ("networking.k8s.io", "IPAddress") => address::ip_address(req.kind, object, c),
        ("apiregistration.k8s.io", _) => apiservice::whole(req.kind, object, c),
        ("apiextensions.k8s.io", _) => crd::create(req, object, c),
        ("authorization.k8s.io", _) => access::review(req, object, c),
        ("authentication.k8s.io", _) => {}
        ("policy", _) => {
            rules(req, object, c);
            // Their own validation knows nothing of metadata, which is looked at when it passes.
            if c.is_empty() {
                meta::create(req.kind, object, c);
            }
        }
        _ => {
            meta::create(req.kind, object, c);
            rules(req, object, c);
        }
    }
    causes
}

/// What is wrong with the addresses of a service, which is asked before any are allocated.
pub fn cluster_ips(object: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::new();
    cluster_ips::rules(object.sub("spec"), old.map(|o| o.sub("spec")), &mut causes);
    causes
}

/// What follows the metadata of a new object.
fn rules(req: &Request<'_>, object: &Value, c: &mut Causes) {
    match req.kind.key() {
        ("", "ConfigMap") => plain::config_map(object, c),
        ("", "Secret") => secret::rules(object, c),
        ("", "Namespace") => plain::namespace(object, c),
        ("", "PodTemplate") => plain::pod_template(object, c),
        ("", "Service") => service::rules(object, None, c),
        ("", "Endpoints") => endpoints::rules(object, None, c),
        ("", "LimitRange") => limits::rules(object, c),
        ("", "ResourceQuota") => quota::rules(object, c),
        ("", "Node") => node::rules(object, c),
        ("", "PersistentVolume") => volume::rules(object, c),
        ("", "PersistentVolumeClaim") => {
            claim::spec(object.sub("spec"), &Path::new("spec"), c);
        }
        ("rbac.authorization.k8s.io", _) => rbac::rules(req, object, c),
        ("storage.k8s.io", _) => storage::rules(req, object, c),
        ("coordination.k8s.io", "Lease") => small::lease(object, c),
        ("scheduling.k8s.io", "PriorityClass") => small::priority_class(object, c),
        ("node.k8s.io", _) => small::runtime_class(object, c),
        ("policy", _) => small::budget(object, c),
        ("networking.k8s.io", "Ingress") => ingress::create(object, c),
        ("networking.k8s.io", "IngressClass") => class::rules(object, c),
        ("networking.k8s.io", "NetworkPolicy") => policy::rules(object, c),
        ("networking.k8s.io", "ServiceCIDR") => address::service_cidr(object, c),
        ("discovery.k8s.io", _) => discovery::rules(object, None, c),
        ("autoscaling", "Scale") => autoscaling::scale(object, c),
        ("autoscaling", _) => autoscaling::rules(req.kind, object, c),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => flowcontrol::flow_schema(object, c),
        ("flowcontrol.apiserver.k8s.io", _) => flowcontrol::priority_level(object, c),
        ("certificates.k8s.io", "CertificateSigningRequest") => certificates::rules(object, c),
        ("admissionregistration.k8s.io", kind) => {
            let mutating = kind.starts_with("Mutating");
            if kind.ends_with("Binding") {
                admission::binding(object, mutating, c);
            } else if kind.ends_with("Policy") {
                admission::policy(object, req.old, mutating, c);
            } else {
                admission::webhooks(object, req.old, mutating, c);
            }
        }
        ("resource.k8s.io", "ResourceClaim") => dra::claim(&req.kind.version, object, c),
        ("resource.k8s.io", "ResourceClaimTemplate") => dra::template(&req.kind.version, object, c),
        ("resource.k8s.io", "DeviceClass") => dra::class(object, c),
        ("resource.k8s.io", "ResourceSlice") => dra::slice(&req.kind.version, object, None, c),
        _ => {}
    }
}

/// A check of the metadata that the validation of a kind makes on its own.
enum Metadata {
    /// `ValidateObjectMeta`.
    Object,
    /// `ValidateObjectMetaUpdate`.
    Update,
}

/// Which checks of the metadata the strategy of a kind adds to the common ones of an update.
fn metadata_steps(req: &Request<'_>) -> &'static [Metadata] {
    use Metadata::{Object, Update};
    let (group, kind) = req.kind.key();
    match (group, kind, req.subresource) {
        // Nothing more, or their own validation does it.
        ("", "Event", _)
        | ("policy" | "authentication.k8s.io" | "authorization.k8s.io" | "apiextensions.k8s.io", _, _)
        | ("batch", "Job", _)
        | ("flowcontrol.apiserver.k8s.io" | "admissionregistration.k8s.io", _, "status")
        | ("batch", "CronJob", "status") => &[],
        ("", "LimitRange" | "PersistentVolume", "")
        | (
            "discovery.k8s.io"
            | "flowcontrol.apiserver.k8s.io"
            | "admissionregistration.k8s.io"
            | "internal.apiserver.k8s.io",
            _,
            _,
        )
        | ("storage.k8s.io", "VolumeAttachment" | "CSINode", _) => &[Object],
        ("", "PersistentVolumeClaim" | "ServiceAccount" | "Endpoints", "")
        | ("apps", "ControllerRevision", "")
        | ("networking.k8s.io", "Ingress" | "IngressClass", "")
        | ("storage.k8s.io", "VolumeAttributesClass", "") => &[Update, Object],
        ("", "Namespace" | "Node", "")
        | ("networking.k8s.io", "IPAddress", "")
        | ("rbac.authorization.k8s.io" | "node.k8s.io", _, "")
        | ("resource.k8s.io", "ResourceClaim" | "DeviceClass" | "ResourceClaimTemplate", "")
        | ("certificates.k8s.io", "CertificateSigningRequest", _) => &[Object, Update],
        ("storage.k8s.io", kind, "") if kind != "CSIDriver" => &[Object, Update],
        _ => &[Update],
    }
}

/// The causes for which the object may not be updated.
pub fn update(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    let Some(old) = req.old else { return causes };
    let c = &mut causes;
    meta::common_update(req.kind, object, old, c);
    for step in metadata_steps(req) {
        match step {
            Metadata::Object => meta::create(req.kind, object, c),
            Metadata::Update => meta::update(req.kind, object, old, c),
        }
    }
    match req.kind.key() {
        ("", "Pod") => pod::update(req, object, old, c),
        ("" | "events.k8s.io", "Event") => event::update(req, object, old, c),
        ("apps", _) | ("", "ReplicationController") => apps::update(req, object, old, c),
        ("batch", "Job") => batch::update(req, object, old, c),
        ("batch", _) => batch::cron_update(req, object, old, c),
        ("", "Namespace") => plain::namespace_update(req, object, c),
        ("", "Node") => {
            if req.subresource.is_empty() {
                node::rules(object, c);
            }
            node::update(object, old, c);
        }
        ("", "PersistentVolume") => volume::update(req, object, old, c),
        ("", "PersistentVolumeClaim") => claim::update(req, object, old, c),
        ("", "ResourceQuota") => quota::update(req, object, old, c),
        ("", "Service") => service::update(req, object, old, c),
        ("apiextensions.k8s.io", _) => crd::update(req, object, old, c),
        ("networking.k8s.io", "Ingress") => ingress::update(req, object, old, c),
        key => {
            let status = req.subresource == "status";
            match key {
                ("rbac.authorization.k8s.io", _) => rbac::update(req, object, old, c),
                ("storage.k8s.io", _) => storage::update(req, object, old, c),
                ("scheduling.k8s.io", "PriorityClass") => small::priority_class_update(object, old, c),
                ("node.k8s.io", _) => small::runtime_class_update(object, old, c),
                ("policy", _) if status => small::budget_status(object, c),
                ("networking.k8s.io", "IngressClass") => class::update(object, old, c),
                ("networking.k8s.io", "IPAddress") => address::ip_address_update(object, old, c),
                ("networking.k8s.io", "ServiceCIDR") if status => {}
                ("networking.k8s.io", "ServiceCIDR") => address::service_cidr_update(object, old, c),
                ("discovery.k8s.io", _) => discovery::rules(object, Some(old), c),
                ("autoscaling", _) if status => autoscaling::status(object, c),
                ("certificates.k8s.io", "CertificateSigningRequest") => certificates::update(req, object, old, c),
                ("admissionregistration.k8s.io", _) if status => admission::status(object, c),
                ("resource.k8s.io", "ResourceSlice") => dra::slice(&req.kind.version, object, Some(old), c),
                ("resource.k8s.io", "ResourceClaim" | "ResourceClaimTemplate" | "DeviceClass") => {
                    dra::update(req, object, old, c);
                }
                ("apiregistration.k8s.io", _) if status => apiservice::status(object, c),
                ("apiregistration.k8s.io", _) => apiservice::whole(req.kind, object, c),
                ("", "Secret") => secret::update(req, object, old, c),
                ("", "ConfigMap") => {
                    plain::immutable(object, old, &["data", "binaryData"], c);
                    meta::create(req.kind, object, c);
                    plain::config_map(object, c);
                }
                ("", "Endpoints") => endpoints::rules(object, Some(old), c),
                _ => rules(req, object, c),
            }
        }
    }
    causes
}
