//! Sources that volumes of pods and persistent volumes share.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_types::{Causes, Path, Value};

use super::path;
use crate::check::Check;
use crate::format::name;
use hydrofoil_types::read::Read;

/// The message for a name and portal that are too long together.
pub const ISCSI_TOO_LONG: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
/// Upstream's message, though 0 is allowed.
const PARTITION: &str = "must be between 1 and 255, inclusive";

/// Return the fields that must be set, by source.
fn required_fields(key: &str) -> &'static [&'static str] {
    match key {
        "gcePersistentDisk" => &["pdName"],
        "awsElasticBlockStore" | "cinder" | "portworxVolume" => &["volumeID"],
        "nfs" => &["server", "path"],
        "glusterfs" => &["endpoints", "path"],
        "rbd" => &["monitors", "image"],
        "cephfs" => &["monitors"],
        "flexVolume" => &["driver"],
        "azureFile" => &["secretName", "shareName"],
        "vsphereVolume" => &["volumePath"],
        "photonPersistentDisk" => &["pdID"],
        "scaleIO" => &["gateway", "system", "volumeName"],
        "azureDisk" => &["diskName", "diskURI"],
        _ => &[],
    }
}

fn need(value: &Value, key: &str, at: &Path<'_>, causes: &mut Causes) {
    if value.zero(key) {
        causes.need(&at.child(key));
    }
}

/// Validate a source of a pod's volume.
pub fn volume_source(key: &str, value: &Value, at: &Path<'_>, causes: &mut Causes) {
    for field in required_fields(key) {
        need(value, field, at, causes);
    }
    match key {
        "hostPath" => host_path(value, at, causes),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let partition = value.int("partition");
            if !(0..=255).contains(&partition) {
                causes.invalid_int(&at.child("partition"), partition, PARTITION);
            }
        }
        "nfs" if !value.text("path").starts_with('/') => {
            causes.invalid_str(&at.child("path"), value.text("path"), "must be an absolute path");
        }
        "iscsi" => iscsi(value, true, at, causes),
        "flocker" => flocker(value, at, causes),
        "quobyte" => quobyte(value, at, causes),
        "fc" => fibre(value, at, causes),
        "flexVolume" => flex(value, at, causes),
        "azureDisk" => azure_disk(value, at, causes),
        "storageos" => storage_os(value, at, causes),
        "cinder" => {
            if let Some(secret) = value.opt("secretRef") {
                let at = at.child("secretRef");
                need(secret, "name", &at, causes);
            }
        }
        _ => {}
    }
}

/// Validate a source of a persistent volume, where the rules are stricter.
pub fn persistent(key: &str, value: &Value, pv: &str, at: &Path<'_>, causes: &mut Causes) {
    match key {
        "iscsi" => {
            if value.zero("targetPortal") {
                causes.need(&at.child("targetPortal"));
            }
            if value.has("initiatorName") && pv.len() + 1 + value.text("targetPortal").len() > 64 {
                causes.invalid_str(&at.child("targetportal"), value.text("targetPortal"), ISCSI_TOO_LONG);
            }
            iscsi(value, false, at, causes);
        }
        "csi" => {
            csi_driver_name(value.text("driver"), &at.child("driver"), causes);
            need(value, "volumeHandle", at, causes);
            for key in [
                "controllerPublishSecretRef",
                "controllerExpandSecretRef",
                "nodePublishSecretRef",
                "nodeExpandSecretRef",
            ] {
                if let Some(secret) = value.opt(key) {
                    secret_ref(secret, &at.child(key), causes);
                }
            }
        }
        "local" => {
            if value.zero("path") {
                causes.need(&at.child("path"));
            } else {
                path::no_backsteps(value.text("path"), &at.child("path"), causes);
            }
        }
        other => {
            volume_source(other, value, at, causes);
            match other {
                "glusterfs" => {
                    if let Some(namespace) = value.opt("endpointsNamespace") {
                        let (at, namespace) = (at.child("endpointsNamespace"), namespace.as_str().unwrap_or(""));
                        if namespace.is_empty() {
                            let detail = "if the endpointnamespace is set, it must be a valid namespace name";
                            causes.invalid_str(&at, "", detail);
                        } else {
                            causes.format(&at, namespace, name::label);
                        }
                    }
                }
                "azureFile" if value.opt("secretNamespace").is_some_and(Value::is_zero) => {
                    causes.need(&at.child("secretNamespace"));
                }
                "cinder" | "storageos" => {
                    if let Some(secret) = value.opt("secretRef") {
                        let at = at.child("secretRef");
                        need(secret, "namespace", &at, causes);
                    }
                }
                _ => {}
            }
        }
    }
}

