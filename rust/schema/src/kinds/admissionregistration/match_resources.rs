//! The resources that a policy or a binding matches.

use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use super::rule;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::selector;
use hydrofoil_types::read::{Read, Write};

/// Fill optional fields.
pub(super) fn default(resources: &mut Value) {
    default_matching(resources);
    for rules in ["resourceRules", "excludeResourceRules"] {
        resources.each(rules, |rule| rule.unset("scope", "*"));
    }
}

/// Fill the fields that match objects, which webhooks have too.
pub(super) fn default_matching(holder: &mut Value) {
    holder.unset("matchPolicy", "Equivalent");
    holder.unset("namespaceSelector", Value::object());
    holder.unset("objectSelector", Value::object());
}

/// `validateMatchResources`.
pub(super) fn validate(resources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("matchPolicy");
    match resources.opt("matchPolicy") {
        None => causes.need(&at),
        Some(policy) => causes.one_of(&at, policy.as_str().unwrap_or(""), &["Equivalent", "Exact"]),
    }
    for key in ["namespaceSelector", "objectSelector"] {
        match resources.opt(key) {
            None => causes.need(&path.child(key)),
            Some(value) => selector::label_selector(value, &path.child(key), causes),
        }
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        let at = path.child(key);
        for (i, rule) in resources.list(key).iter().enumerate() {
            let at = at.index(i);
            rule::validate(rule, &at, causes);
            let names = rule.list("resourceNames");
            let names_at = at.child("resourceNames");
            let duplicates = Duplicates::of(names, Whole);
            for (j, one) in names.iter().enumerate() {
                let text = one.as_str().unwrap_or("");
                causes.format(&names_at.index(j), text, name::path_segment);
                if duplicates.is_repeat(j) {
                    causes.duplicate_str(&names_at.index(j), text);
                }
            }
        }
    }
}

/// Validate that rules match no deletion, as deleted objects cannot be mutated.
pub(super) fn validate_mutable(resources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("resourceRules");
    for rule in resources.list("resourceRules") {
        for operation in rule.list("operations").iter().filter_map(Value::as_str) {
            if !matches!(operation, "*" | "CREATE" | "UPDATE" | "CONNECT") {
                let known = ["*", "CONNECT", "CREATE", "UPDATE"];
                causes.unsupported(&at.child("operations"), operation, &known);
            }
        }
    }
}
