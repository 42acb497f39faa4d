//! Resource pool status requests (`pkg/registry/resource/resourcepoolstatusrequest/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use crate::kind::{Request, Strategy, reset_metadata};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::conditions;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write, same_field};

const SPEC: Path<'static> = Path::new("spec");
const STATUS: Path<'static> = Path::new("status");
const MOST_POOLS: usize = 1000;
const MOST_CONDITIONS: usize = 10;

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    allow_unconditional_update: false,
    default: |_, object, _| object.make("spec").unset("limit", 100),
    validate: |_, object, causes| validate(object.field("spec"), causes),
    validate_update,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `Validate_ResourcePoolStatusRequestSpec`.
fn validate(spec: &Value, causes: &mut Causes) {
    driver(spec, &SPEC, causes);
    if spec.has("poolName") {
        pool(spec, &SPEC, causes);
    }
    check_bounds(spec, "limit", 1, &SPEC, causes);
    if spec.int("limit") > 1000 {
        causes.invalid_int(&SPEC.child("limit"), spec.int("limit"), "must be less than or equal to 1000");
    }
}

/// `ValidateResourcePoolStatusRequestUpdate` and `ValidateResourcePoolStatusRequestStatusUpdate`.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource != "status" {
        if !same_field(object, old, "spec") {
            causes.invalid(&SPEC, &Value::Null, IMMUTABLE);
        }
        return;
    }
    match (object.opt("status"), old.opt("status")) {
        (now, Some(was)) if now != Some(was) => {
            causes.invalid(&STATUS, now.unwrap_or(&Value::Null), IMMUTABLE);
        }
        (Some(now), None) => status(now, causes),
        _ => {}
    }
}

/// Validate the status, which is written once.
fn status(status: &Value, causes: &mut Causes) {
    let list = status.list("conditions");
    conditions::conditions(list, &STATUS.child("conditions"), causes);
    if status.has("poolCount") {
        check_bounds(status, "poolCount", 0, &STATUS, causes);
    } else {
        causes.need(&STATUS.child("poolCount"));
    }
    let (pools, at) = (status.list("pools"), STATUS.child("pools"));
    if pools.len() > MOST_POOLS {
        causes.too_many(&at, pools.len(), MOST_POOLS);
    } else {
        pools.iter().enumerate().for_each(|(i, one)| pool_status(one, &at.index(i), causes));
    }
    let at = STATUS.child("conditions");
    if list.len() > MOST_CONDITIONS {
        return causes.too_many(&at, list.len(), MOST_CONDITIONS);
    }
    let duplicates = Duplicates::of(list, |v| v.text("type"));
    for (i, one) in list.iter().enumerate().filter(|(i, _)| duplicates.is_repeat(*i)) {
        causes.duplicate_internal(&at.index(i), "meta.Condition", one);
    }
}

/// `Validate_PoolStatus`.
fn pool_status(pool_: &Value, at: &Path<'_>, causes: &mut Causes) {
    driver(pool_, at, causes);
    if pool_.zero("poolName") {
        causes.need(&at.child("poolName"));
    } else {
        pool(pool_, at, causes);
    }
    if pool_.zero("generation") {
        causes.need(&at.child("generation"));
    } else {
        check_bounds(pool_, "generation", 0, at, causes);
    }
    check_bounds(pool_, "resourceSliceCount", 1, at, causes);
    for key in ["totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"] {
        check_bounds(pool_, key, 0, at, causes);
    }
    if let Some(node) = pool_.opt("nodeName") {
        causes.format(&at.child("nodeName"), node.as_str().unwrap_or(""), name::long);
    }
    if pool_.text("validationError").len() > 256 {
        causes.too_long(&at.child("validationError"), 256);
    }
}

fn driver(of: &Value, at: &Path<'_>, causes: &mut Causes) {
    let at = at.child("driver");
    match of.text("driver") {
        "" => causes.need(&at),
        driver => causes.format(&at, driver, name::caseless),
    }
}

/// `validate.ResourcePoolName`.
fn pool(of: &Value, at: &Path<'_>, causes: &mut Causes) {
    let (own, at) = (of.text("poolName"), at.child("poolName"));
    if own.len() > 253 {
        causes.too_long(&at, 253);
    }
    for (i, part) in own.split('/').enumerate() {
        if part.is_empty() {
            causes.invalid_str(&at, own, &format!("segment {i}: must not be empty"));
        } else {
            name::long(part, &mut |detail| causes.invalid_str(&at, part, &format!("segment {i}: {detail}")));
        }
    }
}

fn check_bounds(of: &Value, key: &'static str, least: i64, at: &Path<'_>, causes: &mut Causes) {
    if let Some(number) = of.opt_int(key).filter(|n| *n < least) {
        causes.invalid_int(&at.child(key), number, &format!("must be greater than or equal to {least}"));
    }
}

/// `printResourcePoolStatusRequest`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let status = subject.status();
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
        completed = subject.since(end.text("lastTransitionTime"));
        state = if count > pools.len() as i64 {
            format!("Complete ({}/{count} pools)", pools.len())
        } else {
            "Complete".to_owned()
        };
    }
    let known = subject.object.has("status") && !failed;
    let shown = |n: i64| if known { n.to_string() } else { "-".to_owned() };
    let sum = |key| shown(pools.iter().map(|p| p.int(key)).fold(0, i64::saturating_add));
    cells![
        subject.name(),
        subject.spec().text("driver"),
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
