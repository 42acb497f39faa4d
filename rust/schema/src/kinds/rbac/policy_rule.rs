//! Policy rules of roles and cluster roles.

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_types::read::Read;

/// Validate the rules of a role (`ValidatePolicyRule`), whose object has a namespace or not.
pub(super) fn validate(object: &Value, namespaced: bool, causes: &mut Causes) {
    let path = Path::new("rules");
    for (i, rule) in object.list("rules").iter().enumerate() {
        let at = path.index(i);
        if rule.list("verbs").is_empty() {
            causes.required(&at.child("verbs"), "verbs must contain at least one value");
        }
        let urls = rule.list("nonResourceURLs");
        if !urls.is_empty() {
            if namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                causes.invalid(&at.child("nonResourceURLs"), rule.field("nonResourceURLs"), detail);
            }
            let regular = ["apiGroups", "resources", "resourceNames"].iter().any(|k| !rule.list(k).is_empty());
            if regular {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                causes.invalid(&at.child("nonResourceURLs"), rule.field("nonResourceURLs"), detail);
            }
            continue;
        }
        if rule.list("apiGroups").is_empty() {
            causes.required(&at.child("apiGroups"), "resource rules must supply at least one api group");
        }
        if rule.list("resources").is_empty() {
            causes.required(&at.child("resources"), "resource rules must supply at least one resource");
        }
    }
}
