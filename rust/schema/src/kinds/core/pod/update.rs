//! Updates of pods and of their subresources.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, KeySet, Path, Value};

use super::{resize, status};
use crate::Request;
use hydrofoil_internal as internal;
use hydrofoil_rules::Release;
use hydrofoil_rules::check::{Check, NAMELESS};
use hydrofoil_rules::pod_template::validate::annotations::{self, MIRROR};
use hydrofoil_rules::pod_template::validate::compares;
use hydrofoil_types::read::{Read, Write, same_field};

const FIXED: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";
const EPHEMERAL: &str = "core.EphemeralContainer";
const NODE_AFFINITY: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// `ValidatePodUpdate` and those of the subresources.
pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let path = Path::new("spec");
    match req.subresource {
        "status" => status::update(req.release(), object, old, causes),
        "ephemeralcontainers" => ephemeral(req, object, old, &path.child("ephemeralContainers"), causes),
        "resize" => resize::update(req, object, old, &path, causes),
        _ => {
            super::validate::metadata_and_spec(req.kind, object, causes);
            main(req.release(), object, old, &path, causes);
        }
    }
}

fn main(release: Release, object: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    annotations::update(release, object, old, causes);
    let (new, old) = (object.field("spec"), old.field("spec"));
    for list in ["containers", "initContainers"] {
        let at = path.child(list);
        if new.list(list).len() != old.list(list).len() {
            return causes.forbidden(&at, "pod updates may not add or remove containers");
        }
        for (i, container) in new.list(list).iter().enumerate() {
            if container.zero("image") {
                causes.need(&at.index(i).child("image"));
            }
            hydrofoil_rules::pod_template::validate::container::image_is_trimmed(container, &at.index(i), causes);
        }
    }
    let at = path.child("activeDeadlineSeconds");
    match (new.opt_int("activeDeadlineSeconds"), old.opt_int("activeDeadlineSeconds")) {
        (Some(seconds), _) if !(0..=i64::from(i32::MAX)).contains(&seconds) => {
            return causes.range(&at, seconds, 0, i64::from(i32::MAX));
        }
        (Some(seconds), Some(before)) if before < seconds => {
            return causes.invalid_int(&at, seconds, "must be less than or equal to previous value");
        }
        (None, Some(_)) => {
            causes.invalid(&at, &Value::Null, "must not update from a positive integer to nil value");
        }
        _ => {}
    }
    tolerations(release, new, old, &path.child("tolerations"), causes);
    gates(new, old, &path.child("schedulingGates"), causes);
    let mut munged = new.clone();
    for list in ["containers", "initContainers"] {
        let before = old.list(list);
        let mut i = 0;
        munged.each(list, |container| {
            if let Some(before) = before.get(i) {
                container.copy_from(before, "image");
            }
            i += 1;
        });
        if before.is_empty() {
            // Upstream builds the list anew, so that an empty one equals none.
            munged.drop(list);
        }
    }
    for key in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        munged.copy_from(old, key);
    }
    if old.int("terminationGracePeriodSeconds") < 0 && munged.int("terminationGracePeriodSeconds") == 1 {
        munged.copy_from(old, "terminationGracePeriodSeconds");
    }
    if !old.list("schedulingGates").is_empty() {
        narrow_gated(&mut munged, old, path, causes);
    }
    if !internal::same("core.PodSpec", &munged, old) {
        causes.forbidden(path, &format!("{FIXED}{}", internal::diff("core.PodSpec", old, &munged)));
    }
}

/// `validateOnlyAddedTolerations`.
fn tolerations(release: Release, new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    let fields = ["key", "operator", "value", "effect"];
    let key = |t| fields.map(|f| Value::text(t, f));
    let given: KeySet<_> = new.list("tolerations").iter().map(key).collect();
    let kept = old.list("tolerations").iter().all(|before| given.contains(&key(before)));
    if kept {
        hydrofoil_rules::pod_template::validate::tolerations(compares(release), new.list("tolerations"), path, causes);
    } else {
        causes.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    }
}

