//! Nodes (`pkg/registry/core/node/strategy.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]
#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{CauseReason, Causes, Duplicates, Path, Value, Whole, notation};

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal::{self as internal, InternalCauses};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{ip, json, label};
use hydrofoil_rules::pod_template::validate::taint_effect;
use hydrofoil_rules::quantities::resource_list;
use hydrofoil_rules::table::text::or;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_rules::{address, resource};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    creates_status: true,
    prepare_create: |_, object, _| drop_config(object),
    prepare_status: |_, object, _, _| drop_config(object),
    default: |_, object, _| default(object),
    drop_disabled,
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |req, object, old, causes| {
        if req.subresource.is_empty() {
            validate(object, causes);
        }
        validate_update(object, old, causes);
    },
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    // The conversion joins the two fields for pod networks; the single one takes precedence.
    object.within("spec", |spec| {
        let first = spec.list("podCIDRs").first().and_then(Value::as_str).unwrap_or("").to_owned();
        let single = spec.text("podCIDR").to_owned();
        if single.is_empty() {
            if !first.is_empty() {
                spec.put("podCIDR", first);
            }
        } else if single != first {
            spec.put("podCIDRs", vec![Value::from(single)]);
        }
    });
    object.within("status", |status| {
        resource_list(status, "capacity");
        resource_list(status, "allocatable");
        // An empty list counts as none.
        if status.entries("allocatable").next().is_none()
            && let Some(capacity) = status.opt("capacity").cloned()
        {
            status.put("allocatable", capacity);
        }
    });
}

/// Drop the state of `DynamicKubeletConfig`, which no node has any more.
fn drop_config(object: &mut Value) {
    object.within("status", |status| status.drop("config"));
}

/// Drop the features that a node declares, and the source of `DynamicKubeletConfig`, which was removed.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    hydrofoil_rules::gates::drop_unused(object, old, &["configSource"]);
    let declares = || old.is_some_and(|o| !o.field("status").list("declaredFeatures").is_empty());
    if !release.enabled(Gate::NodeDeclaredFeatures) && !declares() {
        object.within("status", |status| status.drop("declaredFeatures"));
    }
}

const SPEC: Path<'static> = Path::new("spec");

const STATUS: Path<'static> = Path::new("status");

const METADATA: Path<'static> = Path::new("metadata");

fn validate(object: &Value, causes: &mut Causes) {
    annotations(object, causes);
    taints(object.field("spec").list("taints"), &METADATA.child("taints"), causes);
    resources(object, causes);
    if let Some(amount) = object.field("status").field("nodeInfo").field("swap").opt_int("capacity").filter(|n| *n <= 0)
    {
        causes.invalid_int(&METADATA.child("nodeSwapStatus").child("capacity"), amount, "must be greater than zero");
    }
    let cidrs = object.field("spec").list("podCIDRs");
    let at = SPEC.child("podCIDRs");
    for (i, cidr) in cidrs.iter().enumerate() {
        causes.format(&at.index(i), cidr.as_str().unwrap_or(""), ip::cidr_legacy);
    }
    if cidrs.len() > 1 {
        let parsed: Vec<_> = cidrs.iter().map(|c| ip::parse_cidr_sloppy(c.as_str().unwrap_or(""))).collect();
        if let Some(bad) = parsed.iter().position(Option::is_none) {
            let text = cidrs[bad].as_str().unwrap_or("");
            let message = format!(
                "Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{bad}]: <nil> (invalid CIDR address: {text})"
            );
            causes.push(&at, CauseReason::Internal, message);
        }
        let v6 = parsed.iter().flatten().filter(|(a, n)| !ip::is_v4(ip::network(*a, *n))).count();
        let mixed = parsed.iter().all(Option::is_some) && v6 > 0 && v6 < parsed.len();
        if !mixed || cidrs.len() > 2 {
            let detail = "may specify no more than one CIDR for each IP family";
            causes.invalid(&at, object.field("spec").field("podCIDRs"), detail);
        }
    }
    declared_features(object, causes);
}

/// `ValidateNodeSpecificAnnotations`: taints and pods to avoid, as JSON.
fn annotations(object: &Value, causes: &mut Causes) {
    const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
    const AVOID: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
    let given = object.field("metadata").field("annotations");
    let path = METADATA.child("annotations");
    let read = |key: &str, at: &Path<'_>, causes: &mut Causes| match given.text(key) {
        "" => Value::Null,
        text => match json::syntax_problem(text.as_bytes()) {
            None => notation::parse(text).unwrap_or_default(),
            Some(problem) => {
                causes.invalid_str(at, key, &problem);
                Value::Null
            }
        },
    };
    if let Value::Array(list) = read(TAINTS, &path, causes) {
        taints(&list, &path.child(TAINTS), causes);
    }
    let avoided = read(AVOID, &path.child("AvoidPods"), causes);
    for (i, entry) in avoided.list("preferAvoidPods").iter().enumerate() {
        let at = path.child(AVOID);
        let at = at.index(i);
        let at = at.child("PodSignature");
        match entry.field("podSignature").opt("podController") {
            None => causes.need(&at),
            Some(owner) if !owner.flag("controller") => {
                let at = at.child("PodController");
                causes.invalid(&at.child("Controller"), &Value::Bool(false), "must point to a controller");
            }
            Some(_) => {}
        }
    }
}

