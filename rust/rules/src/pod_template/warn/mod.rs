//! Warnings of pods and templates: `pkg/api/pod/warnings.go`.

pub mod ports;

mod paths;

use std::collections::HashSet;

use hydrofoil_text::quoted;
use hydrofoil_types::{Path, Value};

use super::each_container;
use crate::quantities::fractional;
use crate::{address, node_label, volume_claim};
use hydrofoil_types::read::Read;

const APPARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const USE_SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
const USE_APPARMOR: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
const NULL_SELECTOR: &str = "a null labelSelector results in matching no pod";

/// `warningsForPodSpecAndMeta`: `path` is the root for a pod itself.
pub fn warnings(object: &Value, path: &Path<'_>, template: bool, out: &mut Vec<String>) {
    let spec = object.field("spec");
    let at = path.child("spec");
    let meta = path.child("metadata");
    let notes_path = meta.child("annotations");
    let notes = object.field("metadata").field("annotations");
    placement(spec, &at, out);
    for (key, reported) in [
        ("scheduler.alpha.kubernetes.io/critical-pod", "use the \"priorityClassName\" field instead"),
        ("security.alpha.kubernetes.io/sysctls", "use the \"sysctls\" field instead"),
        ("security.alpha.kubernetes.io/unsafe-sysctls", "use the \"sysctls\" field instead"),
    ] {
        if notes.has(key) {
            let since = if key.starts_with("scheduler") { "v1.16+" } else { "v1.11+" };
            out.push(format!("{}: non-functional in {since}; {reported}", notes_path.key(key)));
        }
    }
    volumes(spec, &at, out);
    warn_duplicates(spec, &at, "hostAliases", "ip", out);
    warn_duplicates(spec, &at, "imagePullSecrets", "name", out);
    let pulls = at.child("imagePullSecrets");
    for (i, item) in spec.list("imagePullSecrets").iter().enumerate() {
        if item.text("name").is_empty() {
            out.push(format!("{}: invalid empty name \"\"", pulls.index(i).child("name")));
        }
    }
    for name in ["memory", "ephemeral-storage"] {
        fractional(spec.field("overhead"), name, &at.child("overhead"), out);
    }
    let security = spec.field("securityContext");
    if !security.has("seccompProfile") && notes.has(SECCOMP) {
        out.push(format!("{}: {USE_SECCOMP}", notes_path.key(SECCOMP)));
    }
    each_container(spec, &at, &mut |container, path| {
        let own = container.field("securityContext");
        let note = |prefix: &str| container_annotation(notes, prefix, container);
        if let (false, Some(key)) = (own.has("seccompProfile"), note(SECCOMP_CONTAINER)) {
            out.push(format!("{}: {USE_SECCOMP}", notes_path.key(&key)));
        }
        if template
            && !own.has("appArmorProfile")
            && let Some(key) = note(APPARMOR)
            && !is_profile(notes.text(&key), security.field("appArmorProfile"))
        {
            out.push(format!("{}: {USE_APPARMOR}", notes_path.key(&key)));
        }
        let resources = path.child("resources");
        for name in ["memory", "ephemeral-storage"] {
            for key in ["limits", "requests"] {
                fractional(container.field("resources").field(key), name, &resources.child(key), out);
            }
        }
        warn_hidden(container, path, out);
    });
    ports::ports(spec, &at, out);
    ports::names(spec, &at, out);
    if spec.int("terminationGracePeriodSeconds") < 0 {
        out.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            at.child("terminationGracePeriodSeconds")
        ));
    }
    affinity(spec, &at, out);
    address::ips(spec.field("dnsConfig"), "nameservers", &at.child("dnsConfig"), out);
    let aliases = at.child("hostAliases");
    for (i, alias) in spec.list("hostAliases").iter().enumerate() {
        address::ip(alias.text("ip"), &aliases.index(i).child("ip"), out);
    }
}

/// Return the annotation about a container, where there is one.
fn container_annotation(notes: &Value, prefix: &str, container: &Value) -> Option<String> {
    let notes = notes.as_object().filter(|notes| !notes.is_empty())?;
    let key = format!("{prefix}{}", container.text("name"));
    notes.contains_key(&key).then_some(key)
}

/// Report whether an annotation stands for a profile (`ApparmorFieldForAnnotation`).
fn is_profile(note: &str, profile: &Value) -> bool {
    let (kind, path) = (profile.text("type"), profile.text("localhostProfile"));
    match note {
        "unconfined" => kind == "Unconfined" && path.is_empty(),
        "runtime/default" => kind == "RuntimeDefault" && path.is_empty(),
        _ => {
            note.strip_prefix("localhost/").is_some_and(|name| !name.is_empty() && kind == "Localhost" && name == path)
        }
    }
}

/// Warn of each annotation that `applyAppArmorVersionSkew` made a field of, or could make none of.
pub fn apparmor(object: &Value, out: &mut Vec<String>) {
    let (notes, spec) = (object.field("metadata").field("annotations"), object.field("spec"));
    let of_pod = spec.field("securityContext").field("appArmorProfile");
    each_container(spec, &Path::new("spec"), &mut |container, _| {
        let Some(key) = container_annotation(notes, APPARMOR, container) else { return };
        // One like the pod's own profile is not copied.
        if container.field("securityContext").has("appArmorProfile") || !is_profile(notes.text(&key), of_pod) {
            out.push(format!("metadata.annotations[{key}]: {USE_APPARMOR}"));
        }
    });
}