/// `validatePVSecretReference`.
fn secret_ref(secret: &Value, at: &Path<'_>, causes: &mut Causes) {
    for (key, format) in [("name", name::subdomain as crate::format::Format), ("namespace", name::label)] {
        if secret.zero(key) {
            causes.need(&at.child(key));
        } else {
            causes.format(&at.child(key), secret.text(key), format);
        }
    }
}

/// `ValidateCSIDriverName`.
pub fn csi_driver_name(driver: &str, at: &Path<'_>, causes: &mut Causes) {
    if driver.is_empty() {
        return causes.need(at);
    }
    if driver.len() > 63 {
        causes.too_long(at, 63);
    }
    name::subdomain(&driver.to_lowercase(), &mut |detail| causes.invalid_str(at, driver, detail));
}

fn host_path(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    if value.zero("path") {
        return causes.need(&at.child("path"));
    }
    path::no_backsteps(value.text("path"), &at.child("path"), causes);
    if let Some(kind) = value.opt("type") {
        let kinds =
            ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
        causes.one_of(&at.child("type"), kind.as_str().unwrap_or(""), &kinds);
    }
}

fn iscsi(value: &Value, in_pod: bool, at: &Path<'_>, causes: &mut Causes) {
    if in_pod {
        need(value, "targetPortal", at, causes);
    }
    let unknown = if in_pod { "must be valid format starting with iqn, eui, or naa" } else { "must be valid format" };
    let iqn = value.text("iqn");
    if iqn.is_empty() {
        causes.need(&at.child("iqn"));
    } else if !known_prefix(iqn) {
        causes.invalid_str(&at.child("iqn"), iqn, unknown);
    } else if !initiator(iqn) {
        causes.invalid_str(&at.child("iqn"), iqn, "must be valid format");
    }
    let lun = value.int("lun");
    causes.range(&at.child("lun"), lun, 0, 255);
    let secret = value.opt("secretRef");
    if (value.flag("chapAuthDiscovery") || value.flag("chapAuthSession")) && secret.is_none() {
        causes.need(&at.child("secretRef"));
    }
    if let (false, Some(secret)) = (in_pod, secret) {
        let at = at.child("secretRef");
        need(secret, "name", &at, causes);
    }
    if let Some(name) = value.opt("initiatorName") {
        let (at, name) = (at.child("initiatorname"), name.as_str().unwrap_or(""));
        if !known_prefix(name) {
            causes.invalid_str(&at, name, unknown);
        } else if !initiator(name) {
            causes.invalid_str(&at, name, "must be valid format");
        }
    }
}

fn known_prefix(text: &str) -> bool {
    ["iqn", "eui", "naa"].iter().any(|p| text.starts_with(p))
}

/// `iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`, `^eui.[[:alnum:]]{16}$`, `^naa.[[:alnum:]]{32}$`.
fn initiator(text: &str) -> bool {
    let exactly = |rest: &str, n: usize| rest.len() == n && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    let tail = || text.char_indices().nth(4).map_or("", |(i, _)| &text[i..]);
    if text.starts_with("eui") {
        return exactly(tail(), 16);
    }
    if text.starts_with("naa") {
        return exactly(tail(), 32);
    }
    let digits = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_digit());
    let Some((date, rest)) = text.strip_prefix("iqn.").and_then(|t| t.split_once('.')) else { return false };
    let Some((year, month)) = date.split_once('-') else { return false };
    let Some((authority, label)) = rest.split_once(':') else { return false };
    digits(year, 4)
        && digits(month, 2)
        && !authority.is_empty()
        && authority.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'))
        && !label.is_empty()
        && !label.chars().any(|c| ",;*&$|".contains(c) || c.is_ascii_whitespace())
}

