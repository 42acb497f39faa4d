//! Nodes.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Again, CauseReason, Causes, Path, Value, Whole};

use crate::internal::{self, InternalCauses};
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{ip, label};
use crate::validate::pod::taint_effect;
use crate::validate::resource;

const SPEC: Path<'static> = Path::new("spec");
const STATUS: Path<'static> = Path::new("status");
const METADATA: Path<'static> = Path::new("metadata");

pub(crate) fn rules(object: &Value, causes: &mut Causes) {
    taints(object, causes);
    resources(object, causes);
    let cidrs = object.sub("spec").list("podCIDRs");
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
        let v6 = parsed.iter().flatten().filter(|(a, _)| a.is_ipv6()).count();
        let mixed = parsed.iter().all(Option::is_some) && v6 > 0 && v6 < parsed.len();
        if !mixed || cidrs.len() > 2 {
            let detail = "may specify no more than one CIDR for each IP family";
            causes.invalid(&at, object.sub("spec").sub("podCIDRs"), detail);
        }
    }
    declared(object, causes);
}

/// `validateNodeTaints`, which upstream reports under the metadata.
fn taints(object: &Value, causes: &mut Causes) {
    let list = object.sub("spec").list("taints");
    let path = METADATA.child("taints");
    let again = Again::of(list, |t| (t.s("key"), t.s("effect")));
    for (i, taint) in list.iter().enumerate() {
        let at = path.index(i);
        causes.format(&at.child("key"), taint.s("key"), label::key);
        let mut wrong: Vec<String> = Vec::new();
        label::value(taint.s("value"), &mut |detail| wrong.push(detail.to_owned()));
        if !wrong.is_empty() {
            causes.invalid_str(&at.child("value"), taint.s("value"), &wrong.join(";"));
        }
        taint_effect(taint.s("effect"), false, &at.child("effect"), causes);
        if again.at(i) {
            let shown = internal::json("core.Taint", taint);
            let message = format!("Duplicate value: {shown}: taints must be unique by key and effect pair");
            causes.push(&at, CauseReason::Duplicate, message);
        }
    }
}

fn resources(object: &Value, causes: &mut Causes) {
    for list in ["capacity", "allocatable"] {
        let at = STATUS.child(list);
        for (name, amount) in object.sub("status").entries(list) {
            resource::value(name, amount, &at.child(name), causes);
        }
    }
}

/// The features that a node says it has: sorted, distinct names.
fn declared(object: &Value, causes: &mut Causes) {
    let list = object.sub("status").list("declaredFeatures");
    let path = STATUS.child("declaredFeatures");
    for (i, feature) in list.iter().enumerate() {
        let text = feature.as_str().unwrap_or("");
        if !is_feature(text) {
            let detail = format!(
                "invalid feature name \"{text}\": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            );
            causes.invalid_str(&path.index(i), text, &detail);
        }
        if i > 0 {
            let before = list[i - 1].as_str().unwrap_or("");
            if before == text {
                causes.duplicate_str(&path.index(i), text);
            } else if before > text {
                causes.invalid_str(&path.index(i), text, "list must be sorted alphabetically");
            }
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

pub(crate) fn update(object: &Value, old: &Value, causes: &mut Causes) {
    const CIDR: &str = "node updates may not change podCIDR except from \"\" to valid";
    resources(object, causes);
    declared(object, causes);
    let at = STATUS.child("addresses");
    let addresses = object.sub("status").list("addresses");
    let again = Again::of(addresses, Whole);
    for (i, address) in addresses.iter().enumerate() {
        if again.at(i) {
            causes.duplicate_internal(&at.index(i), "core.NodeAddress", address);
        }
    }
    let (now, before) = (object.sub("spec").list("podCIDRs"), old.sub("spec").list("podCIDRs"));
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
    let provider = old.sub("spec").s("providerID");
    if !provider.is_empty() && provider != object.sub("spec").s("providerID") {
        let detail = "node updates may not change providerID except from \"\" to valid";
        causes.forbidden(&SPEC.child("providerID"), detail);
    }
    taints(object, causes);
}
