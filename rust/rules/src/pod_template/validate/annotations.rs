//! Annotations with a meaning for pods.

use hydrofoil_types::{Causes, Path, Value, notation};

use crate::format::json;
use crate::{Gate, Release};
use hydrofoil_types::read::Read;

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
/// The annotation of a mirror pod.
pub const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// `ValidatePodSpecificAnnotations`.
pub fn check(release: Release, metadata: &Value, pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let annotations = metadata.field("annotations");
    if matches!(annotations, Value::Null) {
        return;
    }
    if let Some(mirror) = annotations.opt(MIRROR)
        && pod.zero("nodeName")
    {
        let at = path.key(MIRROR);
        causes.invalid(&at, mirror, "must set spec.nodeName if mirror pod annotation is set");
    }
    tolerations(release, annotations.text(TOLERATIONS), path, causes);
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    if let Some(text) = annotations.opt(cost).filter(|_| release.enabled(Gate::PodDeletionCost)) {
        let number = text.as_str().unwrap_or("");
        let plain = !number.starts_with('+') && (number == "0" || !number.trim_start_matches('-').starts_with('0'));
        if !plain || number.parse::<i32>().is_err() {
            causes.invalid(&path.key(cost), text, "must be a 32bit integer");
        }
    }
    if let Some(text) = annotations.opt(SECCOMP_POD) {
        seccomp_profile(text.as_str().unwrap_or(""), &path.child(SECCOMP_POD), causes);
    }
    for (key, value) in metadata.entries("annotations") {
        if key.starts_with(SECCOMP) {
            seccomp_profile(value.as_str().unwrap_or(""), &path.child(key), causes);
        }
    }
    for (key, value) in metadata.entries("annotations") {
        let Some(container) = key.strip_prefix(APP_ARMOR) else { continue };
        let mut found = false;
        super::each_container(pod, &Path::root(), &mut |c, _| found |= c.text("name") == container);
        if !found {
            causes.invalid_str(&path.key(key), container, "container not found");
        }
        let profile = value.as_str().unwrap_or("");
        let known = matches!(profile, "" | "runtime/default" | "unconfined") || profile.starts_with("localhost/");
        if !known {
            causes.invalid_str(&path.key(key), profile, &format!("invalid AppArmor profile name: \"{profile}\""));
        }
    }
}

/// `ValidatePodSpecificAnnotationUpdates`.
pub fn update(release: Release, object: &Value, old: &Value, causes: &mut Causes) {
    let (meta, before) = (object.field("metadata"), old.field("metadata"));
    let path = Path::new("metadata");
    let path = path.child("annotations");
    let subject = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        _ => key.starts_with(APP_ARMOR).then_some("AppArmor annotations"),
    };
    for (key, was) in before.entries("annotations") {
        if let Some(subject) = subject(key)
            && meta.field("annotations").get(key) != Some(was)
        {
            causes.forbidden(&path.key(key), &format!("may not remove or update {subject}"));
        }
    }
    for (key, _) in meta.entries("annotations") {
        if let Some(subject) = subject(key)
            && !before.field("annotations").has(key)
        {
            causes.forbidden(&path.key(key), &format!("may not add {subject}"));
        }
    }
    check(release, meta, object.field("spec"), &path, causes);
}

/// `ValidateTolerationsInPodAnnotations`: tolerations as JSON.
fn tolerations(release: Release, text: &str, path: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        return;
    }
    if let Some(problem) = json::syntax_problem(text.as_bytes()) {
        return causes.invalid_str(path, TOLERATIONS, &problem);
    }
    if let Some(Value::Array(items)) = notation::parse(text) {
        super::tolerations(super::compares(release), &items, &path.child(TOLERATIONS), causes);
    }
}

fn seccomp_profile(text: &str, path: &Path<'_>, causes: &mut Causes) {
    if matches!(text, "unconfined" | "runtime/default" | "docker/default") {
        return;
    }
    match text.strip_prefix("localhost/") {
        Some(rest) => super::path::descending(rest, path, causes),
        None => causes.invalid_str(path, text, "must be a valid seccomp profile"),
    }
}

/// `validateSeccompAnnotationsAndFields`.
pub fn seccomp_matches(metadata: &Value, pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    if metadata.zero("annotations") {
        return;
    }
    let annotations = metadata.field("annotations");
    let check = |annotation: Option<&Value>, holder: &Value, at: &Path<'_>, causes: &mut Causes| {
        let (Some(annotation), Some(profile)) = (annotation, holder.field("securityContext").opt("seccompProfile"))
        else {
            return;
        };
        let text = annotation.as_str().unwrap_or("");
        let at = at.child("securityContext");
        let at = at.child("seccompProfile");
        let matches = match profile.text("type") {
            "Unconfined" => text == "unconfined",
            "RuntimeDefault" => matches!(text, "runtime/default" | "docker/default"),
            "Localhost" => match text.strip_prefix("localhost/") {
                None => false,
                Some(rest) if profile.opt("localhostProfile").and_then(Value::as_str) != Some(rest) => {
                    let detail = "seccomp profile in annotation and field must match";
                    return causes.forbidden(&at.child("localhostProfile"), detail);
                }
                Some(_) => true,
            },
            _ => true,
        };
        if !matches {
            causes.forbidden(&at.child("type"), "seccomp type in annotation and field must match");
        }
    };
    check(annotations.get(SECCOMP_POD), pod, path, causes);
    super::each_container(pod, path, &mut |container, at| {
        let key = format!("{SECCOMP}{}", container.text("name"));
        check(annotations.get(&key), container, at, causes);
    });
}

/// `validateAppArmorAnnotationsAndFieldsMatchOnCreate`.
pub fn app_armor_matches(metadata: &Value, pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    if metadata.zero("annotations") || pod.field("os").text("name") == "windows" {
        return;
    }
    let annotations = metadata.field("annotations");
    super::each_container(pod, path, &mut |container, at| {
        let own = container.field("securityContext").opt("appArmorProfile");
        let Some(profile) = own.or_else(|| pod.field("securityContext").opt("appArmorProfile")) else { return };
        let key = format!("{APP_ARMOR}{}", container.text("name"));
        let Some(text) = annotations.get(&key).map(|a| a.as_str().unwrap_or("")) else { return };
        let at = at.child("securityContext");
        let at = at.child("appArmorProfile");
        let matches = match profile.text("type") {
            "Unconfined" => text == "unconfined",
            "RuntimeDefault" => text == "runtime/default",
            "Localhost" => match text.strip_prefix("localhost/") {
                None => false,
                Some(rest) => {
                    if profile.opt("localhostProfile").and_then(Value::as_str) != Some(rest) {
                        let detail = "apparmor profile in annotation and field must match";
                        causes.forbidden(&at.child("localhostProfile"), detail);
                    }
                    true
                }
            },
            _ => true,
        };
        if !matches {
            causes.forbidden(&at.child("type"), "apparmor type in annotation and field must match");
        }
    });
}
