//! Services (`pkg/registry/core/service/strategy.go`).

pub(crate) mod cluster_ips;
mod default;
pub(crate) mod prepare;
mod table;
mod validate;
mod warn;

use crate::kind::{NameRule, Strategy};
use hydrofoil_rules::address;

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Service,
    allow_create_on_update: true,
    returns_deleted_object: true,
    has_status: true,
    default: |_, object, _| default::service(object),
    prepare_create: |_, object, _| prepare::create(object),
    prepare_update: |_, object, old| prepare::update(object, old),
    validate: |_, object, causes| validate::rules(object, None, causes),
    validate_update: validate::update,
    warn_create: |_, object, out| warn::service(object, out),
    warn_status: |_, status, out| address::ingress(status, out),
    warn_update: |_, object, _, out| warn::service(object, out),
    row: Some(table::service),
    ..Strategy::DEFAULT
};
