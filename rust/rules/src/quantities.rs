//! Lists of quantities (`v1.ResourceList`).

#![allow(clippy::arithmetic_side_effects, reason = "amounts are far below 128 bits")]

use hydrofoil_types::{Map, Path, Quantity, Value};

use crate::resource::quantity;
use hydrofoil_types::read::{Read, Write};

/// `SetDefaults_ResourceList`: amounts below a thousandth are rounded up.
pub fn resource_list(holder: &mut Value, key: &str) {
    const MILLI: i128 = 1_000_000;
    let Some(map) = holder.get_mut(key).and_then(Value::as_object_mut) else { return };
    for (_, amount) in map.iter_mut() {
        // Only these two suffixes can stand for less than a thousandth.
        let Some(quantity) = amount.as_str().filter(|t| t.ends_with(['n', 'u'])).and_then(|t| Quantity::parse(t).ok())
        else {
            continue;
        };
        let nano = quantity.nano();
        let rest = nano % MILLI;
        if rest != 0 {
            let up = nano - rest + if nano > 0 { MILLI } else { -MILLI };
            *amount = Value::from(quantity.with_nano(up).to_string());
        }
    }
}

/// Copy the entries of a resource list that another lacks.
pub fn fill_list(holder: &mut Value, to: &str, from: &Map) {
    let target = holder.make(to);
    let Some(map) = target.as_object_mut() else { return };
    let mut added = false;
    for (name, amount) in from {
        if !map.contains_key(name) {
            map.push(name.clone(), amount.clone());
            added = true;
        }
    }
    if added {
        map.sort_keys();
    }
}

/// Warn if `MilliValue() % 1000` is not 0.
pub fn fractional(of: &Value, name: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let Some(value) = of.opt(name) else { return };
    if quantity(value).milli() % 1000 != 0 {
        out.push(format!(
            "{}: fractional byte value \"{}\" is invalid, must be an integer",
            path.key(name),
            value.as_str().unwrap_or("")
        ));
    }
}
