//! Cron jobs (`pkg/apis/batch/validation/validation.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, Path, Value};

use super::job;
use crate::Request;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::cron;
use crate::validate::meta;
use crate::validate::workload::counts;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn create(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    meta::create(req.kind, object, causes);
    spec(object.sub("spec"), None, causes);
    let name = object.sub("metadata").s("name");
    if name.len() > 52 {
        // Eleven characters are left for the names of jobs.
        causes.invalid_str(&Path::new("metadata").child("name"), name, "must be no more than 52 characters");
    }
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource.is_empty() {
        spec(object.sub("spec"), Some(old.sub("spec")), causes);
    }
}

fn spec(spec: &Value, old: Option<&Value>, causes: &mut Causes) {
    let at = SPEC.child("schedule");
    let schedule = spec.s("schedule");
    if schedule.is_empty() {
        causes.need(&at);
    } else {
        schedule_format(spec, old, schedule, &at, causes);
    }
    counts(spec, &["startingDeadlineSeconds"], &SPEC, causes);
    if let Some(zone) = spec.opt("timeZone")
        && old.is_none_or(|o| o.s("timeZone") != zone.as_str().unwrap_or(""))
    {
        time_zone(zone.as_str().unwrap_or(""), &SPEC.child("timeZone"), causes);
    }
    let policy = spec.s("concurrencyPolicy");
    causes.one_of_required(&SPEC.child("concurrencyPolicy"), policy, &["Allow", "Forbid", "Replace"]);
    let at = SPEC.child("jobTemplate");
    job::template(spec.sub("jobTemplate"), &at, causes);
    counts(spec, &["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], &SPEC, causes);
}

fn schedule_format(spec: &Value, old: Option<&Value>, schedule: &str, at: &Path<'_>, causes: &mut Causes) {
    let zoned = schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=");
    let plain = if zoned { schedule.split_once(' ').map_or("", |(_, rest)| rest.trim()) } else { schedule };
    if let Some(problem) = cron::problem(plain) {
        causes.invalid_str(at, schedule, &problem);
    }
    if schedule.contains("TZ") {
        if old.is_some_and(|o| o.s("schedule").contains("TZ")) {
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

/// Whether a text looks like a name of the time zone database; the database itself is not here.
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
            && rest.as_bytes()[0].is_ascii_uppercase()
    })
}
