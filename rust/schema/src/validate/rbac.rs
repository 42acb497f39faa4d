//! Roles and bindings (`pkg/apis/rbac/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::check::Check;
use super::format::name;
use super::selector;
use crate::Request;
use crate::read::{Read, same_field};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(crate) fn rules(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    match req.kind.kind.as_str() {
        "Role" => policy_rules(object, true, causes),
        "ClusterRole" => {
            policy_rules(object, false, causes);
            let Some(aggregation) = object.opt("aggregationRule") else { return };
            let path = Path::new("aggregationRule");
            let at = path.child("clusterRoleSelectors");
            let selectors = aggregation.list("clusterRoleSelectors");
            if selectors.is_empty() {
                causes.required(&at, "at least one clusterRoleSelector required if aggregationRule is non-nil");
            }
            for (i, one) in selectors.iter().enumerate() {
                let before = causes.len();
                selector::label_selector(one, &at.index(i), causes);
                if causes.len() > before {
                    // Upstream shows what it made of the selector: nothing.
                    causes.invalid(&at.index(i), &Value::Null, "invalid label selector.");
                }
            }
        }
        kind => binding(object, kind == "RoleBinding", causes),
    }
}

fn policy_rules(object: &Value, namespaced: bool, causes: &mut Causes) {
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
                causes.invalid(&at.child("nonResourceURLs"), rule.sub("nonResourceURLs"), detail);
            }
            let regular = ["apiGroups", "resources", "resourceNames"].iter().any(|k| !rule.list(k).is_empty());
            if regular {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                causes.invalid(&at.child("nonResourceURLs"), rule.sub("nonResourceURLs"), detail);
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

fn binding(object: &Value, namespaced: bool, causes: &mut Causes) {
    let (role, path) = (object.sub("roleRef"), Path::new("roleRef"));
    if role.s("apiGroup") != GROUP {
        causes.unsupported(&path.child("apiGroup"), role.s("apiGroup"), &[GROUP]);
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    causes.one_of(&path.child("kind"), role.s("kind"), kinds);
    if role.zero("name") {
        causes.need(&path.child("name"));
    } else {
        causes.format(&path.child("name"), role.s("name"), name::path_segment);
    }
    let path = Path::new("subjects");
    for (i, subject) in object.list("subjects").iter().enumerate() {
        let at = path.index(i);
        if subject.zero("name") {
            causes.need(&at.child("name"));
        }
        let group = subject.s("apiGroup");
        match subject.s("kind") {
            "ServiceAccount" => {
                if !subject.zero("name") {
                    causes.format(&at.child("name"), subject.s("name"), name::subdomain);
                }
                if !group.is_empty() {
                    causes.unsupported(&at.child("apiGroup"), group, &[""]);
                }
                if !namespaced && subject.zero("namespace") {
                    causes.need(&at.child("namespace"));
                }
            }
            "User" | "Group" => {
                if group != GROUP {
                    causes.unsupported(&at.child("apiGroup"), group, &[GROUP]);
                }
            }
            other => causes.unsupported(&at.child("kind"), other, &["ServiceAccount", "User", "Group"]),
        }
    }
}

/// What a binding refers to stays.
pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    rules(req, object, causes);
    if req.kind.kind.ends_with("Binding") && !same_field(object, old, "roleRef") {
        let role = object.sub("roleRef");
        let shown = hydrofoil_types::Map::from_unique(vec![
            ("APIGroup".into(), Value::from(role.s("apiGroup"))),
            ("Kind".into(), Value::from(role.s("kind"))),
            ("Name".into(), Value::from(role.s("name"))),
        ]);
        causes.invalid(&Path::new("roleRef"), &shown.into(), "cannot change roleRef");
    }
}