fn gates(new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    let known = hydrofoil_rules::pod_template::validate::by_name(old.list("schedulingGates"));
    let gates = new.list("schedulingGates");
    let latest = hydrofoil_rules::pod_template::validate::by_name(gates);
    for (i, gate) in gates.iter().enumerate() {
        let name = gate.text("name");
        // A gate that is there twice is reported once, where it is last.
        if !known.has(&name) && latest.last(&name).is_some_and(|last| std::ptr::eq(last, gate)) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            causes.forbidden(&path.index(i).child("name"), &detail);
        }
    }
}

/// Allow a gated pod to be narrowed: node selectors and required node affinity may grow.
fn narrow_gated(munged: &mut Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    if !same_field(munged, old, "nodeSelector") {
        let kept = old.entries("nodeSelector").all(|(k, v)| munged.field("nodeSelector").get(k) == Some(v));
        if !kept {
            let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            causes.invalid(&path.child("nodeSelector"), munged.field("nodeSelector"), detail);
        }
        munged.copy_from(old, "nodeSelector");
    }
    let before = old.field("affinity").field("nodeAffinity");
    let now = munged.field("affinity").field("nodeAffinity").clone();
    if internal::same("*core.NodeAffinity", before, &now) {
        return;
    }
    let at = path.child("affinity");
    affinity(&now, before, &at.child("nodeAffinity"), causes);
    match before {
        Value::Null => munged.within("affinity", |a| a.drop("nodeAffinity")),
        other => munged.make("affinity").put("nodeAffinity", other.clone()),
    }
    if !old.has("affinity") && munged.field("affinity").is_zero() {
        munged.drop("affinity");
    }
}

/// `validateNodeAffinityMutation`.
fn affinity(new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    let required = old.field(NODE_AFFINITY);
    if matches!(required, Value::Null) {
        return;
    }
    let at = path.child(NODE_AFFINITY);
    let at = at.child("nodeSelectorTerms");
    let (terms, before) = (new.field(NODE_AFFINITY).list("nodeSelectorTerms"), required.list("nodeSelectorTerms"));
    if !before.is_empty() && terms.len() != before.len() {
        let shown = new.field(NODE_AFFINITY).field("nodeSelectorTerms");
        return causes.invalid(&at, shown, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    }
    for (i, (term, before)) in terms.iter().zip(before).enumerate() {
        let grew = |key: &str| term.list(key).starts_with(before.list(key));
        let empty = before.list("matchExpressions").is_empty() && before.list("matchFields").is_empty();
        let untouched = term.list("matchExpressions").is_empty() && term.list("matchFields").is_empty();
        if !(grew("matchExpressions") && grew("matchFields")) || (empty && !untouched) {
            let detail = "only additions are allowed (no mutations or deletions)";
            causes.invalid(&at.index(i), term, detail);
        }
    }
}

fn ephemeral(req: &Request<'_>, object: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    if old.field("metadata").field("annotations").has(MIRROR) {
        return causes.forbidden(&NAMELESS, "static pods do not support ephemeral containers");
    }
    super::validate::metadata_and_spec(req.kind, object, causes);
    let containers = hydrofoil_rules::pod_template::validate::by_name(object.field("spec").list("ephemeralContainers"));
    for before in old.field("spec").list("ephemeralContainers") {
        let name = before.text("name");
        match containers.last(&name) {
            None => causes.forbidden(path, &format!("existing ephemeral containers \"{name}\" may not be removed\n")),
            Some(now) if !internal::same(EPHEMERAL, before, now) => {
                let changed = internal::diff(EPHEMERAL, before, now);
                let detail = format!("existing ephemeral containers \"{name}\" may not be changed\n{changed}");
                causes.forbidden(path, &detail);
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::{Causes, Map, Path, Value};

    use super::gates;

    fn spec(names: impl Iterator<Item = String>) -> Value {
        let gate = |name: String| Value::Object(Map::from_unique(vec![("name".into(), Value::from(name))]));
        let list = Value::Array(names.map(gate).collect());
        Value::Object(Map::from_unique(vec![("schedulingGates".into(), list)]))
    }

    #[test]
    fn many_new_gates_are_reported_soon() {
        let mut causes = Causes::new();
        let twice = (0..100_000).map(|i| format!("g{}", i % 60_000));
        gates(&spec(twice), &spec(std::iter::once("old".to_owned())), &Path::new("gates"), &mut causes);
        assert_eq!(causes.as_slice().first().map(|cause| cause.field.as_str()), Some("gates[40000].name"));
    }
}
