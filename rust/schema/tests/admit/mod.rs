//! The least of admission and allocation that the recorded objects passed through.

use hydrofoil_schema::Kind;
use hydrofoil_types::Value;
use serde_json::Value as Json;

/// Set the addresses of a service that the allocator would.
pub fn create(kind: &Kind, object: &mut Value) {
    if kind.kind == "Service" && kind.group.is_empty() {
        let spec = object.object_at_mut(&["spec"]);
        if spec.str("type") == "ExternalName" {
            return;
        }
        let ip = spec.str("clusterIP").to_owned();
        if ip.is_empty() && !spec.contains_key("clusterIPs") {
            spec.set("clusterIP", Value::from("10.0.0.200"));
            spec.set("clusterIPs", vec![Value::from("10.0.0.200")]);
        } else if !spec.contains_key("clusterIPs") {
            spec.set("clusterIPs", vec![Value::from(ip)]);
        }
        if !spec.contains_key("ipFamilies") {
            spec.set("ipFamilies", vec![Value::from("IPv4")]);
        }
        if !spec.contains_key("ipFamilyPolicy") {
            spec.set("ipFamilyPolicy", Value::from("SingleStack"));
        }
    }
}

/// Remove the fields that differ from run to run, and those that admission adds.
pub fn level(mut body: Json) -> Json {
    let kind = body["kind"].as_str().unwrap_or("").to_owned();
    if let Some(meta) = body["metadata"].as_object_mut() {
        for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generateName", "name"] {
            meta.remove(key);
        }
        if kind.starts_with("PersistentVolume") || ["VolumeAttributesClass", "PodGroup"].contains(&&*kind) {
            meta.remove("finalizers");
        }
        if kind == "StorageClass" {
            meta.remove("annotations");
        }
    }
    let spec = &mut body["spec"];
    if kind == "Service" {
        if let Some(spec) = spec.as_object_mut() {
            for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"] {
                spec.remove(key);
            }
        }
        for port in spec["ports"].as_array_mut().into_iter().flatten() {
            port.as_object_mut().unwrap().remove("nodePort");
        }
    }
    if kind == "Pod"
        && let Some(spec) = spec.as_object_mut()
    {
        for key in ["priority", "preemptionPolicy", "tolerations"] {
            spec.remove(key);
        }
    }
    if kind == "CertificateSigningRequest"
        && let Some(spec) = spec.as_object_mut()
    {
        for key in ["username", "groups", "extra", "uid"] {
            spec.remove(key);
        }
    }
    if kind == "Node"
        && let Some(spec) = spec.as_object_mut()
    {
        spec.remove("taints");
    }
    blank(&mut body);
    body
}

fn blank(value: &mut Json) {
    match value {
        Json::String(s) => {
            let b = s.as_bytes();
            let uid = b.len() == 36 && [8, 13, 18, 23].iter().all(|i| b[*i] == b'-');
            if uid || (b.len() == 20 && b[10] == b'T' && b[19] == b'Z') || s == "<time>" || s == "<uid>" {
                "*".clone_into(s);
            }
        }
        Json::Array(a) => a.iter_mut().for_each(blank),
        Json::Object(m) => m.values_mut().for_each(blank),
        _ => {}
    }
}
