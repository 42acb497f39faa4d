//! Validation: the rules of `pkg/apis/<group>/validation` behind the strategies of each kind.

use hydrofoil_types::{Causes, Value};

use crate::Request;
use crate::convert;
use crate::kind::{MetadataCheck, MetadataOrder, NameRule};
pub use crate::kinds::apiextensions::nonstructural;
use crate::kinds::core::service::cluster_ips;
use hydrofoil_rules::meta;
use hydrofoil_types::read::Read;

/// Return the causes for which the object may not be created.
pub fn create(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    let strategy = req.kind.strategy;
    let internal = convert::internal(req.kind, object);
    let object = internal.as_ref().unwrap_or(object);
    if strategy.metadata_order == MetadataOrder::First {
        meta::create(req.kind, object, &mut causes);
    }
    (strategy.validate)(req, object, &mut causes);
    if causes.is_empty() {
        if strategy.metadata_order == MetadataOrder::Last {
            meta::create(req.kind, object, &mut causes);
        } else if strategy.name_rule == NameRule::Declared {
            // Its own rules leave the prefix of a generated name alone.
            meta::common_create(req.kind, object, &mut causes);
        }
    }
    causes
}

/// Return the causes of invalid addresses of a service, which are validated before any are allocated.
pub fn cluster_ips(object: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::new();
    cluster_ips::rules(object.field("spec"), old.map(|o| o.field("spec")), &mut causes);
    causes
}

/// Return the causes for which the object may not be updated.
pub fn update(req: &Request<'_>, object: &Value) -> Causes {
    let mut causes = Causes::new();
    let Some(old) = req.old else { return causes };
    let strategy = req.kind.strategy;
    let (internal, before) = (convert::internal(req.kind, object), convert::internal(req.kind, old));
    let (object, old) = (internal.as_ref().unwrap_or(object), before.as_ref().unwrap_or(old));
    meta::common_update(req.kind, object, old, &mut causes);
    let checks = if req.subresource.is_empty() { strategy.metadata_on_update } else { strategy.metadata_on_status };
    for check in checks {
        match check {
            MetadataCheck::Object => meta::create(req.kind, object, &mut causes),
            MetadataCheck::Update => meta::update(req.kind, object, old, &mut causes),
        }
    }
    (strategy.validate_update)(req, object, old, &mut causes);
    causes
}
