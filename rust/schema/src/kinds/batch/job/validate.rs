//! Jobs (`pkg/apis/batch/validation/validation.go`).

#![allow(clippy::arithmetic_side_effects, reason = "the count is positive")]

use hydrofoil_types::{Causes, Path, Value};

use super::policy;
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::domain_path::domain_path;
use hydrofoil_rules::format::name;
use hydrofoil_rules::workload::{self, counts};
use hydrofoil_rules::{pod_template, selector};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");
const SELECTOR: &str = "*meta.LabelSelector";
const MANY: i64 = 100_000;
const FEWER: i64 = 10_000;

/// `ValidateJob` without the metadata; the labels required of the pods depend on those they had before.
pub(crate) fn rules(release: Release, object: &Value, old: Option<&Value>, causes: &mut Causes) {
    generated_selector(object, old, causes);
    let spec = object.field("spec");
    whole(release, spec, causes);
    let own = object.field("metadata").text("name");
    if let Some(count) = spec.opt_int("completions").filter(|c| *c > 0 && spec.text("completionMode") == "Indexed") {
        let host = format!("{own}-{}", count - 1);
        let mut fits = true;
        name::label(&host, &mut |_| fits = false);
        if !fits {
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            causes.invalid_str(&Path::new("metadata").child("name"), own, &detail);
        }
    }
}

/// `ValidateGeneratedSelector`.
fn generated_selector(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let spec = object.field("spec");
    if spec.flag("manualSelector") || !spec.has("selector") {
        return;
    }
    let metadata = object.field("metadata");
    let (own, uid) = (metadata.text("name"), metadata.text("uid"));
    let labels = spec.field("template").field("metadata").field("labels");
    let at = SPEC.child("template");
    let at = at.child("metadata");
    let at = at.child("labels");
    let expected = [
        ("controller-uid", uid),
        ("job-name", own),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", own),
    ];
    let mut wanted = Value::object();
    let before = old.map(|old| old.field("spec").field("template").field("metadata").field("labels"));
    let prefixed = before.is_none_or(|labels| expected[2..].iter().all(|(key, _)| labels.get(key).is_some()));
    for (key, value) in expected.into_iter().take(if prefixed { 4 } else { 2 }) {
        wanted.put(key, value);
        match labels.get(key).and_then(Value::as_str) {
            None => causes.required(&at.key(key), &format!("must be '{value}'")),
            Some(found) if found != value => causes.invalid(&at.key(key), labels, &format!("must be '{value}'")),
            Some(_) => {}
        }
    }
    if valid(spec.field("selector")) && !workload::matches(spec.field("selector"), &wanted) {
        let detail = "`selector` not auto-generated";
        causes.invalid_internal(&SPEC.child("selector"), SELECTOR, spec.field("selector"), detail);
    }
}

fn valid(value: &Value) -> bool {
    let mut causes = Causes::new();
    selector::label_selector(value, &SPEC, &mut causes);
    causes.is_empty()
}

/// `ValidateJobSpec`.
pub(super) fn whole(release: Release, spec: &Value, causes: &mut Causes) {
    inner(release, spec, &SPEC, causes);
    let at = SPEC.child("selector");
    match spec.opt("selector") {
        None => causes.need(&at),
        Some(s) => selector::label_selector(s, &at, causes),
    }
    let labels = spec.field("template").field("metadata").field("labels");
    if valid(spec.field("selector")) && !workload::matches(spec.field("selector"), labels) {
        workload::mismatch(labels, &SPEC.child("template"), causes);
    }
}

/// `ValidateJobTemplateSpec`.
pub(in crate::kinds::batch) fn template(release: Release, template: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (spec, at) = (template.field("spec"), path.child("spec"));
    inner(release, spec, &at, causes);
    if let Some(s) = spec.opt("selector") {
        causes.invalid_internal(&at.child("selector"), SELECTOR, s, "`selector` will be auto-generated");
    }
    if spec.flag("manualSelector") {
        let message = "Unsupported value: true: supported values: \"nil\", \"false\"";
        causes.push(&at.child("manualSelector"), hydrofoil_types::CauseReason::NotSupported, message);
    }
}

