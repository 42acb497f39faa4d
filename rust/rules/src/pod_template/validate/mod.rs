//! Pods and their templates (`pkg/apis/core/validation/validation.go`).

mod affinity;
pub mod annotations;
pub mod container;
mod env;
mod file;
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
mod volume;
mod windows;

use hydrofoil_types::{Causes, Lookup, Path, Value};

pub use self::probe::port;
pub use self::scheduling::{compares, taint_effect, tolerations};
pub use self::source::{csi_driver_name, persistent};
use super::each_container;
use crate::check::Check;
use crate::format::name;
use crate::meta;
use crate::resource::Claims;
use crate::{Gate, Release};
use hydrofoil_types::read::Read;

/// A lookup of items by name.
pub type Named<'a> = Lookup<'a, &'a str, fn(&'a Value) -> &'a str>;

/// The context that the checks of one pod spec share.
pub struct PodContext<'a> {
    /// The release whose rules count.
    pub release: Release,
    /// The spec.
    pub spec: &'a Value,
    /// The valid volumes: others count as missing.
    pub volumes: Named<'a>,
    /// The claims of the pod for devices.
    pub claims: Claims<'a>,
    /// The seconds that it has to end.
    pub grace: Option<i64>,
    /// Whether its users are those of the node.
    pub host_users: bool,
    /// Whether it is a pod and not a template.
    pub is_pod: bool,
}

/// `ValidatePodTemplateSpec`.
pub fn template(release: Release, template: &Value, path: &Path<'_>, causes: &mut Causes) {
    template_metadata(release, template, path, causes);
    let (metadata, pod, at) = (template.field("metadata"), template.field("spec"), path.child("spec"));
    spec(release, pod, None, &at, causes);
    annotations::seccomp_matches(metadata, pod, &at, causes);
    annotations::app_armor_matches(metadata, pod, &at, causes);
    if !pod.list("ephemeralContainers").is_empty() {
        causes.forbidden(&at.child("ephemeralContainers"), "ephemeral containers not allowed in pod template");
    }
}

/// Validate the labels and annotations of a template.
pub fn template_metadata(release: Release, template: &Value, path: &Path<'_>, causes: &mut Causes) {
    let metadata = template.field("metadata");
    meta::labels(metadata.get("labels"), &path.child("labels"), causes);
    meta::annotations(metadata, &path.child("annotations"), causes);
    annotations::check(release, metadata, template.field("spec"), &path.child("annotations"), causes);
}

/// `ValidatePodSpec`.
pub fn spec(release: Release, pod: &Value, metadata: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let mut context = PodContext {
        release,
        spec: pod,
        volumes: by_name([]),
        claims: Claims::of(pod.list("resourceClaims")),
        grace: pod.opt_int("terminationGracePeriodSeconds"),
        host_users: pod.get("hostUsers").and_then(Value::as_bool).unwrap_or(true),
        is_pod: metadata.is_some(),
    };
    if context.grace.is_none() {
        causes.need(&path.child("terminationGracePeriodSeconds"));
    }
    context.volumes = volume::volumes(&context, metadata, &path.child("volumes"), causes);
    scheduling::claims(pod.list("resourceClaims"), metadata, &path.child("resourceClaims"), causes);
    container::all(&context, path, causes);
    if release.enabled(Gate::PodLevelResources) {
        level::resources(&context, path, causes);
    }
    network::host_ports(&context, path, causes);
    causes.one_of_required(&path.child("restartPolicy"), pod.text("restartPolicy"), &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    causes.one_of_required(&path.child("dnsPolicy"), pod.text("dnsPolicy"), &policies);
    meta::labels(pod.get("nodeSelector"), &path.child("nodeSelector"), causes);
    security::pod(pod, path, causes);
    affinity::check(pod.field("affinity"), &path.child("affinity"), causes);
    network::dns(pod, &path.child("dnsConfig"), causes);
    scheduling::gates(pod, path, causes);
    scheduling::spread(
        release,
        pod.list("topologySpreadConstraints"),
        &path.child("topologySpreadConstraints"),
        causes,
    );
    windows::host_process(pod, path, causes);
    security::host_users(&context, path, causes);
    network::hostname_override(pod, &path.child("hostnameOverride"), causes);
    names(release, pod, path, causes);
    if let Some(policy) = pod.opt("preemptionPolicy") {
        let policy = policy.as_str().unwrap_or("");
        causes.one_of_required(&path.child("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
    if let Some(overhead) = pod.opt("overhead") {
        let holder = hydrofoil_types::Map::from_unique(vec![("limits".into(), overhead.clone())]);
        crate::resource::requirements(&holder.into(), &Claims::default(), false, &path.child("overhead"), causes);
    }
    os::check(pod, path, causes);
    env::file_volumes(pod, path, causes);
}

/// Validate the single strings of a pod spec.
fn names(release: Release, pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let text = |key: &str, format: crate::format::Format, causes: &mut Causes| {
        if !pod.text(key).is_empty() {
            causes.format(&path.child(key), pod.text(key), format);
        }
    };
    text("serviceAccountName", name::subdomain, causes);
    text("nodeName", name::subdomain, causes);
    if let Some(seconds) = pod.opt_int("activeDeadlineSeconds") {
        causes.range(&path.child("activeDeadlineSeconds"), seconds, 1, i64::from(i32::MAX));
    }
    text("hostname", name::label, causes);
    text("subdomain", name::label, causes);
    tolerations(compares(release), pod.list("tolerations"), &path.child("tolerations"), causes);
    network::aliases(pod.list("hostAliases"), &path.child("hostAliases"), causes);
    text("priorityClassName", name::subdomain, causes);
    if let Some(class) = pod.opt("runtimeClassName") {
        causes.format(&path.child("runtimeClassName"), class.as_str().unwrap_or(""), name::subdomain);
    }
}

/// Return a look-up of items by their names.
pub fn by_name<'a>(items: impl IntoIterator<Item = &'a Value>) -> Named<'a> {
    Lookup::of(items, |item| item.text("name"))
}
