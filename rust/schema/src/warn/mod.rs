//! Warnings: `WarningsOnCreate` and `WarningsOnUpdate` of the strategies.

mod address;
mod core;
mod format;
mod node;
mod pod;
mod ports;
mod workload;

use hydrofoil_types::{Path, Value};

use crate::Request;
use crate::read::Read;

/// `WarningsOnCreate` of the kind's strategy, for an object that is prepared and valid.
#[must_use]
pub fn create(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut told = Vec::new();
    let out = &mut told;
    match req.kind.key() {
        ("", "Pod") => {
            workload::name(object, "the Pod's hostname", out);
            pod::apparmor(object, out);
            pod::warnings(object, &Path::root(), false, out);
        }
        ("", "PersistentVolume") => core::volume(object, out),
        ("", "ServiceAccount") => core::service_account(object, out),
        ("discovery.k8s.io", "EndpointSlice") => {
            if object.s("addressType") == "FQDN" {
                out.push("spec.addressType: FQDN endpoints are deprecated".into());
            }
            address::slice(object, out);
        }
        ("networking.k8s.io", "Ingress") => core::ingress(object, out),
        ("storage.k8s.io", "StorageClass") => node::storage_class(object, out),
        ("storage.k8s.io", "CSIStorageCapacity") => {
            node::selector(object.sub("nodeTopology"), &Path::new("nodeTopology"), out);
        }
        ("storage.k8s.io", "CSIDriver") => node::driver(object, &Value::Null, out),
        ("resource.k8s.io", "ResourceSlice") => node::driver_name(object, out),
        ("node.k8s.io", "RuntimeClass") => node::runtime_class(object, out),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => format::definition(object, out),
        ("apps" | "batch", _) | ("", "ReplicationController" | "PodTemplate") => {
            workload::create(req.kind, object, out);
        }
        _ => both(req, object, out),
    }
    told
}

/// `WarningsOnUpdate` of the kind's strategy; those of subresources give none.
#[must_use]
pub fn update(req: &Request<'_>, object: &Value) -> Vec<String> {
    let mut told = Vec::new();
    let Some(old) = req.old else { return told };
    let out = &mut told;
    if !req.subresource.is_empty() {
        return told;
    }
    match req.kind.key() {
        // People seldom update pods themselves.
        ("", "Pod") => {}
        ("", "PersistentVolume") => core::volume(object, out),
        ("", "ServiceAccount") if old.sub("metadata").sub("annotations").has(core::MOUNTABLE) => {}
        ("", "ServiceAccount") => core::service_account(object, out),
        ("discovery.k8s.io", "EndpointSlice") => address::slice(object, out),
        ("storage.k8s.io", "StorageClass") => node::storage_class(object, out),
        ("storage.k8s.io", "CSIStorageCapacity") => {
            node::selector(object.sub("nodeTopology"), &Path::new("nodeTopology"), out);
        }
        ("storage.k8s.io", "CSIDriver") => node::driver(object, old, out),
        ("resource.k8s.io", "ResourceSlice") => node::driver_name(object, out),
        ("node.k8s.io", "RuntimeClass") => node::runtime_class(object, out),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => format::definition(object, out),
        ("apps" | "batch", _) | ("", "ReplicationController" | "PodTemplate") => {
            workload::update(req.kind, object, old, out);
        }
        _ => both(req, object, out),
    }
    told
}

/// The kinds that warn alike at both.
fn both(req: &Request<'_>, object: &Value, out: &mut Vec<String>) {
    match req.kind.key() {
        ("", "PersistentVolumeClaim") => {
            core::storage_annotation(object, out);
            core::claim(object.sub("spec"), &Path::new("spec"), out);
        }
        ("", "Service") => core::service(object, out),
        ("", "Endpoints") => address::endpoints(object, out),
        ("", "Node") => core::node(object, out),
        ("", "Secret") => core::secret(object, out),
        ("networking.k8s.io", "NetworkPolicy") => address::policy(object, out),
        _ => {}
    }
}
