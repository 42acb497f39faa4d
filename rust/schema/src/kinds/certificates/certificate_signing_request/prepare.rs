//! Preparation of `/status` and `/approval`.

use hydrofoil_types::{Lookup, SmolStr, Timestamp, Value};

use hydrofoil_types::read::{Read, Write};

/// `populateConditionTimestamps`: new conditions get the present time, kept ones the transition of before.
pub(super) fn status(object: &mut Value, old: &Value, now: Timestamp) {
    let now = now.rfc3339();
    let before =
        Lookup::of(old.field("status").list("conditions"), |b| [b.text("type"), b.text("status")].map(SmolStr::new));
    object.within("status", |status| {
        status.each("conditions", |condition| {
            condition.fill("lastUpdateTime", now.as_str());
            if condition.zero("lastTransitionTime") {
                let known = before
                    .first(&[condition.text("type"), condition.text("status")].map(SmolStr::new))
                    .map(|b| b.text("lastTransitionTime").to_owned())
                    .filter(|t| !t.is_empty());
                condition.put("lastTransitionTime", known.unwrap_or_else(|| now.clone()));
            }
        });
    });
}

/// `/approval` of a signing request: only conditions are set.
pub(super) fn approval(subresource: &str, object: &mut Value, old: &Value, now: Timestamp) {
    if subresource != "approval" {
        return;
    }
    let conditions = object.field("status").opt("conditions").cloned();
    object.copy_from(old, "spec");
    object.copy_from(old, "status");
    match conditions {
        Some(list) => object.make("status").put("conditions", list),
        None => object.within("status", |s| s.drop("conditions")),
    }
    status(object, old, now);
}