/// `validateJobSpec`.
fn inner(release: Release, spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let keys = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    counts(spec, &keys, path, causes);
    if spec.has("maxFailedIndexes") && !spec.has("backoffLimitPerIndex") {
        causes.required(&path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    if let Some(owner) = spec.opt("managedBy") {
        let (owner, at) = (owner.as_str().unwrap_or(""), path.child("managedBy"));
        domain_path(owner, &at, causes);
        if owner.len() > 63 {
            causes.too_long(&at, 63);
        }
    }
    modes(spec, path, causes);
    if let Some(failure) = spec.opt("podFailurePolicy") {
        policy::failure(spec, failure, &path.child("podFailurePolicy"), causes);
    }
    if let Some(success) = spec.opt("successPolicy") {
        let at = path.child("successPolicy");
        if spec.text("completionMode") == "Indexed" {
            policy::success(spec, success, &at, causes);
        } else {
            causes.invalid_internal(&at, "batch.SuccessPolicy", success, "requires indexed completion mode");
        }
    }
    if let Some(replacement) = spec.opt("podReplacementPolicy") {
        let (at, value) = (path.child("podReplacementPolicy"), replacement.as_str().unwrap_or(""));
        let known: &[&str] =
            if spec.has("podFailurePolicy") { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
        causes.one_of(&at, value, known);
    }
    let at = path.child("template");
    pod_template::validate::template(release, spec.field("template"), &at, causes);
    let restart = spec.field("template").field("spec").text("restartPolicy");
    let at = at.child("spec");
    let at = at.child("restartPolicy");
    if !matches!(restart, "OnFailure" | "Never") {
        if restart == "Always" {
            causes.required(&at, "valid values: \"OnFailure\", \"Never\"");
        } else {
            causes.unsupported(&at, restart, &["OnFailure", "Never"]);
        }
    } else if restart != "Never" && spec.has("podFailurePolicy") {
        causes.invalid_str(&at, restart, "only \"Never\" is supported when podFailurePolicy is specified");
    }
}

fn modes(spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let mode = spec.text("completionMode");
    if spec.has("completionMode") {
        causes.one_of(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    // An empty mode is one that is not supported, beside one that is absent.
    if mode == "NonIndexed" || !spec.has("completionMode") {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(n) = spec.opt_int(key) {
                causes.invalid_int(&path.child(key), n, "requires indexed completion mode");
            }
        }
    }
    if mode != "Indexed" {
        return;
    }
    let (completions, parallelism) = (spec.opt_int("completions"), spec.opt_int("parallelism"));
    let failed = spec.opt_int("maxFailedIndexes");
    if completions.is_none() {
        causes.required(&path.child("completions"), "when completion mode is Indexed");
    }
    if let Some(n) = parallelism.filter(|n| *n > MANY) {
        let detail = "must be less than or equal to 100000 when completion mode is Indexed";
        causes.invalid_int(&path.child("parallelism"), n, detail);
    }
    let at = path.child("maxFailedIndexes");
    if let (Some(failed), Some(completions)) = (failed, completions)
        && failed > completions
    {
        causes.invalid_int(&at, failed, "must be less than or equal to completions");
    }
    if let Some(failed) = failed.filter(|f| *f > MANY) {
        causes.invalid_int(&at, failed, "must be less than or equal to 100000");
    }
    if completions.is_some_and(|c| c > MANY) && spec.has("backoffLimitPerIndex") {
        match failed {
            None => causes.required(&at, "must be specified when completions is above 100000"),
            Some(f) if f > FEWER => {
                let detail = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index";
                causes.invalid_int(&at, f, detail);
            }
            Some(_) => {}
        }
        if let Some(n) = parallelism.filter(|n| *n > FEWER) {
            let detail = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index";
            causes.invalid_int(&path.child("parallelism"), n, detail);
        }
    }
}