/// `validateNodeTaints`, which upstream reports under the metadata.
fn taints(list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(list, |t| (t.text("key"), t.text("effect")));
    for (i, taint) in list.iter().enumerate() {
        let at = path.index(i);
        causes.format(&at.child("key"), taint.text("key"), label::key);
        let mut wrong: Vec<String> = Vec::new();
        label::value(taint.text("value"), &mut |detail| wrong.push(detail.to_owned()));
        if !wrong.is_empty() {
            causes.invalid_str(&at.child("value"), taint.text("value"), &wrong.join(";"));
        }
        taint_effect(taint.text("effect"), false, &at.child("effect"), causes);
        if duplicates.is_repeat(i) {
            let shown = internal::json("core.Taint", taint);
            let message = format!("Duplicate value: {shown}: taints must be unique by key and effect pair");
            causes.push(&at, CauseReason::Duplicate, message);
        }
    }
}

fn resources(object: &Value, causes: &mut Causes) {
    for list in ["capacity", "allocatable"] {
        let at = STATUS.child(list);
        for (name, amount) in object.field("status").entries(list) {
            resource::value(name, amount, &at.child(name), causes);
        }
    }
}

/// Validate the declared features of a node: sorted, distinct names.
fn declared_features(object: &Value, causes: &mut Causes) {
    let list = object.field("status").list("declaredFeatures");
    let path = STATUS.child("declaredFeatures");
    for (i, feature) in list.iter().enumerate() {
        let text = feature.as_str().unwrap_or("");
        if !is_feature(text) {
            let detail = format!(
                "invalid feature name \"{text}\": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            );
            causes.invalid_str(&path.index(i), text, &detail);
        }
        // The order is judged with the feature before, so that it is reported first.
        let Some(next) = list.get(i + 1).map(|next| next.as_str().unwrap_or("")) else { continue };
        if text == next {
            causes.duplicate_str(&path.index(i + 1), next);
        } else if text > next {
            causes.invalid_str(&path.index(i + 1), next, "list must be sorted alphabetically");
        }
    }
}

fn is_feature(text: &str) -> bool {
    text.split('/').enumerate().all(|(i, part)| {
        let b = part.as_bytes();
        !b.is_empty()
            && b.iter().all(u8::is_ascii_alphanumeric)
            && if i == 0 { b[0].is_ascii_uppercase() } else { b[0].is_ascii_alphabetic() }
    })
}

fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    const CIDR: &str = "node updates may not change podCIDR except from \"\" to valid";
    annotations(object, causes);
    resources(object, causes);
    declared_features(object, causes);
    let at = STATUS.child("addresses");
    let addresses = object.field("status").list("addresses");
    let duplicates = Duplicates::of(addresses, Whole);
    for (i, address) in addresses.iter().enumerate() {
        if duplicates.is_repeat(i) {
            causes.duplicate_internal(&at.index(i), "core.NodeAddress", address);
        }
    }
    let (now, before) = (object.field("spec").list("podCIDRs"), old.field("spec").list("podCIDRs"));
    if !before.is_empty() {
        if now.len() == before.len() {
            for (a, b) in now.iter().zip(before) {
                if a != b {
                    causes.forbidden(&SPEC.child("podCIDRs"), CIDR);
                }
            }
        } else {
            causes.forbidden(&SPEC.child("podCIDRs"), CIDR);
        }
    }
    let provider = old.field("spec").text("providerID");
    if !provider.is_empty() && provider != object.field("spec").text("providerID") {
        let detail = "node updates may not change providerID except from \"\" to valid";
        causes.forbidden(&SPEC.child("providerID"), detail);
    }
    taints(object.field("spec").list("taints"), &METADATA.child("taints"), causes);
    if old.field("spec").text("externalID") != object.field("spec").text("externalID") {
        causes.forbidden(&SPEC.child("externalID"), "may not be updated");
    }
}

/// `fieldIsDeprecatedWarnings` of nodes, and their blocks of addresses.
fn warn(object: &Value, out: &mut Vec<String>) {
    let spec = object.field("spec");
    if spec.has("configSource") {
        out.push("spec.configSource: the feature is removed".into());
    }
    if !spec.text("externalID").is_empty() {
        out.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".into());
    }
    let path = Path::new("spec");
    let path = path.child("podCIDRs");
    for (i, text) in spec.list("podCIDRs").iter().enumerate() {
        address::cidr(text.as_str().unwrap_or(""), &path.index(i), out);
    }
}

fn row(subject: &Subject<'_>) -> Vec<Value> {
    let info = subject.status().field("nodeInfo");
    // Of several conditions of a type the last counts.
    let ready = subject.status().list("conditions").iter().rev().find(|c| c.text("type") == "Ready");
    let mut status = match ready.map(|c| c.text("status") == "True") {
        Some(true) => "Ready",
        Some(false) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if subject.spec().flag("unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let roles = roles(subject).join(",");
    let mut kernel = or(info.text("kernelVersion"), "<unknown>").to_owned();
    if !info.text("architecture").is_empty() {
        kernel = format!("{kernel} ({})", info.text("architecture"));
    }
    cells![
        subject.name(),
        status,
        or(&roles, "<none>"),
        subject.age(),
        info.text("kubeletVersion"),
        address(subject, "InternalIP"),
        address(subject, "ExternalIP"),
        or(info.text("osImage"), "<unknown>"),
        kernel,
        or(info.text("containerRuntimeVersion"), "<unknown>"),
    ]
}

/// `findNodeRoles`.
fn roles<'a>(subject: &Subject<'a>) -> Vec<&'a str> {
    let mut roles: Vec<_> = subject
        .meta()
        .labels()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => Some(value),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

fn address<'a>(subject: &Subject<'a>, kind: &str) -> &'a str {
    subject.status().list("addresses").iter().find(|a| a.text("type") == kind).map_or("<none>", |a| a.text("address"))
}
