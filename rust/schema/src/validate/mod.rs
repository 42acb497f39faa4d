//! Validation: the rules of `pkg/apis/<group>/validation` behind the strategies of each kind.

mod apps;
mod batch;
mod check;
mod core;
pub(crate) mod format;
mod meta;
mod pod;
mod resource;
mod selector;
mod workload;

use hydrofoil_types::{Causes, Value};

use crate::Request;

/// The causes for which the object may not be created.
pub fn create(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    match req.kind.key() {
        ("", "Pod") => pod::create(req.kind, object, &mut causes),
        ("apps", _) | ("", "ReplicationController") => apps::create(req, object, &mut causes),
        ("batch", "Job") => batch::create(req, object, &mut causes),
        ("batch", _) => batch::cron_create(req, object, &mut causes),
        _ => meta::create(req.kind, object, &mut causes),
    }
    causes
}

/// The causes for which the object may not be updated.
pub fn update(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    let Some(old) = req.old else { return causes };
    match req.kind.key() {
        ("", "Pod") => pod::update(req, object, old, &mut causes),
        ("apps", _) | ("", "ReplicationController") => apps::update(req, object, old, &mut causes),
        ("batch", "Job") => batch::update(req, object, old, &mut causes),
        ("batch", _) => batch::cron_update(req, object, old, &mut causes),
        _ => meta::update(req.kind, object, old, &mut causes),
    }
    causes
}
