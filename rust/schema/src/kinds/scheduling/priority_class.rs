//! Priority classes (`pkg/registry/scheduling/priorityclass/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{GenerationRule, Strategy};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    generation: GenerationRule::FIRST,
    default: |_, object, _| default(object),
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.unset("preemptionPolicy", "PreemptLowerPriority");
}

/// `ValidatePriorityClass`.
fn validate(object: &Value, causes: &mut Causes) {
    const HIGHEST: i64 = 1_000_000_000;
    let own = object.field("metadata").text("name");
    if own.starts_with("system-") {
        let known = matches!(
            (own, object.int("value"), object.flag("globalDefault")),
            ("system-node-critical", 2_000_001_000, false) | ("system-cluster-critical", 2_000_000_000, false)
        );
        if !known {
            let meta = Path::new("metadata");
            let detail = "priority class names with 'system-' prefix are reserved for system use only. error: it is not a system priority class";
            let detail = match own {
                "system-node-critical" | "system-cluster-critical" => format!(
                    "priority class names with 'system-' prefix are reserved for system use only. error: value of {own} PriorityClass must be {}",
                    if own == "system-node-critical" { 2_000_001_000 } else { 2_000_000_000 }
                ),
                _ => detail.replace("it is not", &format!("{own} is not")).replace("a system", "a known system"),
            };
            causes.forbidden(&meta.child("name"), &detail);
        }
    } else if object.int("value") > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        causes.forbidden(&Path::new("value"), &detail);
    }
    if let Some(policy) = object.opt("preemptionPolicy") {
        let at = Path::new("preemptionPolicy");
        causes.one_of_required(&at, policy.as_str().unwrap_or(""), &["PreemptLowerPriority", "Never"]);
    }
}

fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    if object.int("value") != old.int("value") {
        causes.forbidden(&Path::new("value"), "may not be changed in an update.");
    }
    if object.text("preemptionPolicy") != old.text("preemptionPolicy") {
        causes.invalid(&Path::new("preemptionPolicy"), object.field("preemptionPolicy"), IMMUTABLE);
    }
}

/// `printPriorityClass`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let class = subject.object;
    cells![
        subject.name(),
        class.int("value"),
        class.flag("globalDefault"),
        subject.age(),
        class.text("preemptionPolicy")
    ]
}
