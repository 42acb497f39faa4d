//! Kinds without a printer (apiserver `pkg/registry/rest/table.go`).

use hydrofoil_types::Value;

use super::{Subject, column};
use hydrofoil_types::read::Read;

/// `metav1.ObjectMeta{}.SwaggerDoc()["name"]`.
pub const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may \
     allow a client to request the generation of an appropriate name automatically. Name is primarily intended \
     for creation idempotence and configuration definition. Cannot be updated. More info: \
     https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// `metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]`.
pub const CREATED: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not \
     guaranteed to be set in happens-before order across separate operations. Clients may not set this value. \
     It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. \
     More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// Return the name and the time of creation.
pub fn columns() -> Vec<Value> {
    vec![column("Name", "string", "name", NAME, 0), column("Created At", "date", "", CREATED, 0)]
}

/// Print the name and the time of creation.
pub fn row(subject: &Subject<'_>) -> Vec<Value> {
    let created = match subject.object.field("metadata").text("creationTimestamp") {
        "" => "0001-01-01T00:00:00Z",
        time => time,
    };
    cells![subject.name(), created]
}