/// Warn of node labels in selectors, affinity and spread.
fn placement(spec: &Value, at: &Path<'_>, out: &mut Vec<String>) {
    let path = at.child("nodeSelector");
    for (label, _) in spec.entries("nodeSelector") {
        if let Some(message) = node_label::deprecation_message(label) {
            out.push(format!("{}: {message}", path.key(label)));
        }
    }
    let of_node = spec.field("affinity").field("nodeAffinity");
    let path = at.child("affinity");
    let path = path.child("nodeAffinity");
    let hard = path.child("requiredDuringSchedulingIgnoredDuringExecution");
    let hard = hard.child("nodeSelectorTerms");
    let terms = of_node.field("requiredDuringSchedulingIgnoredDuringExecution").list("nodeSelectorTerms");
    for (i, term) in terms.iter().enumerate() {
        node_label::expressions(term, "matchExpressions", &hard.index(i), out);
    }
    let soft = path.child("preferredDuringSchedulingIgnoredDuringExecution");
    for (i, term) in of_node.list("preferredDuringSchedulingIgnoredDuringExecution").iter().enumerate() {
        node_label::expressions(term.field("preference"), "matchExpressions", &soft.index(i).child("preference"), out);
    }
    let path = at.child("topologySpreadConstraints");
    for (i, spread) in spec.list("topologySpreadConstraints").iter().enumerate() {
        let path = path.index(i);
        let label = spread.text("topologyKey");
        if let Some(message) = node_label::deprecation_message(label) {
            out.push(format!("{}: {label} is {message}", path.child("topologyKey")));
        }
        if !spread.has("labelSelector") {
            out.push(format!("{}: {NULL_SELECTOR}", path.child("labelSelector")));
        }
    }
}

/// Warn of deprecated or removed volume plug-ins, and of files that share a path.
fn volumes(spec: &Value, at: &Path<'_>, out: &mut Vec<String>) {
    let list = spec.list("volumes");
    let path = at.child("volumes");
    for (i, volume) in list.iter().enumerate() {
        let path = path.index(i);
        for (key, name, reported) in [
            ("photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"),
            ("gitRepo", "gitRepo", "v1.11, and disabled by default in v1.33+"),
            ("scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"),
            ("flocker", "flocker", "v1.22, non-functional in v1.25+"),
            ("storageos", "storageOS", "v1.22, non-functional in v1.25+"),
            ("quobyte", "quobyte", "v1.22, non-functional in v1.25+"),
            ("glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"),
            ("cephfs", "cephfs", "v1.28, non-functional in v1.31+"),
            ("rbd", "rbd", "v1.28, non-functional in v1.31+"),
        ] {
            if volume.has(key) {
                out.push(format!("{}: deprecated in {reported}", path.child(name)));
            }
        }
        if let Some(template) = volume.field("ephemeral").opt("volumeClaimTemplate") {
            let path = path.child("ephemeral");
            let path = path.child("volumeClaimTemplate");
            volume_claim::warn(template.field("spec"), &path.child("spec"), out);
        }
    }
    paths::overlaps(list, out);
}

/// Warn of items of a list that have the same name twice.
fn warn_duplicates(spec: &Value, at: &Path<'_>, list: &str, key: &str, out: &mut Vec<String>) {
    let items = spec.list(list);
    if items.len() < 2 {
        return;
    }
    let path = at.child(list);
    let mut seen = HashSet::new();
    for (i, item) in items.iter().enumerate() {
        if !seen.insert(item.text(key)) {
            out.push(format!("{}: duplicate {key} {}", path.index(i).child(key), quoted(item.text(key))));
        }
    }
}

/// Warn of variables that hide an earlier one which they don't extend.
fn warn_hidden(container: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    let list = container.list("env");
    if list.len() < 2 {
        return;
    }
    let path = path.child("env");
    let mut seen = HashSet::new();
    for (i, item) in list.iter().enumerate() {
        let name = item.text("name");
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let value = item.text("value");
        if item.has("valueFrom") || value == reference || !value.contains(&reference) {
            out.push(format!(
                "{}: hides previous definition of {}, which may be dropped when using apply",
                path.index(i),
                quoted(name)
            ));
        }
    }
}

/// Warn of terms of affinity between pods without a selector.
fn affinity(spec: &Value, at: &Path<'_>, out: &mut Vec<String>) {
    let path = at.child("affinity");
    for kind in ["podAffinity", "podAntiAffinity"] {
        let of = spec.field("affinity").field(kind);
        let path = path.child(kind);
        let hard = path.child("requiredDuringSchedulingIgnoredDuringExecution");
        for (i, term) in of.list("requiredDuringSchedulingIgnoredDuringExecution").iter().enumerate() {
            if !term.has("labelSelector") {
                out.push(format!("{}: {NULL_SELECTOR}", hard.index(i).child("labelSelector")));
            }
        }
        let soft = path.child("preferredDuringSchedulingIgnoredDuringExecution");
        for (i, term) in of.list("preferredDuringSchedulingIgnoredDuringExecution").iter().enumerate() {
            if !term.field("podAffinityTerm").has("labelSelector") {
                out.push(format!("{}.podAffinityTerm.labelSelector: {NULL_SELECTOR}", soft.index(i)));
            }
        }
    }
}
