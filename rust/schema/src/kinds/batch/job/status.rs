//! The status of a job (`ValidateJobUpdateStatus`).
//!
//! A rule holds only where its field changes (`getStatusValidationOptions` of the strategy), so that a status that
//! breaks it already can be corrected in steps.

use hydrofoil_types::{Causes, KeySet, Path, Timestamp, Value};

use super::policy::{overlap, parse_indexes};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::workload::counts;
use hydrofoil_types::read::{Read, same_field};

const STATUS: Path<'static> = Path::new("status");

/// The status of a job, before or after.
struct State<'a> {
    status: &'a Value,
}

impl<'a> State<'a> {
    fn of(job: &'a Value) -> Self {
        Self { status: job.field("status") }
    }

    fn complete(&self) -> bool {
        has_condition(self.status, "Complete", "True")
    }

    fn failed(&self) -> bool {
        has_condition(self.status, "Failed", "True")
    }

    fn target(&self) -> bool {
        has_condition(self.status, "FailureTarget", "True")
    }

    fn met(&self) -> bool {
        has_condition(self.status, "SuccessCriteriaMet", "True")
    }

    fn validate_finished(&self) -> bool {
        self.complete() || self.failed()
    }

    fn time(&self, key: &str) -> Option<Timestamp> {
        Timestamp::parse(self.status.text(key))
    }
}

fn has_condition(status: &Value, kind: &str, value: &str) -> bool {
    status.list("conditions").iter().any(|c| c.text("type") == kind && c.text("status") == value)
}

/// `ValidateJobUpdateStatus`.
pub(super) fn update(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (State::of(object), State::of(old));
    let spec = object.field("spec");
    counts(new.status, &["active", "succeeded", "failed", "ready", "terminating"], &STATUS, causes);
    validate_uncounted(new.status, causes);
    conditions(&new, &before, causes);
    completion_time(&new, &before, causes);
    outcome(&new, &before, causes);
    validate_finished(&new, &before, spec, causes);
    indexes(&new, &before, spec, causes);
    let status = new.status;
    if new.validate_finished()
        && status.int("terminating") > 0
        && (new.validate_finished() != before.validate_finished() || changed(&new, &before, "terminating"))
    {
        let detail = "terminating>0 is invalid for finished job";
        causes.invalid_int(&STATUS.child("terminating"), status.int("terminating"), detail);
    }
    if status.has("ready")
        && status.int("ready") > status.int("active")
        && (changed(&new, &before, "ready") || changed(&new, &before, "active"))
    {
        causes.invalid_int(&STATUS.child("ready"), status.int("ready"), "cannot set more ready pods than active");
    }
    successes(&new, spec, causes);
    transitions(&new, &before, spec, causes);
}

/// Report whether a field differs; a pointer to zero is not nil.
fn changed(new: &State<'_>, before: &State<'_>, key: &str) -> bool {
    !same_field(new.status, before.status, key) || new.status.has(key) != before.status.has(key)
}

fn validate_uncounted(status: &Value, causes: &mut Causes) {
    let Some(pods) = status.opt("uncountedTerminatedPods") else { return };
    let path = STATUS.child("uncountedTerminatedPods");
    let mut seen = KeySet::default();
    for key in ["succeeded", "failed"] {
        let at = path.child(key);
        for (i, uid) in pods.list(key).iter().enumerate() {
            let uid = uid.as_str().unwrap_or("");
            if uid.is_empty() {
                causes.invalid_str(&at.index(i), uid, "must not be empty");
            } else if !seen.insert(uid) {
                causes.duplicate_str(&at.index(i), uid);
            }
        }
    }
}

fn conditions(new: &State<'_>, before: &State<'_>, causes: &mut Causes) {
    let at = STATUS.child("conditions");
    let ended = new.complete() != before.complete();
    if new.complete() && new.failed() && (ended || new.failed() != before.failed()) {
        causes.invalid_omitted(&at, "cannot set Complete=True and Failed=true conditions");
    }
    if new.complete() && new.target() && (ended || new.target() != before.target()) {
        causes.invalid_omitted(&at, "cannot set Complete=True and FailureTarget=true conditions");
    }
}

fn completion_time(new: &State<'_>, before: &State<'_>, causes: &mut Causes) {
    let at = STATUS.child("completionTime");
    let shown = new.status.field("completionTime");
    let (start, end) = (new.time("startTime"), new.time("completionTime"));
    let (started, ended) = (start != before.time("startTime"), end != before.time("completionTime"));
    if new.complete() != before.complete() || ended {
        if end.is_some() && !new.complete() {
            causes.invalid(&at, shown, "cannot set completionTime when there is no Complete=True condition");
        }
        if end.is_none() && new.complete() {
            causes.required(&at, "completionTime is required for Complete jobs");
        }
    }
    if (started || ended) && start.zip(end).is_some_and(|(start, end)| end < start) {
        causes.invalid(&at, shown, "must be equal to or after `startTime`");
    }
}

