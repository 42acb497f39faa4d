//! Pods (`pkg/registry/core/pod/strategy.go`).

use hydrofoil_types::{SmolStr, Timestamp, Value};

use hydrofoil_internal as internal;
use hydrofoil_rules::qos;
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

/// `PrepareForCreate`.
pub(crate) fn create(release: Release, object: &mut Value, now: Timestamp) {
    if object.field("spec").int("terminationGracePeriodSeconds") < 0 {
        object.make("spec").put("terminationGracePeriodSeconds", 1);
    }
    app_armor(object);
    // `GetPodQOS` trusts the given value.
    let given = object.field("status").text("qosClass").to_owned();
    let class = if given.is_empty() { qos::class(object).to_owned() } else { given };
    object.drop("status");
    let status = object.make("status");
    status.put("phase", "Pending");
    status.put("qosClass", class);
    affinity(object);
    let spread_gates = [Gate::MatchLabelKeysInPodTopologySpread, Gate::MatchLabelKeysInPodTopologySpreadSelectorMerge];
    if spread_gates.iter().all(|gate| release.enabled(*gate)) {
        spread(object);
    }
    scheduling_gated_condition(object, now);
}

/// `applyAppArmorVersionSkew`: the annotations of old clients become fields.
fn app_armor(object: &mut Value) {
    const KEY: &str = "container.apparmor.security.beta.kubernetes.io/";
    let annotations = object.field("metadata").field("annotations").clone();
    let marked = annotations.as_object().is_some_and(|m| m.keys().any(|k| k.starts_with(KEY)));
    if !marked || object.field("spec").field("os").text("name") == "windows" {
        return;
    }
    object.within("spec", |spec| {
        for list in ["initContainers", "containers"] {
            spec.each(list, |container| {
                let key = format!("{KEY}{}", container.text("name"));
                if container.field("securityContext").has("appArmorProfile") {
                    return;
                }
                let mut profile = Value::object();
                match annotations.text(&key) {
                    "runtime/default" => profile.put("type", "RuntimeDefault"),
                    "unconfined" => profile.put("type", "Unconfined"),
                    other => match other.strip_prefix("localhost/").filter(|p| !p.is_empty()) {
                        Some(name) => {
                            profile.put("type", "Localhost");
                            profile.put("localhostProfile", name);
                        }
                        None => return,
                    },
                }
                container.make("securityContext").put("appArmorProfile", profile);
            });
        }
    });
}

/// `applySchedulingGatedCondition`.
fn scheduling_gated_condition(object: &mut Value, now: Timestamp) {
    if object.field("spec").list("schedulingGates").is_empty() {
        return;
    }
    let mut condition = Value::object();
    condition.put("type", "PodScheduled");
    condition.put("lastTransitionTime", now.rfc3339());
    condition.put("status", "False");
    condition.put("reason", "SchedulingGated");
    condition.put("message", "Scheduling is blocked due to non-empty scheduling gates");
    object.make("status").put("conditions", vec![condition]);
}

/// `mutatePodAffinity`: `matchLabelKeys` become requirements of the selector.
fn affinity(object: &mut Value) {
    let labels = object.field("metadata").field("labels").clone();
    object.within("spec", |spec| {
        spec.within("affinity", |affinity| {
            for kind in ["podAffinity", "podAntiAffinity"] {
                affinity.within(kind, |a| {
                    a.each("requiredDuringSchedulingIgnoredDuringExecution", |term| merge_keys(term, &labels));
                    a.each("preferredDuringSchedulingIgnoredDuringExecution", |weighted| {
                        weighted.within("podAffinityTerm", |term| merge_keys(term, &labels));
                    });
                });
            }
        });
    });
}

fn merge_keys(term: &mut Value, labels: &Value) {
    if !term.has("labelSelector") {
        return;
    }
    for (list, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        let keys: Vec<SmolStr> = term.list(list).iter().filter_map(Value::as_str).map(SmolStr::new).collect();
        for key in keys {
            if let Some(value) = labels.get(&key).and_then(Value::as_str) {
                require(term.make("labelSelector"), &key, operator, value);
            }
        }
    }
}

