//! Warnings of services, volumes, claims, nodes, secrets, service accounts and ingresses.

use hydrofoil_types::{Path, Value};

use super::{address, node as labels};
use crate::read::Read;
use crate::validate::resource::quantity;

/// The annotation of service accounts that is on its way out.
pub(crate) const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Whether `MilliValue() % 1000` is not 0; amounts past an i64 are cut to its end, so they are fractional.
pub(crate) fn fractional(of: &Value, name: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let Some(value) = of.opt(name) else { return };
    let milli = quantity(value).milli();
    if milli.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) % 1000 != 0 {
        out.push(format!(
            "{}: fractional byte value \"{}\" is invalid, must be an integer",
            path.key(name),
            value.as_str().unwrap_or("")
        ));
    }
}

/// `GetWarningsForPersistentVolumeClaimSpec`.
pub(crate) fn claim(spec: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    let at = path.child("resources");
    for key in ["requests", "limits"] {
        fractional(spec.sub("resources").sub(key), "storage", &at.child(key), out);
    }
}

/// The class of volumes and claims by annotation.
pub(crate) fn storage_annotation(object: &Value, out: &mut Vec<String>) {
    if object.sub("metadata").sub("annotations").has(CLASS) {
        out.push(format!(
            "metadata.annotations[{CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
}

/// `GetWarningsForPersistentVolume`.
pub(crate) fn volume(object: &Value, out: &mut Vec<String>) {
    storage_annotation(object, out);
    let spec = object.sub("spec");
    if spec.s("persistentVolumeReclaimPolicy") == "Recycle" {
        out.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".into());
    }
    let path = Path::new("spec");
    let path = path.child("nodeAffinity");
    let path = path.child("required");
    let path = path.child("nodeSelectorTerms");
    let terms = spec.sub("nodeAffinity").sub("required").list("nodeSelectorTerms");
    for (i, term) in terms.iter().enumerate() {
        labels::expressions(term, "matchExpressions", &path.index(i), out);
    }
    for (key, told) in [
        ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
        ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
        ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
        ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
        ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
        ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
    ] {
        if spec.has(key) {
            // The path is upstream's spelling, not the field's.
            let name = if key == "storageos" { "storageOS" } else { key };
            out.push(format!("spec.{name}: {told}"));
        }
    }
}

/// `GetWarningsForService`.
pub(crate) fn service(object: &Value, out: &mut Vec<String>) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let spec = object.sub("spec");
    let path = Path::new("spec");
    if object.sub("metadata").sub("annotations").has(HINTS) {
        out.push(format!("annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"));
    }
    let kind = spec.s("type");
    let external = kind == "ExternalName";
    let headless = kind == "ClusterIP" && spec.s("clusterIP") == "None";
    let outside = !spec.list("externalIPs").is_empty();
    if !matches!(spec.s("clusterIP"), "" | "None") {
        address::ips(spec, "clusterIPs", &path, out);
    }
    if headless {
        if !spec.s("loadBalancerIP").is_empty() {
            out.push("spec.loadBalancerIP is ignored for headless services".into());
        }
        if outside {
            out.push("spec.externalIPs is ignored for headless services".into());
        }
        if spec.s("sessionAffinity") != "None" {
            out.push("spec.SessionAffinity is ignored for headless services".into());
        }
    }
    address::ips(spec, "externalIPs", &path, out);
    if outside && !headless && !external {
        out.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".into());
    }
    if !spec.s("loadBalancerIP").is_empty() {
        address::ip(spec.s("loadBalancerIP"), &path.child("loadBalancerIP"), out);
    }
    let ranges = path.child("loadBalancerSourceRanges");
    for (i, text) in spec.list("loadBalancerSourceRanges").iter().enumerate() {
        address::cidr(text.as_str().unwrap_or(""), &ranges.index(i), out);
    }
    if external && outside {
        out.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".into());
    }
    if !external && !spec.s("externalName").is_empty() {
        out.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".into());
    }
    if spec.s("trafficDistribution") == "PreferClose" {
        out.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".into());
    }
}

/// `fieldIsDeprecatedWarnings` of nodes, and their blocks of addresses.
pub(crate) fn node(object: &Value, out: &mut Vec<String>) {
    let spec = object.sub("spec");
    if spec.has("configSource") {
        out.push("spec.configSource: the feature is removed".into());
    }
    if !spec.s("externalID").is_empty() {
        out.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".into());
    }
    let path = Path::new("spec");
    let path = path.child("podCIDRs");
    for (i, text) in spec.list("podCIDRs").iter().enumerate() {
        address::cidr(text.as_str().unwrap_or(""), &path.index(i), out);
    }
}

/// `warningsForSecret`: what `tls.X509KeyPair` says of a pair without any PEM.
pub(crate) fn secret(object: &Value, out: &mut Vec<String>) {
    use base64::Engine as _;
    if object.s("type") != "kubernetes.io/tls" {
        return;
    }
    let data = object.sub("data");
    for (key, name) in [("tls.crt", "certificate"), ("tls.key", "key")] {
        let bytes = base64::engine::general_purpose::STANDARD.decode(data.s(key)).unwrap_or_default();
        if !bytes.windows(11).any(|w| w == b"-----BEGIN ") {
            out.push(format!("tls: failed to find any PEM data in {name} input"));
            return;
        }
    }
}

/// `warnIfHasEnforceMountableSecretsAnnotation`.
pub(crate) fn service_account(object: &Value, out: &mut Vec<String>) {
    if object.sub("metadata").sub("annotations").has(MOUNTABLE) {
        out.push(format!(
            "metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        ));
    }
}

/// The class of ingresses by annotation.
pub(crate) fn ingress(object: &Value, out: &mut Vec<String>) {
    let annotated = object.sub("metadata").sub("annotations").has("kubernetes.io/ingress.class");
    if annotated && !object.sub("spec").has("ingressClassName") {
        out.push(
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
                .into(),
        );
    }
}
