//! Jobs and cron jobs.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::{condition, containers, deref};
use super::{age, selector};
use crate::read::Read;

/// `printJob`.
pub(super) fn job(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let done = status.i("succeeded");
    let completions = match (spec.oi("completions"), spec.i("parallelism")) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallel @ 2..) => format!("{done}/1 of {parallel}"),
        (None, _) => format!("{done}/1"),
    };
    let moment = |key| status.opt(key).map(|t| age::pointed(t.as_str().unwrap_or("")));
    let duration = moment("startTime").map_or_else(String::new, |start| match moment("completionTime") {
        Some(end) => age::between(start, end),
        None => of.ago(start),
    });
    let (names, images) = containers(spec.sub("template").sub("spec"));
    cells![of.name(), state(of), completions, duration, of.age(), names, images, selector::format(spec.sub("selector")),]
}

fn state(of: &Subject<'_>) -> &'static str {
    let holds = |kind| condition(of.status(), kind).is_some_and(|c| c.s("status") == "True");
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if of.deleting() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

/// `printCronJob`.
pub(super) fn cron_job(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let job = spec.sub("jobTemplate").sub("spec");
    let suspend = match spec.opt("suspend").and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let last = status
        .opt("lastScheduleTime")
        .map_or_else(|| "<none>".to_owned(), |time| of.since(time.as_str().unwrap_or("")));
    let (names, images) = containers(job.sub("template").sub("spec"));
    cells![
        of.name(),
        spec.s("schedule"),
        deref(spec, "timeZone", "<none>"),
        suspend,
        status.list("active").len() as i64,
        last,
        of.age(),
        names,
        images,
        selector::format(job.sub("selector")),
    ]
}
