//! Dynamic resource allocation.

use hydrofoil_types::Value;

use super::subject::Subject;
use crate::read::Read;

/// `printResourceClaim`.
pub(super) fn claim(of: &Subject<'_>) -> Vec<Value> {
    let status = of.status();
    let state = match (of.deleting(), status.has("allocation"), !status.list("reservedFor").is_empty()) {
        (false, false, _) => "pending",
        (true, false, _) => "deleted",
        (false, true, false) => "allocated",
        (false, true, true) => "allocated,reserved",
        (true, true, false) => "deleted,allocated",
        (true, true, true) => "deleted,allocated,reserved",
    };
    cells![of.name(), state, of.age()]
}

/// `printResourceSlice`.
pub(super) fn slice(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![of.name(), spec.s("nodeName"), spec.s("driver"), spec.sub("pool").s("name"), of.age()]
}

/// `printDeviceTaint`.
pub(super) fn taint_rule(of: &Subject<'_>) -> Vec<Value> {
    let taint = of.spec().sub("taint");
    let added = taint.opt("timeAdded").map_or_else(String::new, |t| of.since(t.as_str().unwrap_or("")));
    cells![of.name(), taint.s("key"), taint.s("value"), taint.s("effect"), added, of.age()]
}

/// `printResourcePoolStatusRequest`.
pub(super) fn pool_request(of: &Subject<'_>) -> Vec<Value> {
    let status = of.status();
    let pools = status.list("pools");
    let count = status.i("poolCount");
    let end = status
        .list("conditions")
        .iter()
        .find(|c| matches!(c.s("type"), "Complete" | "Failed") && c.s("status") == "True");
    let (mut state, mut completed) = ("Pending".to_owned(), "<none>".to_owned());
    let failed = end.is_some_and(|c| c.s("type") == "Failed");
    if failed {
        "Failed".clone_into(&mut state);
    } else if let Some(end) = end {
        completed = of.since(end.s("lastTransitionTime"));
        state = if count > pools.len() as i64 {
            format!("Complete ({}/{count} pools)", pools.len())
        } else {
            "Complete".to_owned()
        };
    }
    let known = of.object.has("status") && !failed;
    let shown = |n: i64| if known { n.to_string() } else { "-".to_owned() };
    let sum = |key| shown(pools.iter().map(|p| p.i(key)).fold(0, i64::saturating_add));
    cells![
        of.name(),
        of.spec().s("driver"),
        sum("totalDevices"),
        sum("availableDevices"),
        sum("allocatedDevices"),
        sum("unavailableDevices"),
        shown(pools.iter().filter(|p| p.has("validationError")).count() as i64),
        count,
        state,
        completed,
    ]
}
