//! The behaviour of each built-in kind: defaults, preparation, validation, warnings, tables, conversion.
//!
//! To add or change a rule of a kind, open `kinds/<group>/<kind>.rs`: its `STRATEGY` names each step that differs from
//! [`Strategy::DEFAULT`] and the function beside it that does it. A step that no kind had before is a new member of
//! [`Strategy`] with a default that does nothing, called where the steps of all kinds are taken (`default`, `prepare`,
//! `validate`, `warn`, `table`, `convert`). A new kind is a file with a `STRATEGY` and a line in `of` of its group.
//! Rules shared by kinds are in the crate `hydrofoil-rules`. The strategy is looked up once, when a [`Kind`] is made.

mod admissionregistration;
pub(crate) mod apiextensions;
mod apiregistration;
mod apps;
mod authentication;
mod authorization;
mod autoscaling;
mod batch;
mod certificates;
mod coordination;
pub(crate) mod core;
mod discovery;
mod events;
mod flowcontrol;
mod internal;
mod networking;
mod node;
mod policy;
mod rbac;
mod resource;
mod scheduling;
mod storage;
mod storagemigration;

use hydrofoil_types::Resource;

use crate::kind::{Kind, Strategy};
use hydrofoil_rules::Release;

/// The strategy of kinds without steps of their own.
static PLAIN: Strategy = Strategy::DEFAULT;

impl Kind {
    /// Return the kind of a built-in resource in a release.
    pub fn of(resource: &Resource, release: Release) -> Self {
        Self::with(resource, release, of(&resource.group, &resource.version, &resource.kind))
    }

    /// Return the kind of a custom resource, whose rules are in its definition.
    pub fn custom(resource: &Resource, release: Release) -> Self {
        Self::with(resource, release, &PLAIN)
    }

    fn with(resource: &Resource, release: Release, strategy: &'static Strategy) -> Self {
        Self {
            group: resource.group.clone(),
            version: resource.version.clone(),
            kind: resource.kind.clone(),
            plural: resource.plural.clone(),
            namespaced: resource.namespaced,
            release,
            strategy,
        }
    }
}

/// Return the strategy of a built-in kind.
pub(crate) fn of(group: &str, version: &str, kind: &str) -> &'static Strategy {
    let found = match group {
        "admissionregistration.k8s.io" => admissionregistration::of(version, kind),
        "apiextensions.k8s.io" => apiextensions::of(version, kind),
        "apiregistration.k8s.io" => apiregistration::of(kind),
        "apps" => apps::of(kind),
        "authentication.k8s.io" => authentication::of(kind),
        "authorization.k8s.io" => authorization::of(kind),
        "autoscaling" => autoscaling::of(version, kind),
        "batch" => batch::of(kind),
        "certificates.k8s.io" => certificates::of(kind),
        "coordination.k8s.io" => coordination::of(kind),
        "" => core::of(kind),
        "discovery.k8s.io" => discovery::of(kind),
        "events.k8s.io" => events::of(kind),
        "flowcontrol.apiserver.k8s.io" => flowcontrol::of(kind),
        "internal.apiserver.k8s.io" => internal::of(kind),
        "networking.k8s.io" => networking::of(kind),
        "node.k8s.io" => node::of(kind),
        "policy" => policy::of(kind),
        "rbac.authorization.k8s.io" => rbac::of(kind),
        "resource.k8s.io" => resource::of(version, kind),
        "scheduling.k8s.io" => scheduling::of(kind),
        "storage.k8s.io" => storage::of(kind),
        "storagemigration.k8s.io" => storagemigration::of(kind),
        _ => None,
    };
    found.unwrap_or(&PLAIN)
}
