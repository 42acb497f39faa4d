//! The addresses of services and their families.

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value, Whole};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::ip;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// Report whether a service has no address on purpose.
pub(super) fn headless(spec: &Value) -> bool {
    matches!(spec.list("clusterIPs"), [one] if one.as_str() == Some("None"))
}

/// `ValidateServiceClusterIPsRelatedFields`.
pub(crate) fn rules(spec: &Value, old: Option<&Value>, causes: &mut Causes) {
    if spec.text("type") == "ExternalName" {
        return;
    }
    let (at, list, first) = (SPEC.child("clusterIPs"), spec.list("clusterIPs"), spec.text("clusterIP"));
    let whole = spec.field("clusterIPs");
    if first.is_empty() {
        if !list.is_empty() {
            causes.invalid(&at, whole, "must be empty when `clusterIP` is not specified");
        }
    } else if list.is_empty() {
        causes.need(&at);
    } else if list[0].as_str() != Some(first) {
        causes.invalid(&at, whole, "first value must match `clusterIP`");
    }
    let families = spec.list("ipFamilies");
    let families_at = SPEC.child("ipFamilies");
    let duplicates = Duplicates::of(families, Whole);
    for (i, family) in families.iter().enumerate() {
        let text = family.as_str().unwrap_or("");
        causes.one_of(&families_at.index(i), text, &["IPv4", "IPv6"]);
        if duplicates.is_repeat(i) {
            causes.duplicate(&families_at.index(i), family);
        }
    }
    if let Some(policy) = spec.opt("ipFamilyPolicy") {
        let known = ["PreferDualStack", "RequireDualStack", "SingleStack"];
        causes.one_of(&SPEC.child("ipFamilyPolicy"), policy.as_str().unwrap_or(""), &known);
    }
    let kept: KeySet<_> = old.map_or(&[][..], |o| o.list("clusterIPs")).iter().map(Whole).collect();
    let mut wrong = false;
    for (i, address) in list.iter().enumerate() {
        let text = address.as_str().unwrap_or("");
        if i == 0 && text == "None" {
            if list.len() > 1 {
                wrong = true;
                causes.invalid(&at, whole, "'None' must be the first and only value");
            }
            continue;
        }
        if kept.contains(&Whole(address)) {
            continue;
        }
        let before = causes.len();
        causes.format(&at.index(i), text, ip::ip_legacy);
        wrong |= causes.len() > before;
    }
    if list.len() > 2 {
        causes.invalid(&at, whole, "may only hold up to 2 values");
    }
    if wrong {
        return;
    }
    let v6 = |v: &Value| v.as_str().is_some_and(|t| t.contains(':'));
    if list.len() > 1 && (list.iter().all(v6) || !list.iter().any(v6)) {
        causes.invalid(&at, whole, "may specify no more than one IP for each IP family");
    }
    if !headless(spec) {
        for (i, (address, family)) in list.iter().zip(families).enumerate() {
            let wanted = family.as_str().unwrap_or("");
            if (wanted == "IPv4" && v6(address)) || (wanted == "IPv6" && !v6(address)) {
                let detail = format!("expected an {wanted} value as indicated by `ipFamilies[{i}]`");
                causes.invalid(&at.index(i), address, &detail);
            }
        }
    }
}

/// `validateUpgradeDowngradeClusterIPs` and that of the families: the first is kept, and the second while it is needed.
pub(super) fn changes(new: &Value, old: &Value, causes: &mut Causes) {
    if new.text("type") == "ExternalName" || old.text("type") == "ExternalName" {
        return;
    }
    let both = headless(new) && headless(old);
    if !both {
        members(new, old, &Listed { key: "clusterIPs", one: "clusterIP", fixed_at_first: false }, causes);
    }
    if !headless(new) && !headless(old) {
        members(new, old, &Listed { key: "ipFamilies", one: "ipFamily", fixed_at_first: true }, causes);
    }
}

/// A list that changes by its second item only.
struct Listed {
    key: &'static str,
    one: &'static str,
    /// Whether every change is reported at the first item.
    fixed_at_first: bool,
}

fn members(new: &Value, old: &Value, listed: &Listed, causes: &mut Causes) {
    const FIXED: &str = "may not change once set";
    let at = SPEC.child(listed.key);
    let (now, before) = (new.list(listed.key), old.list(listed.key));
    let shown = new.field(listed.key);
    if now.len() == before.len() {
        for (i, _) in now.iter().zip(before).enumerate().filter(|(_, (a, b))| a != b) {
            causes.invalid(&at.index(if listed.fixed_at_first { 0 } else { i }), shown, FIXED);
        }
        return;
    }
    if now.is_empty() {
        let detail = format!("primary {} can not be unset", listed.one);
        return causes.invalid(&at.index(0), shown, &detail);
    }
    if before.first().is_some_and(|b| now.first() != Some(b)) {
        causes.invalid(&at.index(0), shown, FIXED);
    }
    if now.len() < before.len() && now.len() == 1 && new.text("ipFamilyPolicy") != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {}", listed.one);
        causes.invalid(&SPEC.child("ipFamilyPolicy"), new.field("ipFamilyPolicy"), &detail);
    }
}
