//! Kinds of the group `rbac.authorization.k8s.io`.

mod binding;
mod cluster_role;
mod cluster_role_binding;
mod policy_rule;
mod role;
mod role_binding;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "ClusterRole" => &cluster_role::STRATEGY,
        "ClusterRoleBinding" => &cluster_role_binding::STRATEGY,
        "Role" => &role::STRATEGY,
        "RoleBinding" => &role_binding::STRATEGY,
        _ => return None,
    })
}
