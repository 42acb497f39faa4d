//! Failure and success policies of jobs.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, KeySet, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_types::read::Read;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];

/// `validatePodFailurePolicy`.
pub(super) fn failure(spec: &Value, policy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let rules = policy.list("rules");
    let at = path.child("rules");
    if rules.len() > 20 {
        causes.too_many(&at, rules.len(), 20);
    }
    let pod = spec.field("template").field("spec");
    let names: Vec<&str> =
        pod.list("containers").iter().chain(pod.list("initContainers")).map(|c| c.text("name")).collect();
    for (i, rule) in rules.iter().enumerate() {
        failure_rule(spec, rule, &names, &at.index(i), causes);
    }
}

fn failure_rule(spec: &Value, rule: &Value, names: &[&str], path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("action");
    match rule.text("action") {
        "" => causes.required(&at, "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]"),
        "FailIndex" if !spec.has("backoffLimitPerIndex") => {
            causes.invalid_str(&at, "FailIndex", "requires the backoffLimitPerIndex to be set");
        }
        other => causes.one_of(&at, other, &ACTIONS),
    }
    if let Some(codes) = rule.opt("onExitCodes") {
        exit_codes(codes, names, &path.child("onExitCodes"), causes);
    }
    let patterns = rule.list("onPodConditions");
    let at = path.child("onPodConditions");
    if patterns.len() > 20 {
        causes.too_many(&at, patterns.len(), 20);
    }
    for (i, pattern) in patterns.iter().enumerate() {
        let at = at.index(i);
        causes.format(&at.child("type"), pattern.text("type"), label::key);
        match pattern.text("status") {
            "" => causes.required(&at.child("status"), "valid values: [\"False\" \"True\" \"Unknown\"]"),
            status => causes.one_of(&at.child("status"), status, &["False", "True", "Unknown"]),
        }
    }
    match (rule.has("onExitCodes"), patterns.is_empty()) {
        (true, false) => {
            causes.invalid_omitted(path, "specifying both OnExitCodes and OnPodConditions is not supported");
        }
        (false, true) => {
            causes.invalid_omitted(path, "specifying one of OnExitCodes and OnPodConditions is required");
        }
        _ => {}
    }
}

fn exit_codes(codes: &Value, names: &[&str], path: &Path<'_>, causes: &mut Causes) {
    let operator = codes.text("operator");
    let at = path.child("operator");
    if operator.is_empty() {
        causes.required(&at, "valid values: [\"In\" \"NotIn\"]");
    } else {
        causes.one_of(&at, operator, &["In", "NotIn"]);
    }
    if let Some(own) = codes.opt("containerName").map(|n| n.as_str().unwrap_or(""))
        && !names.contains(&own)
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        causes.invalid_str(&path.child("containerName"), own, detail);
    }
    let values: Vec<i64> = codes.list("values").iter().filter_map(Value::as_int).collect();
    let at = path.child("values");
    if values.is_empty() {
        causes.invalid(&at, codes.field("values"), "at least one value is required");
    } else if values.len() > 255 {
        causes.too_many(&at, values.len(), 255);
    }
    let mut ordered = true;
    let mut seen = KeySet::default();
    for (i, value) in values.iter().enumerate() {
        if *value == 0 && operator == "In" {
            causes.invalid_int(&at.index(i), 0, "must not be 0 for the In operator");
        }
        if !seen.insert(*value) {
            causes.duplicate(&at.index(i), &Value::Int(*value));
        }
        if i > 0 && values[i - 1] > *value {
            ordered = false;
        }
    }
    if !ordered {
        causes.invalid(&at, codes.field("values"), "must be ordered");
    }
}

/// `validateSuccessPolicy`.
pub(super) fn success(spec: &Value, policy: &Value, path: &Path<'_>, causes: &mut Causes) {
    let rules = policy.list("rules");
    let at = path.child("rules");
    if rules.is_empty() {
        causes.required(&at, "at least one rules must be specified when the successPolicy is specified");
    }
    if rules.len() > 20 {
        causes.too_many(&at, rules.len(), 20);
    }
    for (i, rule) in rules.iter().enumerate() {
        success_rule(spec, rule, &at.index(i), causes);
    }
}

fn success_rule(spec: &Value, rule: &Value, path: &Path<'_>, causes: &mut Causes) {
    let completions = spec.int("completions");
    let indexes = rule.opt("succeededIndexes").map(|i| i.as_str().unwrap_or(""));
    let count = rule.opt_int("succeededCount");
    if indexes.is_none() && count.is_none() {
        causes.required(path, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let mut total = completions;
    if let Some(text) = indexes {
        let at = path.child("succeededIndexes");
        if text.len() > 64 * 1024 {
            causes.too_long(&at, 64 * 1024);
        }
        match parse_indexes(text, completions) {
            Ok(n) => total = n,
            Err(problem) => {
                causes.invalid_str(&at, text, &format!("error parsing succeededIndexes: {problem}"));
                total = 0;
            }
        }
    }
    if let Some(count) = count {
        let at = path.child("succeededCount");
        causes.not_negative(&at, count);
        if spec.has("completions") && count > completions {
            let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
            causes.invalid_int(&at, count, &detail);
        }
        if indexes.is_some() && count > total {
            let detail = format!(
                "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            );
            causes.invalid_int(&at, count, &detail);
        }
    }
}

/// `validateIndexesFormat`: ranges in ascending order; return the number of indexes.
pub(super) fn parse_indexes(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let number = |part: &str| -> Result<i64, String> {
        let n = part.parse::<i64>().map_err(|_| format!("cannot convert string to integer for index: \"{part}\""))?;
        if n >= completions { Err(format!("too large index: \"{part}\"")) } else { Ok(n) }
    };
    let mut last: Option<i64> = None;
    let mut total: i64 = 0;
    for interval in text.split(',') {
        let limits: Vec<&str> = interval.split('-').collect();
        if limits.len() > 2 {
            return Err(format!(
                "the fragment \"{interval}\" violates the requirement that an index interval can have at most two parts separated by '-'"
            ));
        }
        let start = number(limits[0])?;
        if let Some(previous) = last.filter(|p| *p >= start) {
            return Err(format!("non-increasing order, previous: {previous}, current: {start}"));
        }
        let end = match limits.get(1) {
            Some(text) => {
                let end = number(text)?;
                if start >= end {
                    return Err(format!("non-increasing order, previous: {start}, current: {end}"));
                }
                end
            }
            None => start,
        };
        total = total.saturating_add(end.saturating_sub(start).saturating_add(1));
        last = Some(end);
    }
    Ok(total)
}

/// `validateFailedIndexesNotOverlapCompleted`: the first index that two lists share; malformed intervals are skipped.
pub(super) fn overlap(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        text.split(',')
            .filter(|part| parse_indexes(part, completions).is_ok_and(|count| count > 0))
            .filter_map(|part| {
                let (from, to) = part.split_once('-').unwrap_or((part, part));
                Some((from.parse().ok()?, to.parse().ok()?))
            })
            .collect()
    };
    let (completed, failed) = (intervals(completed), intervals(failed));
    let (mut i, mut j) = (0, 0);
    while let (Some(c), Some(f)) = (completed.get(i), failed.get(j)) {
        if c.0 <= f.1 && f.0 <= c.1 {
            return Some(c.0.max(f.0));
        }
        if c.0 <= f.0 {
            i += 1;
        } else {
            j += 1;
        }
    }
    None
}
