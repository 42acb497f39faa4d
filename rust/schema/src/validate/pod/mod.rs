//! Pods and their templates (`pkg/apis/core/validation/validation.go`).

mod affinity;
mod annotations;
mod container;
mod env;
mod level;
mod mount;
mod network;
mod os;
mod path;
mod probe;
mod projected;
mod scheduling;
mod security;
mod source;
mod status;
mod update;
mod volume;
mod windows;

use hydrofoil_types::{Causes, Lookup, Path, Value};

use super::check::Check;
use super::format::name;
use super::meta;
use super::resource::Claims;
use crate::read::Read;
pub(crate) use probe::port;
pub(crate) use scheduling::{taint_effect, tolerations};
pub(crate) use source::{csi_driver_name, persistent};
pub(crate) use update::update;

/// Items by their names.
pub(super) type Named<'a> = Lookup<'a, &'a str, fn(&'a Value) -> &'a str>;

/// What the checks of one pod spec share.
pub(super) struct Checked<'a> {
    pub spec: &'a Value,
    /// The volumes that are right themselves: others count as missing.
    pub volumes: Named<'a>,
    pub claims: Claims<'a>,
    pub grace: Option<i64>,
    pub host_users: bool,
    /// Whether it is a pod and no template.
    pub is_pod: bool,
}

