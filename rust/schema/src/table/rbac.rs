//! Role bindings.

use hydrofoil_types::Value;

use super::subject::Subject;
use crate::read::Read;

/// `printRoleBinding` and `printClusterRoleBinding`, with subjects by kind as `SubjectsStrings` sorts them.
pub(super) fn binding(of: &Subject<'_>) -> Vec<Value> {
    let role = of.object.sub("roleRef");
    let subjects = |kind: &str, show: fn(&Value) -> String| {
        let list = of.object.list("subjects").iter().filter(|s| s.s("kind") == kind);
        list.map(show).collect::<Vec<_>>().join(", ")
    };
    let name = |s: &Value| s.s("name").to_owned();
    cells![
        of.name(),
        format!("{}/{}", role.s("kind"), role.s("name")),
        of.age(),
        subjects("User", name),
        subjects("Group", name),
        subjects("ServiceAccount", |s| format!("{}/{}", s.s("namespace"), s.s("name"))),
    ]
}
