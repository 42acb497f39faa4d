//! Capacities of devices.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "amounts are far below 128 bits; a step of nothing is looked at before"
)]
#![allow(clippy::indexing_slicing, reason = "the place before was there")]

use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::rules::resource::quantity;

/// `validateDeviceCapacity`: the policy of a capacity fits its amount.
pub(super) fn validate(value: &Value, many: bool, path: &Path<'_>, causes: &mut Causes) {
    let Some(policy) = value.opt("requestPolicy") else { return };
    let at = path.child("requestPolicy");
    if !many {
        return causes.forbidden(&at, "allowMultipleAllocations must be true");
    }
    let most = quantity(value.field("value")).nano();
    let shown = |v: &Value| v.as_str().unwrap_or("0").to_owned();
    let default = policy.opt("default");
    let (values, range) = (policy.list("validValues"), policy.opt("validRange"));
    if !values.is_empty() && range.is_some() {
        causes.forbidden(
            &at,
            "exactly one policy can be specified, cannot specify `validValues` and `validRange` at the same time",
        );
    }
    if default.is_none() && !values.is_empty() {
        causes.required(&at.child("default"), "required when validValues is defined");
    }
    let values_at = at.child("validValues");
    for (i, one) in values.iter().enumerate() {
        if quantity(one).nano() > most {
            let detail = format!("option is larger than capacity value: {}", shown(value.field("value")));
            causes.invalid(&values_at.index(i), one, &detail);
        }
        if i > 0 && quantity(&values[i - 1]).nano() > quantity(one).nano() {
            causes.invalid(&values_at.index(i), one, "values must be sorted in ascending order");
        }
    }
    let Some(range) = range else { return };
    if default.is_none() {
        causes.required(&at.child("default"), "required when validRange is defined");
    }
    let range_at = at.child("validRange");
    let Some(min) = range.opt("min") else {
        return causes.required(&range_at.child("min"), "required when validRange is defined");
    };
    if quantity(min).nano() > most {
        let detail = format!("min is larger than capacity value: {}", shown(value.field("value")));
        causes.invalid(&range_at.child("min"), min, &detail);
    }
    if let Some(d) = default.filter(|d| quantity(d).nano() < quantity(min).nano()) {
        causes.invalid(&range_at.child("min"), d, &format!("default is less than min: {}", shown(min)));
    }
    if let Some(max) = range.opt("max")
        && quantity(max).nano() > most
    {
        let detail = format!("max is larger than capacity value: {}", shown(value.field("value")));
        causes.invalid(&range_at.child("max"), max, &detail);
    }
    if let Some(step) = range.opt("step") {
        let (s, m) = (quantity(step).nano(), quantity(min).nano());
        let at = range_at.child("step");
        if m.saturating_add(s) > most {
            let one = quantity(step).with_nano(m.saturating_add(s));
            let detail = format!("one step {one} is larger than capacity value: {}", shown(value.field("value")));
            causes.invalid(&at, step, &detail);
        }
        if let Some(d) = default
            && s != 0
            && (quantity(d).nano() - m) % s != 0
        {
            let detail = format!("value is not a multiple of a given step ({}) from ({})", shown(step), shown(min));
            causes.invalid(&at, d, &detail);
        }
    }
}