/// `ValidatePodCreate`.
pub(crate) fn create(kind: &crate::Kind, object: &Value, causes: &mut Causes) {
    metadata_and_spec(kind, object, causes);
    let (pod, at) = (object.sub("spec"), Path::new("spec"));
    if !pod.list("ephemeralContainers").is_empty() {
        causes.forbidden(&at.child("ephemeralContainers"), "cannot be set on create");
    }
    if !pod.zero("nodeName") && !pod.list("schedulingGates").is_empty() {
        causes.forbidden(&at.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
    annotations::seccomp_matches(object.sub("metadata"), pod, &at, causes);
    annotations::app_armor_matches(object.sub("metadata"), pod, &at, causes);
}

/// `validatePodMetadataAndSpec`.
pub(super) fn metadata_and_spec(kind: &crate::Kind, object: &Value, causes: &mut Causes) {
    meta::create(kind, object, causes);
    let (pod, metadata, at) = (object.sub("spec"), object.sub("metadata"), Path::new("spec"));
    annotations::check(metadata, pod, &Path::new("metadata").child("annotations"), causes);
    spec(pod, Some(metadata), &at, causes);
    if pod.zero("serviceAccountName") {
        let at = at.child("volumes");
        for (i, volume) in pod.list("volumes").iter().enumerate() {
            for (j, source) in volume.sub("projected").list("sources").iter().enumerate() {
                if source.has("serviceAccountToken") {
                    let at = at.index(i);
                    let (at, detail) =
                        (at.child("projected"), "must not be specified when serviceAccountName is not set");
                    let at = at.child("sources");
                    let at = at.index(j);
                    causes.forbidden(&at.child("serviceAccountToken"), detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        let at = at.child(list);
        for (i, container) in pod.list(list).iter().enumerate() {
            container::image_is_trimmed(container, &at.index(i), causes);
        }
    }
}

/// `ValidatePodTemplateSpec`.
pub(crate) fn template(template: &Value, path: &Path<'_>, causes: &mut Causes) {
    template_metadata(template, path, causes);
    let (metadata, pod, at) = (template.sub("metadata"), template.sub("spec"), path.child("spec"));
    spec(pod, None, &at, causes);
    annotations::seccomp_matches(metadata, pod, &at, causes);
    if !pod.list("ephemeralContainers").is_empty() {
        causes.forbidden(&at.child("ephemeralContainers"), "ephemeral containers not allowed in pod template");
    }
}

/// Labels and annotations of a template.
pub(crate) fn template_metadata(template: &Value, path: &Path<'_>, causes: &mut Causes) {
    let metadata = template.sub("metadata");
    meta::labels(metadata.get("labels"), &path.child("labels"), causes);
    meta::annotations(metadata, &path.child("annotations"), causes);
    annotations::check(metadata, template.sub("spec"), &path.child("annotations"), causes);
}

/// `ValidatePodSpec`.
pub(super) fn spec(pod: &Value, metadata: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let mut at = Checked {
        spec: pod,
        volumes: named([]),
        claims: Claims::of(pod.list("resourceClaims")),
        grace: pod.oi("terminationGracePeriodSeconds"),
        host_users: pod.get("hostUsers").and_then(Value::as_bool).unwrap_or(true),
        is_pod: metadata.is_some(),
    };
    if at.grace.is_none() {
        causes.need(&path.child("terminationGracePeriodSeconds"));
    }
    at.volumes = volume::volumes(&at, metadata, &path.child("volumes"), causes);
    scheduling::claims(pod.list("resourceClaims"), metadata, &path.child("resourceClaims"), causes);
    container::all(&at, path, causes);
    level::resources(&at, path, causes);
    network::host_ports(&at, path, causes);
    causes.one_of_required(&path.child("restartPolicy"), pod.s("restartPolicy"), &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    causes.one_of_required(&path.child("dnsPolicy"), pod.s("dnsPolicy"), &policies);
    meta::labels(pod.get("nodeSelector"), &path.child("nodeSelector"), causes);
    security::pod(pod, path, causes);
    affinity::check(pod.sub("affinity"), &path.child("affinity"), causes);
    network::dns(pod, &path.child("dnsConfig"), causes);
    scheduling::gates(pod, path, causes);
    scheduling::spread(pod.list("topologySpreadConstraints"), &path.child("topologySpreadConstraints"), causes);
    windows::host_process(pod, path, causes);
    security::host_users(&at, path, causes);
    network::hostname_override(pod, &path.child("hostnameOverride"), causes);
    names(pod, path, causes);
    if let Some(policy) = pod.opt("preemptionPolicy") {
        let policy = policy.as_str().unwrap_or("");
        causes.one_of_required(&path.child("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
    if let Some(overhead) = pod.opt("overhead") {
        let holder = hydrofoil_types::Map::from_unique(vec![("limits".into(), overhead.clone())]);
        super::resource::requirements(&holder.into(), &Claims::default(), false, &path.child("overhead"), causes);
    }
    os::check(pod, path, causes);
    env::file_volumes(pod, path, causes);
}

/// The single texts of a pod spec.
fn names(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let text = |key: &str, format: super::format::Format, causes: &mut Causes| {
        if !pod.s(key).is_empty() {
            causes.format(&path.child(key), pod.s(key), format);
        }
    };
    text("serviceAccountName", name::subdomain, causes);
    text("nodeName", name::subdomain, causes);
    if let Some(seconds) = pod.oi("activeDeadlineSeconds") {
        causes.range(&path.child("activeDeadlineSeconds"), seconds, 1, i64::from(i32::MAX));
    }
    text("hostname", name::label, causes);
    text("subdomain", name::label, causes);
    tolerations(pod.list("tolerations"), &path.child("tolerations"), causes);
    network::aliases(pod.list("hostAliases"), &path.child("hostAliases"), causes);
    text("priorityClassName", name::subdomain, causes);
    if let Some(class) = pod.opt("runtimeClassName") {
        causes.format(&path.child("runtimeClassName"), class.as_str().unwrap_or(""), name::subdomain);
    }
}

/// A look-up of items by their names.
pub(super) fn named<'a>(items: impl IntoIterator<Item = &'a Value>) -> Named<'a> {
    Lookup::of(items, |item| item.s("name"))
}

/// Calls `f` for each container of any kind, in upstream's order of `VisitContainersWithPath`.
pub(super) fn each_container<'a>(pod: &'a Value, path: &Path<'_>, f: &mut dyn FnMut(&'a Value, &Path<'_>)) {
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let at = path.child(list);
        for (i, container) in pod.list(list).iter().enumerate() {
            f(container, &at.index(i));
        }
    }
}