/// `mutateTopologySpreadConstraints`.
fn spread(object: &mut Value) {
    let labels = object.field("metadata").field("labels").clone();
    object.within("spec", |spec| {
        spec.each("topologySpreadConstraints", |constraint| {
            if !constraint.has("labelSelector") {
                return;
            }
            let keys: Vec<SmolStr> =
                constraint.list("matchLabelKeys").iter().filter_map(Value::as_str).map(SmolStr::new).collect();
            for key in keys {
                if let Some(value) = labels.get(&key).and_then(Value::as_str) {
                    require(constraint.make("labelSelector"), &key, "In", value);
                }
            }
        });
    });
}

fn require(selector: &mut Value, key: &str, operator: &str, value: &str) {
    let mut requirement = Value::object();
    requirement.put("key", key);
    requirement.put("operator", operator);
    requirement.put("values", vec![Value::from(value)]);
    let mut list = selector.list("matchExpressions").to_vec();
    list.push(requirement);
    selector.put("matchExpressions", list);
}

/// `updatePodGeneration`.
fn generation(object: &mut Value, old: &Value) {
    let generation = old.field("metadata").int("generation");
    let changed = !internal::same("core.PodSpec", object.field("spec"), old.field("spec"));
    let next = generation.wrapping_add(i64::from(changed));
    if next != 0 {
        object.make("metadata").put("generation", next);
    }
}

/// `dropPodUpdates`: the old pod under the new one's identity.
fn only(object: &mut Value, old: &Value) -> Value {
    let mut pod = old.clone();
    for key in ["name", "namespace", "resourceVersion", "uid", "managedFields"] {
        pod.make("metadata").copy_from(object.field("metadata"), key);
    }
    std::mem::replace(object, pod)
}

/// Prepare an update of a subresource other than the status.
pub(crate) fn subresource(release: Release, subresource: &str, object: &mut Value, old: &Value) {
    match subresource {
        "ephemeralcontainers" => ephemeral(object, old),
        "resize" => resize(release, object, old),
        _ => {}
    }
}

/// `/ephemeralcontainers`.
fn ephemeral(object: &mut Value, old: &Value) {
    let new = only(object, old);
    object.make("spec").copy_from(new.field("spec"), "ephemeralContainers");
    generation(object, old);
}

/// `/resize`: only resources and resize policies of containers (`dropNonResizeUpdates`).
///
/// Containers that are added, removed, moved or renamed stay as they are given: validation refuses them.
fn resize(release: Release, object: &mut Value, old: &Value) {
    const LISTS: [&str; 2] = ["containers", "initContainers"];
    let old_spec = old.field("spec");
    if LISTS.iter().any(|list| object.field("spec").list(list).len() != old_spec.list(list).len()) {
        return generation(object, old);
    }
    let new = only(object, old);
    let mut spec = old_spec.clone();
    for list in LISTS {
        let wanted = new.field("spec").list(list);
        if wanted.iter().zip(old_spec.list(list)).any(|(new, old)| new.text("name") != old.text("name")) {
            spec.copy_from(new.field("spec"), list);
            continue;
        }
        let mut wanted = wanted.iter();
        spec.each(list, |container| {
            if let Some(wanted) = wanted.next() {
                container.copy_from(wanted, "resources");
                container.copy_from(wanted, "resizePolicy");
            }
        });
    }
    if release.enabled(Gate::InPlacePodLevelResourcesVerticalScaling) {
        spec.copy_from(new.field("spec"), "resources");
    }
    object.put("spec", spec);
    generation(object, old);
}

/// `/status`: everything else stays; an emptied class too.
pub(crate) fn status(object: &mut Value, old: &Value) {
    let meta = object.make("metadata");
    meta.drop("deletionTimestamp");
    meta.copy_from(old.field("metadata"), "deletionTimestamp");
    meta.copy_from(old.field("metadata"), "ownerReferences");
    if object.field("status").zero("qosClass") {
        let class = old.field("status").text("qosClass").to_owned();
        if !class.is_empty() {
            object.make("status").put("qosClass", class);
        }
    }
}
