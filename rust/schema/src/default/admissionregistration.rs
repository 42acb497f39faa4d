//! Webhooks and admission policies.

use hydrofoil_types::Value;

use crate::read::Write;

pub(super) fn validating(object: &mut Value) {
    object.each("webhooks", webhook);
}

pub(super) fn mutating(object: &mut Value) {
    object.each("webhooks", |hook| {
        webhook(hook);
        hook.unset("reinvocationPolicy", "Never");
    });
}

fn webhook(hook: &mut Value) {
    hook.unset("failurePolicy", "Fail");
    hook.unset("timeoutSeconds", 10);
    matching(hook);
    hook.each("rules", |rule| rule.unset("scope", "*"));
    hook.within("clientConfig", |c| c.within("service", |s| s.unset("port", 443)));
}

fn matching(holder: &mut Value) {
    holder.unset("matchPolicy", "Equivalent");
    holder.unset("namespaceSelector", Value::object());
    holder.unset("objectSelector", Value::object());
}

fn match_resources(resources: &mut Value) {
    matching(resources);
    for rules in ["resourceRules", "excludeResourceRules"] {
        resources.each(rules, |rule| rule.unset("scope", "*"));
    }
}

pub(super) fn policy(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("failurePolicy", "Fail");
    spec.within("matchConstraints", match_resources);
}

pub(super) fn binding(object: &mut Value) {
    object.within("spec", |spec| spec.within("matchResources", match_resources));
}
