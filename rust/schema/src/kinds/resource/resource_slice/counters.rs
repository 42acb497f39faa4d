//! Sets of counters.

use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::rules::check::Check;
use crate::rules::format::name;
use crate::rules::resource;

/// `validateCounterSet` and `validateDeviceCounterConsumption`, whose names are in different fields.
pub(super) fn validate(set: &Value, key: &str, path: &Path<'_>, causes: &mut Causes) {
    if set.zero(key) {
        causes.need(&path.child(key));
    } else {
        causes.format(&path.child(key), set.text(key), name::label);
    }
    let at = path.child("counters");
    if set.zero("counters") {
        causes.need(&at);
    }
    for (own, counter) in set.entries("counters") {
        causes.format(&at, own, name::label);
        resource::not_negative(counter.field("value"), &at.key(own).child("value"), causes);
    }
}
