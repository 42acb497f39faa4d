//! Environment variables and the downward API.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use crate::format::{label, name, text};
use hydrofoil_types::read::Read;

const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The fields that files of the downward API may refer to.
pub const FILE_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// `ValidateEnv`.
pub fn env(vars: &[Value], path: &Path<'_>, causes: &mut Causes) {
    for (i, var) in vars.iter().enumerate() {
        let at = path.index(i);
        if var.zero("name") {
            causes.need(&at.child("name"));
        } else {
            causes.format(&at.child("name"), var.text("name"), text::env_name);
        }
        if let Some(from) = var.opt("valueFrom") {
            value_from(var, from, &at.child("valueFrom"), causes);
        }
    }
}

fn value_from(var: &Value, from: &Value, path: &Path<'_>, causes: &mut Causes) {
    let mut sources = 0;
    if let Some(r) = from.opt("fieldRef") {
        sources += 1;
        field_ref(r, &ENV_FIELDS, &path.child("fieldRef"), causes);
    }
    if let Some(r) = from.opt("resourceFieldRef") {
        sources += 1;
        resource_ref(r, false, &path.child("resourceFieldRef"), causes);
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(r) = from.opt(key) {
            sources += 1;
            let at = path.child(key);
            causes.format(&at.child("name"), r.text("name"), name::subdomain);
            if r.zero("key") {
                causes.need(&at.child("key"));
            } else {
                causes.format(&at.child("key"), r.text("key"), name::config_key);
            }
        }
    }
    if let Some(r) = from.opt("fileKeyRef") {
        sources += 1;
        file_ref(r, &path.child("fileKeyRef"), causes);
    }
    if sources == 0 {
        let detail =
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        causes.invalid_str(path, "", detail);
    } else if !var.zero("value") {
        causes.invalid_str(path, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        causes.invalid_str(path, "", "may not have more than one field specified at a time");
    }
}

fn file_ref(r: &Value, path: &Path<'_>, causes: &mut Causes) {
    if r.zero("key") {
        causes.need(&path.child("key"));
    } else {
        causes.format(&path.child("key"), r.text("key"), text::env_name);
    }
    if r.zero("volumeName") {
        causes.need(&path.child("volumeName"));
    } else {
        causes.format(&path.child("volumeName"), r.text("volumeName"), name::label);
    }
    if r.zero("path") {
        causes.need(&path.child("path"));
    } else {
        super::path::no_backsteps(r.text("path"), &path.child("path"), causes);
    }
}

/// `validateObjectFieldSelector`.
pub fn field_ref(r: &Value, fields: &[&str], path: &Path<'_>, causes: &mut Causes) {
    let (version, field) = (r.text("apiVersion"), r.text("fieldPath"));
    if version.is_empty() {
        return causes.need(&path.child("apiVersion"));
    }
    let at = path.child("fieldPath");
    if field.is_empty() {
        return causes.need(&at);
    }
    if version != "v1" {
        let detail = format!("error converting fieldPath: unsupported pod version: {version}");
        return causes.invalid_str(&at, field, &detail);
    }
    if let Some((base, key)) =
        field.strip_suffix(']').and_then(|f| f.split_once("['")).and_then(|(b, k)| k.strip_suffix('\'').map(|k| (b, k)))
    {
        return match base {
            "metadata.annotations" => {
                let key = key.to_lowercase();
                causes.format(path, &key, label::key);
            }
            "metadata.labels" => causes.format(path, key, label::key),
            _ => {
                let detail = format!("error converting fieldPath: field label does not support subscript: {field}");
                causes.invalid_str(&at, field, &detail);
            }
        };
    }
    let known = ENV_FIELDS.contains(&field)
        || FILE_FIELDS.contains(&field)
        || matches!(field, "spec.restartPolicy" | "spec.schedulerName" | "status.phase");
    // `spec.host` is the old name of `spec.nodeName`.
    let converted = if field == "spec.host" { "spec.nodeName" } else { field };
    if !known && field != "spec.host" {
        let detail = format!("error converting fieldPath: field label not supported: {field}");
        causes.invalid_str(&at, field, &detail);
    } else if !fields.contains(&converted) {
        causes.unsupported(&at, converted, fields);
    }
}

/// `validateContainerResourceFieldSelector`.
pub fn resource_ref(r: &Value, volume: bool, path: &Path<'_>, causes: &mut Causes) {
    let resource = r.text("resource");
    if volume && r.zero("containerName") {
        causes.need(&path.child("containerName"));
    } else if resource.is_empty() {
        causes.need(&path.child("resource"));
    } else if !RESOURCES.contains(&resource)
        && !resource.starts_with("requests.hugepages-")
        && !resource.starts_with("limits.hugepages-")
    {
        causes.unsupported(&path.child("resource"), resource, &RESOURCES);
    }
    divisor(resource, r.text("divisor"), &path.child("divisor"), causes);
}

fn divisor(resource: &str, divisor: &str, path: &Path<'_>, causes: &mut Causes) {
    const SIZES: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
    if divisor.is_empty() || divisor == "0" {
        return;
    }
    let noun = match resource {
        "limits.cpu" | "requests.cpu" => {
            if !matches!(divisor, "1" | "1m") {
                let detail = "only divisor's values 1m and 1 are supported with the cpu resource";
                causes.invalid_str(path, resource, detail);
            }
            return;
        }
        "limits.memory" | "requests.memory" => "memory",
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => "local ephemeral storage",
        other if other.starts_with("requests.hugepages-") || other.starts_with("limits.hugepages-") => "hugepages",
        _ => return,
    };
    if !SIZES.contains(&divisor) {
        let detail = format!(
            "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the {noun} resource"
        );
        causes.invalid_str(path, resource, &detail);
    }
}

/// `ValidateEnvFrom`.
pub fn env_from(sources: &[Value], path: &Path<'_>, causes: &mut Causes) {
    for (i, source) in sources.iter().enumerate() {
        let at = path.index(i);
        if !source.zero("prefix") {
            causes.format(&at.child("prefix"), source.text("prefix"), text::env_name);
        }
        let mut count = 0;
        for key in ["configMapRef", "secretRef"] {
            let Some(r) = source.opt(key) else { continue };
            count += 1;
            let at = at.child(key);
            let at = at.child("name");
            if r.zero("name") {
                causes.need(&at);
            } else {
                let masked = name::mask_trailing_dash(r.text("name"));
                name::subdomain(&masked, &mut |detail| causes.invalid_str(&at, r.text("name"), detail));
            }
        }
        if count == 0 {
            causes.invalid_str(path, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if count > 1 {
            causes.invalid_str(path, "", "may not have more than one field specified at a time");
        }
    }
}

/// `validateFileKeyRefVolumes`.
pub fn file_volumes(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let mut volumes = None;
    super::each_container(pod, path, &mut |container, at| {
        let at = at.child("env");
        for (i, var) in container.list("env").iter().enumerate() {
            let Some(r) = var.field("valueFrom").opt("fileKeyRef") else { continue };
            let at = at.index(i);
            let at = at.child("valueFrom");
            let at = at.child("fileKeyRef");
            let at = at.child("volumeName");
            let wanted = r.text("volumeName");
            match volumes.get_or_insert_with(|| super::by_name(pod.list("volumes"))).last(&wanted) {
                None => causes.not_found(&at, &Value::from(wanted)),
                Some(volume) if !volume.has("emptyDir") => {
                    causes.invalid_str(&at, wanted, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    });
}
