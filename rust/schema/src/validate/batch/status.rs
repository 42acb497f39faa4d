//! The status of a job (`ValidateJobStatus` and the transitions of the strategy).

use hydrofoil_types::{Causes, Path, Timestamp, Value};

use super::policy::parse_indexes;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::workload::counts;

const STATUS: Path<'static> = Path::new("status");

fn is_true(status: &Value, kind: &str) -> bool {
    status.list("conditions").iter().any(|c| c.s("type") == kind && c.s("status") == "True")
}

pub(super) fn update(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.sub("status"), old.sub("status"));
    let spec = object.sub("spec");
    counts(new, &["active", "succeeded", "failed", "terminating", "ready"], &STATUS, causes);
    uncounted(new, causes);
    let (complete, failed) = (is_true(new, "Complete"), is_true(new, "Failed"));
    let finished = complete || failed;
    for key in ["succeeded", "failed"] {
        if new.i(key) < before.i(key) {
            causes.invalid_int(&STATUS.child(key), new.i(key), &format!("cannot decrease the {key} counter"));
        }
    }
    if new.i("ready") > new.i("active") {
        causes.invalid_int(&STATUS.child("ready"), new.i("ready"), "cannot set more ready pods than active");
    }
    if finished {
        if !new.has("startTime") {
            causes.required(&STATUS.child("startTime"), "startTime is required for finished job");
        }
        if new.i("active") > 0 {
            causes.invalid_int(&STATUS.child("active"), new.i("active"), "active>0 is invalid for finished job");
        }
    }
    conditions(new, complete, failed, causes);
    times(new, before, spec, complete, causes);
    indexes(new, spec, causes);
}

fn uncounted(status: &Value, causes: &mut Causes) {
    let Some(pods) = status.opt("uncountedTerminatedPods") else { return };
    let path = STATUS.child("uncountedTerminatedPods");
    let mut seen: Vec<&str> = Vec::new();
    for key in ["succeeded", "failed"] {
        let at = path.child(key);
        for (i, uid) in pods.list(key).iter().enumerate() {
            let uid = uid.as_str().unwrap_or("");
            if uid.is_empty() {
                causes.invalid_str(&at.index(i), uid, "must not be empty");
            } else if seen.contains(&uid) {
                causes.duplicate_str(&at.index(i), uid);
            } else {
                seen.push(uid);
            }
        }
    }
}

fn conditions(status: &Value, complete: bool, failed: bool, causes: &mut Causes) {
    let at = STATUS.child("conditions");
    let (met, target) = (is_true(status, "SuccessCriteriaMet"), is_true(status, "FailureTarget"));
    let mut bad = |detail: &str| {
        // The value is the path, and so nothing is shown but the detail.
        causes.push(&at, hydrofoil_types::CauseReason::Invalid, format!("Invalid value: {detail}"));
    };
    if complete && failed {
        bad("cannot set Complete=True and Failed=true conditions");
    }
    if complete && target {
        bad("cannot set Complete=True and FailureTarget=true conditions");
    }
    if met && target {
        bad("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
    if met && failed {
        bad("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if complete && !met {
        bad("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
    if failed && !target {
        bad("cannot set Failed=True condition without the FailureTarget=true condition");
    }
}

fn times(new: &Value, before: &Value, spec: &Value, complete: bool, causes: &mut Causes) {
    let at = STATUS.child("completionTime");
    let (start, end) = (Timestamp::parse(new.s("startTime")), Timestamp::parse(new.s("completionTime")));
    match (complete, end) {
        (true, None) => causes.required(&at, "completionTime is required for Complete jobs"),
        (false, Some(_)) => {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            causes.invalid(&at, new.sub("completionTime"), detail);
        }
        _ => {}
    }
    if let (Some(start), Some(end)) = (start, end)
        && end < start
    {
        causes.invalid(&at, new.sub("completionTime"), "must be equal to or after `startTime`");
    }
    if before.has("startTime") && !spec.b("suspend") && Timestamp::parse(before.s("startTime")) != start {
        let detail = "field is immutable for unsuspended job once set";
        causes.invalid(&STATUS.child("startTime"), new.sub("startTime"), detail);
    }
}

fn indexes(status: &Value, spec: &Value, causes: &mut Causes) {
    let indexed = spec.s("completionMode") == "Indexed";
    for key in ["completedIndexes", "failedIndexes"] {
        let at = STATUS.child(key);
        let text = status.s(key);
        if key == "completedIndexes" && !text.is_empty() && !indexed {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            causes.invalid_str(&at, text, detail);
        } else if key == "failedIndexes" && status.has(key) && !spec.has("backoffLimitPerIndex") {
            causes.invalid_str(&at, text, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
        } else if let Err(problem) = parse_indexes(text, spec.i("completions")) {
            causes.invalid_str(&at, text, &format!("error parsing {key}: {problem}"));
        }
    }
}