fn flocker(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    let (name, uuid) = (value.text("datasetName"), value.text("datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        causes.required(at, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !uuid.is_empty() {
        causes.invalid_str(at, "resource", "datasetName and datasetUUID can not be specified simultaneously");
    }
    if name.contains('/') {
        causes.invalid_str(&at.child("datasetName"), name, "must not contain '/'");
    }
}

fn quobyte(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    const PAIR: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = value.text("registry");
    if registry.is_empty() {
        causes.required(&at.child("registry"), PAIR);
    } else if value.text("tenant").len() >= 65 {
        causes.required(&at.child("tenant"), "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for pair in registry.split(',') {
            if !splits(pair) {
                causes.invalid_str(&at.child("registry"), registry, PAIR);
            }
        }
    }
    need(value, "volume", at, causes);
}

/// Report whether Go's `net.SplitHostPort` accepts a text.
fn splits(pair: &str) -> bool {
    match pair.strip_prefix('[') {
        Some(rest) => rest.split_once(']').is_some_and(|(host, port)| {
            port.starts_with(':') && !port[1..].contains([':', '[', ']']) && !host.contains('[')
        }),
        None => pair.split_once(':').is_some_and(|(host, port)| {
            !port.contains(':') && !host.contains(['[', ']']) && !port.contains(['[', ']'])
        }),
    }
}

fn fibre(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    let (names, ids) = (value.list("targetWWNs"), value.list("wwids"));
    if names.is_empty() && ids.is_empty() {
        causes.required(&at.child("targetWWNs"), "must specify either targetWWNs or wwids, but not both");
    }
    if !names.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        causes.invalid(&at.child("targetWWNs"), value.field("targetWWNs"), detail);
    }
    if !names.is_empty() {
        match value.opt_int("lun") {
            None => causes.required(&at.child("lun"), "lun is required if targetWWNs is specified"),
            Some(lun) => causes.range(&at.child("lun"), lun, 0, 255),
        }
    }
}

fn flex(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    let at = at.child("options");
    for (key, _) in value.entries("options") {
        let space = format!(".{}", key.split('/').next().unwrap_or("").to_lowercase());
        if space.ends_with(".kubernetes.io") || space.ends_with(".k8s.io") {
            causes.invalid_str(&at.key(key), key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

fn azure_disk(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    if let Some(mode) = value.opt("cachingMode") {
        causes.one_of(&at.child("cachingMode"), mode.as_str().unwrap_or(""), &["None", "ReadOnly", "ReadWrite"]);
    }
    let Some(kind) = value.opt("kind").map(|k| k.as_str().unwrap_or("")) else { return };
    causes.one_of(&at.child("kind"), kind, &["Dedicated", "Managed", "Shared"]);
    let uri = value.text("diskURI");
    if kind == "Managed" && !uri.starts_with("/subscriptions/") {
        let form = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        causes.unsupported(&at.child("diskURI"), uri, &[form]);
    }
    if kind != "Managed" && !uri.starts_with("https://") {
        let form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
        causes.unsupported(&at.child("diskURI"), uri, &[form]);
    }
}

fn storage_os(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    if value.zero("volumeName") {
        causes.need(&at.child("volumeName"));
    } else {
        causes.format(&at.child("volumeName"), value.text("volumeName"), name::label);
    }
    if !value.zero("volumeNamespace") {
        causes.format(&at.child("volumeNamespace"), value.text("volumeNamespace"), name::label);
    }
    if let Some(secret) = value.opt("secretRef") {
        let at = at.child("secretRef");
        need(secret, "name", &at, causes);
    }
}
