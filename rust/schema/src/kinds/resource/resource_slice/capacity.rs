//! Capacities of devices (`pkg/apis/resource/validation/validation.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::resource::quantity;
use hydrofoil_types::read::Read;

/// How many discrete values a policy may list (`CapacityRequestPolicyDiscreteMaxOptions`).
const MOST_VALUES: usize = 10;

/// `validateMultiAllocatableDeviceCapacity`, `validateSingleAllocatableDeviceCapacity`: the policy of a capacity fits
/// its amount.
pub(super) fn validate(value: &Value, many: bool, path: &Path<'_>, causes: &mut Causes) {
    let Some(policy) = value.opt("requestPolicy") else { return };
    let at = path.child("requestPolicy");
    if !many {
        return causes.forbidden(&at, "allowMultipleAllocations must be true");
    }
    let most = value.field("value");
    let default = policy.opt("default");
    match (policy.list("validValues"), policy.opt("validRange")) {
        ([], None) => {}
        ([], Some(range)) => match default {
            Some(default) => valid_range(range, default, most, &at.child("validRange"), causes),
            None => causes.required(&at.child("default"), "required when validRange is defined"),
        },
        (values, None) => match default {
            Some(default) => valid_values(values, default, most, &at.child("validValues"), causes),
            None => causes.required(&at.child("default"), "required when validValues is defined"),
        },
        (_, Some(_)) => causes.forbidden(
            &at,
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
        ),
    }
}

fn nano(value: &Value) -> i128 {
    quantity(value).nano()
}

fn quantity_text(value: &Value) -> &str {
    value.as_str().unwrap_or("0")
}

/// `validateRequestPolicyValidValues`.
fn valid_values(values: &[Value], default: &Value, most: &Value, path: &Path<'_>, causes: &mut Causes) {
    for (i, pair) in values.windows(2).enumerate() {
        if let [before, after] = pair
            && nano(before) > nano(after)
        {
            causes.invalid(&path.index(i.saturating_add(1)), after, "values must be sorted in ascending order");
        }
    }
    if values.len() > MOST_VALUES {
        causes.too_many(path, values.len(), MOST_VALUES);
    } else {
        for (i, one) in values.iter().enumerate() {
            if nano(one) > nano(most) {
                let detail = format!("option is larger than capacity value: {}", quantity_text(most));
                causes.invalid(&path.index(i), one, &detail);
            }
        }
        let key = |v: &Value| quantity(v).value();
        let duplicates = Duplicates::of(values, key);
        for (i, one) in values.iter().enumerate() {
            if duplicates.is_repeat(i) {
                causes.duplicate_str(&path.index(i), &key(one).to_string());
            }
        }
    }
    if values.len() > MOST_VALUES || values.iter().all(|one| nano(one) != nano(default)) {
        causes.invalid(path, default, "default value is not valid according to the requestPolicy");
    }
}

/// `validateRequestPolicyRange`.
fn valid_range(range: &Value, default: &Value, most: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("min");
    let Some(min) = range.opt("min") else {
        return causes.required(&at, "required when validRange is defined");
    };
    if nano(min) > nano(most) {
        causes.invalid(&at, min, &format!("min is larger than capacity value: {}", quantity_text(most)));
    }
    if nano(default) < nano(min) {
        causes.invalid(&at, default, &format!("default is less than min: {}", quantity_text(min)));
    }
    let max = range.opt("max");
    if let Some(max) = max {
        let at = path.child("max");
        if nano(min) > nano(max) {
            causes.invalid(&at, min, &format!("min is larger than max: {}", quantity_text(max)));
        }
        if nano(max) > nano(most) {
            causes.invalid(&at, max, &format!("max is larger than capacity value: {}", quantity_text(most)));
        }
        if nano(default) > nano(max) {
            causes.invalid(&at, default, &format!("default is more than max: {}", quantity_text(max)));
        }
    }
    if let Some(step) = range.opt("step") {
        let at = path.child("step");
        let sum = nano(min).saturating_add(nano(step));
        if sum > nano(most) {
            let added = quantity(min).with_nano(sum);
            causes.invalid(
                &at,
                step,
                &format!("one step {added} is larger than capacity value: {}", quantity_text(most)),
            );
        }
        for value in std::iter::once(default).chain(max) {
            step_fits(value, min, step, &at, causes);
        }
    }
}

/// `validateRequestPolicyRangeStep`: in whole numbers. A step of nothing, a panic upstream, fits nothing.
fn step_fits(value: &Value, min: &Value, step: &Value, path: &Path<'_>, causes: &mut Causes) {
    let whole = |v: &Value| -> i128 { quantity(v).value() };
    if whole(value).saturating_sub(whole(min)).checked_rem(whole(step)) != Some(0) {
        let detail =
            format!("value is not a multiple of a given step ({}) from ({})", quantity_text(step), quantity_text(min));
        causes.invalid(path, value, &detail);
    }
}
