//! Sets of counters.

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_types::read::Read;

/// How many counters a set has at most.
const MOST: usize = 32;

/// Validate sets of counters, whose names are in a field.
pub(super) fn sets(sets: &[Value], key: &str, most: usize, path: &Path<'_>, causes: &mut Causes) {
    if sets.len() > most {
        return causes.too_many(path, sets.len(), most);
    }
    let duplicates = Duplicates::of(sets, |set| set.text(key));
    for (i, set) in sets.iter().enumerate() {
        let at = path.index(i);
        validate(set, key, &at, causes);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, set.text(key));
        }
    }
}

/// `validateCounterSet` and `validateDeviceCounterConsumption`: any amount is valid.
fn validate(set: &Value, key: &str, path: &Path<'_>, causes: &mut Causes) {
    if set.zero(key) {
        causes.need(&path.child(key));
    } else {
        causes.format(&path.child(key), set.text(key), name::label);
    }
    let at = path.child("counters");
    let count = set.entries("counters").len();
    if count == 0 {
        causes.need(&at);
    } else if count > MOST {
        causes.too_many(&at, count, MOST);
    } else {
        for (own, _) in set.entries("counters") {
            causes.format(&at, own, name::label);
        }
    }
}
