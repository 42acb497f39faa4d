//! Cron jobs (`pkg/registry/batch/cronjob/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::job;
use crate::Request;
use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::cron;
use hydrofoil_rules::hostname;
use hydrofoil_rules::pod_template::gates;
use hydrofoil_rules::table::text::{containers, deref};
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_rules::workload::{self, counts};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    generation: GenerationRule::of_spec("batch.CronJobSpec"),
    default: |_, object, _| default(object),
    drop_disabled,
    metadata_on_status: &[],
    validate: |req, object, causes| validate(req.release(), object, causes),
    validate_update,
    warn_create: |_, object, out| {
        hostname::warn(object, "Pod names and hostnames", out);
        warn(object, out);
    },
    warn_update: |_, object, old, out| warn_update(object, old, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("concurrencyPolicy", "Allow");
    spec.unset("suspend", false);
    spec.unset("successfulJobsHistoryLimit", 3);
    spec.unset("failedJobsHistoryLimit", 1);
    // SetDefaults_Job is not applied to the job template, only the defaults within it.
    job::default_spec(spec.make("jobTemplate").make("spec"));
}

/// Drop the disabled fields of a cron job.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    object.within("spec", |s| {
        s.within("jobTemplate", |t| {
            t.within("spec", |s| {
                gates::template(release, s, old.map(|o| o.field("spec").field("jobTemplate").field("spec")));
            });
        });
    });
}

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateCronJobCreate`, but for the metadata.
fn validate(release: Release, object: &Value, causes: &mut Causes) {
    spec(release, object.field("spec"), None, causes);
    let name = object.field("metadata").text("name");
    if name.len() > 52 {
        // Eleven characters are left for the names of jobs.
        causes.invalid_str(&Path::new("metadata").child("name"), name, "must be no more than 52 characters");
    }
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource.is_empty() {
        spec(req.release(), object.field("spec"), Some(old.field("spec")), causes);
    }
}

fn spec(release: Release, spec: &Value, old: Option<&Value>, causes: &mut Causes) {
    let at = SPEC.child("schedule");
    let schedule = spec.text("schedule");
    if schedule.is_empty() {
        causes.need(&at);
    } else {
        schedule_format(spec, old, schedule, &at, causes);
    }
    counts(spec, &["startingDeadlineSeconds"], &SPEC, causes);
    if let Some(zone) = spec.opt("timeZone")
        && old.is_none_or(|o| o.opt("timeZone") != Some(zone))
    {
        time_zone(zone.as_str().unwrap_or(""), &SPEC.child("timeZone"), causes);
    }
    let policy = spec.text("concurrencyPolicy");
    causes.one_of_required(&SPEC.child("concurrencyPolicy"), policy, &["Allow", "Forbid", "Replace"]);
    let at = SPEC.child("jobTemplate");
    job::validate::template(release, spec.field("jobTemplate"), &at, causes);
    counts(spec, &["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], &SPEC, causes);
}

fn schedule_format(spec: &Value, old: Option<&Value>, schedule: &str, at: &Path<'_>, causes: &mut Causes) {
    let zoned = schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=");
    let plain = if zoned { schedule.split_once(' ').map_or("", |(_, rest)| rest.trim()) } else { schedule };
    if let Some(problem) = cron::problem(plain) {
        causes.invalid_str(at, schedule, &problem);
    }
    if schedule.contains("TZ") {
        if old.is_some_and(|o| o.text("schedule").contains("TZ")) {
            if spec.has("timeZone") {
                let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
                causes.invalid_str(at, schedule, detail);
            }
        } else {
            causes.invalid_str(at, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        }
    }
}

fn time_zone(zone: &str, at: &Path<'_>, causes: &mut Causes) {
    if zone.is_empty() {
        return causes.invalid_str(at, zone, "timeZone must be nil or non-empty string");
    }
    if zone.eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        causes.invalid_str(at, zone, detail);
    }
    if !is_zone(zone) {
        causes.invalid_str(at, zone, &format!("unknown time zone {zone}"));
    }
}

/// Report whether a text looks like a name of the time zone database, which is not available here.
fn is_zone(zone: &str) -> bool {
    const ALONE: [&str; 45] = [
        "UTC",
        "GMT",
        "UCT",
        "Zulu",
        "Universal",
        "Greenwich",
        "CET",
        "CST6CDT",
        "Cuba",
        "EET",
        "EST",
        "EST5EDT",
        "Egypt",
        "Eire",
        "GB",
        "GB-Eire",
        "GMT+0",
        "GMT-0",
        "GMT0",
        "HST",
        "Hongkong",
        "Iceland",
        "Iran",
        "Israel",
        "Jamaica",
        "Japan",
        "Kwajalein",
        "Libya",
        "MET",
        "MST",
        "MST7MDT",
        "NZ",
        "NZ-CHAT",
        "Navajo",
        "PRC",
        "PST8PDT",
        "Poland",
        "Portugal",
        "ROC",
        "ROK",
        "Singapore",
        "Turkey",
        "W-SU",
        "WET",
        "Factory",
    ];
    const AREAS: [&str; 16] = [
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Brazil",
        "Canada",
        "Chile",
        "Etc",
        "Europe",
        "Indian",
        "Mexico",
        "Pacific",
        "US",
    ];
    if ALONE.contains(&zone) || zone == "Local" {
        return true;
    }
    let file = format!("/usr/share/zoneinfo/{zone}");
    if !zone.contains("..") && std::path::Path::new("/usr/share/zoneinfo/UTC").exists() {
        return std::path::Path::new(&file).is_file();
    }
    zone.split_once('/').is_some_and(|(area, rest)| {
        AREAS.contains(&area)
            && !rest.is_empty()
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+'))
            && rest.as_bytes().first().is_some_and(u8::is_ascii_uppercase)
    })
}

fn warn(object: &Value, out: &mut Vec<String>) {
    let path = SPEC.child("jobTemplate");
    job::warn_spec(object.field("spec").field("jobTemplate").field("spec"), &path.child("spec"), out);
}

fn warn_update(object: &Value, old: &Value, out: &mut Vec<String>) {
    if workload::has_new_generation(object, old) {
        warn(object, out);
    }
    if object.field("spec").text("schedule").contains("TZ") {
        out.push("CRON_TZ or TZ used in spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details".into());
    }
}

/// `printCronJob`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let job = spec.field("jobTemplate").field("spec");
    let suspend = match spec.opt("suspend").and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let last = status
        .opt("lastScheduleTime")
        .map_or_else(|| "<none>".to_owned(), |time| subject.since(time.as_str().unwrap_or("")));
    let (names, images) = containers(job.field("template").field("spec"));
    cells![
        subject.name(),
        spec.text("schedule"),
        deref(spec, "timeZone", "<none>"),
        suspend,
        status.list("active").len() as i64,
        last,
        subject.age(),
        names,
        images,
        table::selector::format(job.field("selector")),
    ]
}