fn outcome(new: &State<'_>, before: &State<'_>, causes: &mut Causes) {
    let at = STATUS.child("conditions");
    if new.failed() && !new.target() && (new.failed() != before.failed() || changed(new, before, "failedIndexes")) {
        causes.invalid_omitted(&at, "cannot set Failed=True condition without the FailureTarget=true condition");
    }
    if new.complete() && !new.met() && (new.complete() != before.complete() || new.met() != before.met()) {
        causes.invalid_omitted(&at, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
}

fn validate_finished(new: &State<'_>, before: &State<'_>, spec: &Value, causes: &mut Causes) {
    if !new.validate_finished() {
        return;
    }
    let (status, turned) = (new.status, !before.validate_finished());
    if status.int("active") > 0 && (turned || changed(new, before, "active")) {
        causes.invalid_int(&STATUS.child("active"), status.int("active"), "active>0 is invalid for finished job");
    }
    let nothing_to_do = spec.flag("suspend") && spec.opt_int("completions") == Some(0);
    if !status.has("startTime") && (turned || before.status.has("startTime")) && !nothing_to_do {
        causes.required(&STATUS.child("startTime"), "startTime is required for finished job");
    }
    let pods = status.field("uncountedTerminatedPods");
    let some = !pods.list("failed").is_empty() || !pods.list("succeeded").is_empty();
    if some && (turned || changed(new, before, "uncountedTerminatedPods")) {
        let list = |key: &str| if pods.has(key) { pods.field(key).to_json() } else { "null".to_owned() };
        let shown = format!("{{\"Succeeded\":{},\"Failed\":{}}}", list("succeeded"), list("failed"));
        let message = format!("Invalid value: {shown}: must be empty for finished job");
        causes.push(&STATUS.child("uncountedTerminatedPods"), hydrofoil_types::CauseReason::Invalid, message);
    }
}

fn indexes(new: &State<'_>, before: &State<'_>, spec: &Value, causes: &mut Causes) {
    let (complete, failed) = (new.status.text("completedIndexes"), new.status.opt("failedIndexes"));
    let (completed_at, failed_at) = (STATUS.child("completedIndexes"), STATUS.child("failedIndexes"));
    let moved = (changed(new, before, "completedIndexes"), changed(new, before, "failedIndexes"));
    let completions = spec.opt_int("completions");
    let text = failed.and_then(Value::as_str).unwrap_or("");
    if let (true, Some(count)) = (moved.0, completions)
        && let Err(problem) = parse_indexes(complete, count)
    {
        causes.invalid_str(&completed_at, complete, &format!("error parsing completedIndexes: {problem}"));
    }
    if let (true, Some(count)) = (moved.1 && failed.is_some() && spec.has("backoffLimitPerIndex"), completions)
        && let Err(problem) = parse_indexes(text, count)
    {
        causes.invalid_str(&failed_at, text, &format!("error parsing failedIndexes: {problem}"));
    }
    if moved.0 && !complete.is_empty() && spec.text("completionMode") != "Indexed" {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        causes.invalid_str(&completed_at, complete, detail);
    }
    if moved.1 && failed.is_some() && !spec.has("backoffLimitPerIndex") {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        causes.invalid_str(&failed_at, text, detail);
    }
    if let (true, Some(count)) = ((moved.0 || moved.1) && failed.is_some(), completions)
        && let Some(index) = overlap(complete, text, count)
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        causes.invalid_str(&failed_at, text, &detail);
    }
}

fn successes(new: &State<'_>, spec: &Value, causes: &mut Causes) {
    let at = STATUS.child("conditions");
    if new.met() && new.failed() {
        causes.invalid_omitted(&at, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if new.met() && new.target() {
        causes.invalid_omitted(&at, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
    if spec.has("successPolicy") && !new.met() && new.complete() {
        let detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        causes.invalid_omitted(&at, detail);
    }
}

/// Refuse transitions that a status may not undo.
fn transitions(new: &State<'_>, before: &State<'_>, spec: &Value, causes: &mut Causes) {
    let at = STATUS.child("conditions");
    for (kind, was, is) in [
        ("Failed", before.failed(), new.failed()),
        ("Complete", before.complete(), new.complete()),
        ("FailureTarget", before.target(), new.target()),
    ] {
        if was && !is {
            causes.invalid_omitted(&at, &format!("cannot disable the terminal {kind}=True condition"));
        }
    }
    let scaled = spec.text("completionMode") == "Indexed" && spec.opt_int("completions") == spec.opt_int("parallelism");
    for key in ["failed", "succeeded"] {
        if new.status.int(key) < before.status.int(key) && !(key == "succeeded" && scaled) {
            causes.invalid_int(&STATUS.child(key), new.status.int(key), &format!("cannot decrease the {key} counter"));
        }
    }
    let (end, ended) = (new.time("completionTime"), before.time("completionTime"));
    if end.is_some() && ended.is_some() && end != ended {
        causes.invalid(&STATUS.child("completionTime"), new.status.field("completionTime"), IMMUTABLE);
    }
    let started = before.time("startTime");
    let resumes = has_condition(before.status, "Suspended", "True") && has_condition(new.status, "Suspended", "False");
    if started.is_some() && started != new.time("startTime") && !resumes && !spec.flag("suspend") {
        let detail = "field is immutable for unsuspended job once set";
        causes.invalid(&STATUS.child("startTime"), new.status.field("startTime"), detail);
    }
    if before.met() && !new.met() {
        causes.invalid_omitted(&at, "cannot disable the SuccessCriteriaMet=True condition");
    }
    if before.complete() && !before.met() && new.met() {
        causes.invalid_omitted(&at, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
    }
}
