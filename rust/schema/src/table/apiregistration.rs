//! API services (kube-aggregator `pkg/registry/apiservice/etcd`).

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::condition;
use crate::read::Read;

/// `ConvertToTable`.
pub(super) fn api_service(of: &Subject<'_>) -> Vec<Value> {
    let service = of
        .spec()
        .opt("service")
        .map_or_else(|| "Local".to_owned(), |s| format!("{}/{}", s.s("namespace"), s.s("name")));
    let available = condition(of.status(), "Available").map_or_else(
        || "Unknown".to_owned(),
        |c| match (c.s("status"), c.s("reason")) {
            (status @ "True", _) | (status, "") => status.to_owned(),
            (status, reason) => format!("{status} ({reason})"),
        },
    );
    cells![of.name(), service, available, of.age()]
}
