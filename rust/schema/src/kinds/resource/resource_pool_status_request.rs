//! Resource pool status requests (`pkg/registry/resource/resourcepoolstatusrequest/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::{Strategy, reset_metadata};
use crate::read::Read;
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `printResourcePoolStatusRequest`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let status = of.status();
    let pools = status.list("pools");
    let count = status.int("poolCount");
    let end = status
        .list("conditions")
        .iter()
        .find(|c| matches!(c.text("type"), "Complete" | "Failed") && c.text("status") == "True");
    let (mut state, mut completed) = ("Pending".to_owned(), "<none>".to_owned());
    let failed = end.is_some_and(|c| c.text("type") == "Failed");
    if failed {
        "Failed".clone_into(&mut state);
    } else if let Some(end) = end {
        completed = of.since(end.text("lastTransitionTime"));
        state = if count > pools.len() as i64 {
            format!("Complete ({}/{count} pools)", pools.len())
        } else {
            "Complete".to_owned()
        };
    }
    let known = of.object.has("status") && !failed;
    let shown = |n: i64| if known { n.to_string() } else { "-".to_owned() };
    let sum = |key| shown(pools.iter().map(|p| p.int(key)).fold(0, i64::saturating_add));
    cells![
        of.name(),
        of.spec().text("driver"),
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
