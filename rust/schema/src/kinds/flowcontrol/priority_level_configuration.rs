//! Priority levels (`pkg/registry/flowcontrol/prioritylevelconfiguration/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "a hand is no larger than its deck")]

use hydrofoil_types::{Causes, Path, Value};

use super::conditions;
use crate::kind::{GenerationRule, MetadataCheck, Strategy, reset_metadata};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    prepare_status: |_, object, old, now| super::keep_metadata(object, old, now),
    reset_fields: reset_metadata,
    generation: GenerationRule::of_spec("flowcontrol.PriorityLevelConfigurationSpec"),
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    validate: |_, object, causes| validate(object, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");
const NONE: &str = "<none>";

fn default(object: &mut Value) {
    let spec = object.make("spec");
    spec.within("exempt", |exempt| {
        exempt.unset("nominalConcurrencyShares", 0);
        exempt.unset("lendablePercent", 0);
    });
    spec.within("limited", |limited| {
        limited.unset("nominalConcurrencyShares", 30);
        limited.unset("lendablePercent", 0);
        limited.within("limitResponse", |response| {
            response.within("queuing", |queuing| {
                queuing.fill("handSize", 8);
                queuing.fill("queues", 64);
                queuing.fill("queueLengthLimit", 50);
            });
        });
    });
}

/// `ValidatePriorityLevelConfiguration`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let own = object.field("metadata").text("name");
    let kind = spec.text("type");
    if (own == "exempt") != (kind == "Exempt") {
        causes.invalid_str(&SPEC.child("type"), kind, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    match kind {
        "Exempt" => {
            if spec.has("limited") {
                causes.forbidden(&SPEC.child("limited"), "must be nil if the type is not Limited");
            }
            if let Some(exempt) = spec.opt("exempt") {
                shares(exempt, &SPEC.child("exempt"), causes);
                lendable(exempt, &SPEC.child("exempt"), causes);
            }
        }
        "Limited" => {
            if spec.has("exempt") {
                causes.forbidden(&SPEC.child("exempt"), "must be nil if the type is Limited");
            }
            let at = SPEC.child("limited");
            match spec.opt("limited") {
                None => causes.required(&at, "must not be empty when type is Limited"),
                Some(limited) => limits(limited, &at, causes),
            }
        }
        other => causes.unsupported(&SPEC.child("type"), other, &["Exempt", "Limited"]),
    }
    if !is_mandatory(spec, own) {
        let except = if own == "exempt" { " except the 'spec.exempt' field" } else { "" };
        let detail = format!("spec of '{own}'{except} must equal the fixed value");
        causes.invalid_internal(&SPEC, "flowcontrol.PriorityLevelConfigurationSpec", spec, &detail);
    }
    conditions::validate(object, causes);
}

/// Report whether a level that every server has is as it must be, its shares aside where it is exempt.
fn is_mandatory(spec: &Value, own: &str) -> bool {
    let limited = spec.field("limited");
    match own {
        "exempt" => spec.text("type") == "Exempt" && !spec.has("limited"),
        "catch-all" => {
            spec.text("type") == "Limited"
                && limited.int("nominalConcurrencyShares") == 5
                && limited.int("lendablePercent") == 0
                && !limited.has("borrowingLimitPercent")
                && limited.field("limitResponse").text("type") == "Reject"
        }
        _ => true,
    }
}

fn shares(holder: &Value, path: &Path<'_>, causes: &mut Causes) {
    let shares = holder.int("nominalConcurrencyShares");
    if shares < 0 {
        causes.invalid_int(&path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer");
    }
}

fn lendable(holder: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(percent) = holder.opt_int("lendablePercent") {
        causes.range(&path.child("lendablePercent"), percent, 0, 100);
    }
}

/// `ValidateLimitedPriorityLevelConfiguration`.
fn limits(limited: &Value, path: &Path<'_>, causes: &mut Causes) {
    shares(limited, path, causes);
    let at = path.child("limitResponse");
    let response = limited.field("limitResponse");
    let queuing_at = at.child("queuing");
    match (response.text("type"), response.opt("queuing")) {
        ("Reject", Some(_)) => {
            causes.forbidden(&queuing_at, "must be nil if limited.limitResponse.type is not Limited");
        }
        ("Reject", None) => {}
        ("Queue", None) => {
            causes.required(&queuing_at, "must not be empty if limited.limitResponse.type is Limited");
        }
        ("Queue", Some(queuing)) => queues(queuing, &queuing_at, causes),
        (other, _) => causes.unsupported(&at.child("type"), other, &["Queue", "Reject"]),
    }
    lendable(limited, path, causes);
    if let Some(percent) = limited.opt_int("borrowingLimitPercent").filter(|p| *p < 0) {
        let detail = "if specified, must be a non-negative integer";
        causes.invalid_int(&path.child("borrowingLimitPercent"), percent, detail);
    }
}

/// `ValidatePriorityLevelQueuingConfiguration`.
fn queues(queuing: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (length, queues, hand) = (queuing.int("queueLengthLimit"), queuing.int("queues"), queuing.int("handSize"));
    if length <= 0 {
        causes.invalid_int(&path.child("queueLengthLimit"), length, "must be positive");
    }
    if queues <= 0 {
        causes.invalid_int(&path.child("queues"), queues, "must be positive");
    } else if queues > 10_000_000 {
        causes.invalid_int(&path.child("queues"), queues, "must not be greater than 10000000");
    }
    let at = path.child("handSize");
    if hand <= 0 {
        causes.invalid_int(&at, hand, "must be positive");
    } else if hand > queues {
        causes.invalid_int(&at, hand, &format!("should not be greater than queues ({queues})"));
    } else {
        let bits = entropy(queues, hand);
        if bits > 60 {
            let detail =
                format!("required entropy bits of deckSize {queues} and handSize {hand} should not be greater than 60");
            causes.invalid_int(&at, hand, &detail);
        }
    }
}

/// `shufflesharding.RequiredEntropyBits`: the bits of the number of ordered hands.
fn entropy(deck: i64, hand: i64) -> i64 {
    let bits: f64 = (0..hand.min(1000)).map(|i| ((deck - i) as f64).log2()).sum();
    bits.ceil() as i64
}

/// `printPriorityLevelConfiguration`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    let limited = spec.opt("limited");
    let queuing = limited.and_then(|l| l.field("limitResponse").opt("queuing"));
    let number = |from: Option<&Value>, key| from.map_or_else(|| Value::from(NONE), |v| Value::from(v.int(key)));
    cells![
        subject.name(),
        spec.text("type"),
        number(limited, "nominalConcurrencyShares"),
        number(queuing, "queues"),
        number(queuing, "handSize"),
        number(queuing, "queueLengthLimit"),
        subject.age(),
    ]
}
