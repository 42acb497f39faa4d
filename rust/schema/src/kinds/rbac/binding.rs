//! Rules shared by role bindings and cluster role bindings.

use hydrofoil_types::{Causes, Map, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write, same_field};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Fill the API groups of the role and the subjects.
pub(super) fn default(object: &mut Value) {
    object.make("roleRef").fill("apiGroup", GROUP);
    object.each("subjects", |subject| {
        // Service accounts are of the core group, whose name is empty.
        if matches!(subject.text("kind"), "User" | "Group") {
            subject.fill("apiGroup", GROUP);
        }
    });
}

/// `ValidateRoleBinding` and `ValidateClusterRoleBinding`.
pub(super) fn validate(object: &Value, namespaced: bool, causes: &mut Causes) {
    let (role, path) = (object.field("roleRef"), Path::new("roleRef"));
    if role.text("apiGroup") != GROUP {
        causes.unsupported(&path.child("apiGroup"), role.text("apiGroup"), &[GROUP]);
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    causes.one_of(&path.child("kind"), role.text("kind"), kinds);
    if role.zero("name") {
        causes.need(&path.child("name"));
    } else {
        causes.format(&path.child("name"), role.text("name"), name::path_segment);
    }
    let path = Path::new("subjects");
    for (i, subject) in object.list("subjects").iter().enumerate() {
        let at = path.index(i);
        if subject.zero("name") {
            causes.need(&at.child("name"));
        }
        let group = subject.text("apiGroup");
        match subject.text("kind") {
            "ServiceAccount" => {
                if !subject.zero("name") {
                    causes.format(&at.child("name"), subject.text("name"), name::subdomain);
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

/// `ValidateRoleBindingUpdate` and its twin: the role of a binding is immutable.
pub(super) fn validate_update(object: &Value, old: &Value, namespaced: bool, causes: &mut Causes) {
    validate(object, namespaced, causes);
    if !same_field(object, old, "roleRef") {
        let role = object.field("roleRef");
        let shown = Map::from_unique(vec![
            ("APIGroup".into(), Value::from(role.text("apiGroup"))),
            ("Kind".into(), Value::from(role.text("kind"))),
            ("Name".into(), Value::from(role.text("name"))),
        ]);
        causes.invalid(&Path::new("roleRef"), &shown.into(), "cannot change roleRef");
    }
}

/// `printRoleBinding` and `printClusterRoleBinding`, with subjects by kind as `SubjectsStrings` sorts them.
pub(super) fn row(subject: &Subject<'_>) -> Vec<Value> {
    let role = subject.object.field("roleRef");
    let subjects = |kind: &str, show: fn(&Value) -> String| {
        let list = subject.object.list("subjects").iter().filter(|s| s.text("kind") == kind);
        list.map(show).collect::<Vec<_>>().join(", ")
    };
    let name = |s: &Value| s.text("name").to_owned();
    cells![
        subject.name(),
        format!("{}/{}", role.text("kind"), role.text("name")),
        subject.age(),
        subjects("User", name),
        subjects("Group", name),
        subjects("ServiceAccount", |s| format!("{}/{}", s.text("namespace"), s.text("name"))),
    ]
}
